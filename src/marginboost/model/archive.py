"""The content of a model file by name: each entry is put there once, and taken out once."""

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
        Made of what JSON has.
    arrays : dict from str to ndarray
        Of numbers.

    Attributes
    ----------
    entries, arrays : dict
        As given, less what was taken.
    sizes : dict from str to int
        Sizes that arrays must agree on, by name. The first one that has a size sets it.
    taken : dict from str to object
        What was made of the entries and arrays so far.
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
        """Take an entry out, which must be of one of these types."""
        if name not in self.entries:
            raise ModelFileError(f"it must have {name}, got none.")
        entry = self.entries.pop(name)
        if type(entry) not in kinds:
            words = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFileError(f"{name} must be of type {words}, got {reprlib.repr(entry)}.")
        return entry

    def take_array(self, name: str, dtype: DTypeLike, shape: tuple[str | int, ...]) -> NDArray[Any]:
        """Take an array out, which must have this type, and as many entries as `sizes` say."""
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
        """Check a size of a named thing against a number, or against what was so called before."""
        must = self.sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
        if size != must:
            of = f" {wanted}" if isinstance(wanted, str) else ""
            raise ModelFileError(f"{name} must have entries for {must:,}{of}, got {size:,}.")

    def check_empty(self) -> None:
        """Raise if something is left, which nobody knows."""
        left = sorted({*self.entries, *self.arrays})
        if left:
            raise ModelFileError(f"it must have nothing unknown, got {reprlib.repr(left)}.")
