"""What can be wrong with data."""

import textwrap


class MissingData(RuntimeError):  # noqa: N818 - it is missing, which is no error of anyone's
    """A set is in none of the places where it could be; the message says how to get it."""


class WrongData(ValueError):  # noqa: N818 - as above
    """A file is there and does not hold the set: it is damaged, or of another one."""


def reason(error: Exception) -> str:
    """Return what went wrong, in a line; those of the network are long-winded."""
    return textwrap.shorten(f"{type(error).__name__}: {error}", 240)
