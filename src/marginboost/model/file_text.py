"""The text of a model file: JSON, read so strictly that it equals what was written."""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections import Counter
from typing import Any

__all__ = ["ModelFileError", "as_text", "from_text"]

# More than any model has. Without a bound, a small text could become large objects.
_MOST_DEPTH = 16
_MOST_CONTAINERS = 1 << 18

_BRACKETS_AND_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class ModelFileError(ValueError):
    """A file is damaged, is not a model, or was written by a newer version."""


def as_text(document: Any) -> str:
    """Write a document of dicts with text keys, lists, text, numbers, booleans and None.

    Parameters
    ----------
    document : object
        Its numbers must be finite; they are restored to the bit.

    Returns
    -------
    str
        JSON, of ASCII characters.
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    _check_size(text)
    return text


def from_text(text: str) -> Any:
    """Read a document.

    Parameters
    ----------
    text : str
        JSON without NaN, infinities, repeated keys or more than a few levels.

    Returns
    -------
    object
        As passed to `as_text`.

    Raises
    ------
    ModelFileError
        If the text is anything else.
    """
    _check_size(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its text must be JSON, got something else: {error}") from None


def _check_size(text: str) -> None:
    """Check depth and number of lists and objects before any is created."""
    depth = containers = 0
    for match in _BRACKETS_AND_STRINGS.finditer(text):
        bracket = text[match.start()]
        if bracket == '"':
            continue
        if bracket in "[{":
            depth += 1
            containers += 1
        else:
            depth -= 1
        if depth > _MOST_DEPTH or containers > _MOST_CONTAINERS:
            raise ModelFileError(
                f"its text must have at most {_MOST_DEPTH} levels and {_MOST_CONTAINERS:,} lists and "
                "objects, got more."
            )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise ModelFileError(f"names in an object must be unique, got {reprlib.repr(twice)} twice.")
    return found


def _no_constant(name: str) -> float:
    raise ModelFileError(f"numbers in its text must be finite, got {name}.")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ModelFileError(f"numbers in its text must be finite, got {reprlib.repr(digits)}.")
    return number
