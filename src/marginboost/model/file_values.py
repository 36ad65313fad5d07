"""Convert parameter values to JSON, and back."""

from __future__ import annotations

import math
import reprlib
from typing import Any

import numpy as np

from marginboost.model.file_text import ModelFileError

__all__ = ["from_plain", "to_plain"]

_SCALARS = (str, bool, int, float, type(None))
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:  # noqa: PLR0911 - one per type
    """Convert a value to JSON types.

    JSON has text, numbers, booleans, None and lists. Any other value becomes an object with one entry
    that names its type. NumPy numbers become Python numbers, and arrays become lists.

    Parameters
    ----------
    value : object
        Made of these types, and of dicts, tuples and sets.

    Returns
    -------
    object
        For `from_plain`.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(float(value))}
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if isinstance(value, tuple | set | frozenset):
        items = [to_plain(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": items}
        return {"set": sorted(items, key=lambda item: (type(item).__name__, item))}
    if isinstance(value, dict):
        return {"dict": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    raise ValueError(
        "A saved parameter must be text, a number, a boolean, None, or a list, tuple, set or dict "
        f"of these, got {reprlib.repr(value)}."
    )


def from_plain(plain: Any) -> Any:
    """Read a value that `to_plain` wrote.

    Parameters
    ----------
    plain : object
        Made of JSON types.

    Returns
    -------
    object

    Raises
    ------
    ModelFileError
        If `to_plain` cannot have written it.
    """
    if isinstance(plain, _SCALARS):
        return plain
    if isinstance(plain, list):
        return [from_plain(item) for item in plain]
    ((kind, content),) = plain.items() if len(plain) == 1 else ((None, None),)
    if kind == "float" and isinstance(content, str) and content in _NOT_FINITE:
        return _NOT_FINITE[content]
    if kind == "tuple" and isinstance(content, list):
        return tuple(map(from_plain, content))
    if kind == "set" and isinstance(content, list) and _are_scalars(content):
        members = set(content)
        if len(members) == len(content):
            return members
    if kind == "dict" and isinstance(content, list) and all(map(_is_pair, content)):
        pairs = [(from_plain(key), from_plain(item)) for key, item in content]
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
    raise ModelFileError(f"a value must be of a known type, got {reprlib.repr(plain)}.")


def _are_scalars(items: list[Any]) -> bool:
    return all(isinstance(item, _SCALARS) for item in items)


def _is_pair(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and _is_key(item[0])


def _is_key(item: Any) -> bool:
    if isinstance(item, dict) and list(item) == ["tuple"]:
        return isinstance(item["tuple"], list) and _are_scalars(item["tuple"])
    return isinstance(item, _SCALARS)
