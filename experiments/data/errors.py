"""Errors with data."""

import textwrap


class MissingData(RuntimeError):  # noqa: N818 - it is missing, which is no error of anyone's
    """A data set was not found; the message says how to get it."""


class WrongData(ValueError):  # noqa: N818 - as above
    """A file does not hold the data set: it is corrupted, or belongs to another one."""


def reason(error: Exception) -> str:
    """Return an error in one line; those of the network are long."""
    return textwrap.shorten(f"{type(error).__name__}: {error}", 240)
