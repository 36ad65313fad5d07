"""The content of a model file by name: each entry is added once, and taken out once."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from marginboost.model.file_text import ModelFileError

__all__ = ["Archive"]


class Archive:
    """Entries of a document, and arrays.

    Parameters
    ----------
    entries : dict from str to object
        Made of JSON types.
    arrays : dict from str to ndarray
        Arrays of numbers.

    Attributes
    ----------
    entries, arrays : dict
        As passed, without what was taken out.
    sizes : dict from str to int
        Sizes that arrays must agree on, by name. The first array with a size sets it.
    taken : dict from str to object
        The attributes read so far.
    """

    __slots__ = ("arrays", "entries", "sizes", "taken")

    def __init__(self, entries: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.entries = entries
        self.arrays = arrays
        self.sizes: dict[str, int] = {}
        self.taken: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.entries or any(
            found == name or found.startswith(f"{name}.") for found in self.arrays
        )

    def take(self, name: str, *kinds: type) -> Any:
        """Take out an entry, which must be of one of these types."""
        if name not in self.entries:
            raise ModelFileError(f"it must have {name}, got none.")
        entry = self.entries.pop(name)
        if type(entry) not in kinds:
            words = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFileError(f"{name} must be of type {words}, got {reprlib.repr(entry)}.")
        return entry

    def take_array(self, name: str, dtype: DTypeLike, shape: tuple[str | int, ...]) -> NDArray[Any]:
        """Take out an array, which must have this type, and sizes that agree with `sizes`."""
        if name not in self.arrays:
            raise ModelFileError(f"it must have an array {name}, got none.")
        array = self.arrays.pop(name)
        if array.dtype != dtype or array.ndim != len(shape):
            raise ModelFileError(
                f"{name} must be an array of {np.dtype(dtype)} with {len(shape)} dimensions, got "
                f"{array.dtype} with {array.ndim}."
            )
        for size, wanted in zip(array.shape, shape, strict=True):
            self.agree(name, size, wanted)
        return array

    def agree(self, name: str, size: int, wanted: str | int) -> None:
        """Check a size against a number, or against an earlier size of that name."""
        must = self.sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
        if size != must:
            of = f" {wanted}" if isinstance(wanted, str) else ""
            raise ModelFileError(f"{name} must have entries for {must:,}{of}, got {size:,}.")

    def check_empty(self) -> None:
        """Raise if entries or arrays are left, which are unknown."""
        left = sorted({*self.entries, *self.arrays})
        if left:
            raise ModelFileError(f"it must have no unknown entries, got {reprlib.repr(left)}.")
