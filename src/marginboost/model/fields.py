"""The fields of a fitted classifier: how each attribute is written to a file, read and checked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.archive import Archive
from marginboost.model.file_text import ModelFileError

__all__ = ["Field", "Integer", "Numbers", "Real", "Size", "Text"]


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """One attribute.

    Parameters
    ----------
    optional : bool
        Whether a fitted classifier may lack it.
    since : int
        The first format of files that may have it.
    """

    optional: bool = False
    since: int = 1

    @abstractmethod
    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add the attribute's value to an archive."""

    @abstractmethod
    def take(self, archive: Archive, name: str) -> Any:
        """Take the attribute's value out of an archive, and check it."""


@dataclass(frozen=True)
class Text(Field):
    """Text."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add it as an entry."""
        archive.entries[name] = str(value)

    def take(self, archive: Archive, name: str) -> str:
        """Take it out."""
        text: str = archive.take(name, str)
        return text


@dataclass(frozen=True)
class Integer(Field):
    """A non-negative integer."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add it as an entry."""
        archive.entries[name] = int(value)

    def take(self, archive: Archive, name: str) -> int:
        """Take it, and check its range."""
        number: int = archive.take(name, int)
        if not 0 <= number < 1 << 63:
            raise ModelFileError(f"{name} must be an integer from 0 to 2**63 - 1, got another.")
        return number


@dataclass(frozen=True)
class Real(Field):
    """A number above a bound; NaN if allowed, stored as None."""

    above: float = -math.inf
    nan: bool = False

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add it as an entry."""
        archive.entries[name] = None if self.nan and math.isnan(value) else float(value)

    def take(self, archive: Archive, name: str) -> float:
        """Take it, and check its range."""
        number: float | None = archive.take(name, float, *([type(None)] if self.nan else []))
        if number is None:
            return math.nan
        if not number > self.above:
            raise ModelFileError(f"{name} must be above {self.above:g}, got {number:g}.")
        return number


@dataclass(frozen=True)
class Numbers(Field):
    """An array of float64.

    Parameters
    ----------
    shape : str or int, each
        Sizes by name, which must be the same in all arrays.
    least : float
        The smallest allowed number.
    nan : bool
        Whether NaN and infinities are allowed.
    """

    shape: tuple[str | int, ...]
    least: float = -math.inf
    nan: bool = False

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add it as an array."""
        archive.arrays[name] = np.asarray(value, dtype=np.float64)

    def take(self, archive: Archive, name: str) -> NDArray[np.float64]:
        """Take it out, and check sizes and values."""
        array = archive.take_array(name, np.float64, self.shape)
        if not self.nan and not np.isfinite(array).all():
            raise ModelFileError(f"{name} must hold finite numbers, got inf or nan.")
        if (array < self.least).any():
            raise ModelFileError(f"{name} must hold numbers of at least {self.least:g}, got less.")
        return array


@dataclass(frozen=True)
class Size(Field):
    """A number that is derived from others; nothing is stored."""

    of: str

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add nothing."""

    def take(self, archive: Archive, name: str) -> int:
        """Return the size."""
        return archive.sizes[self.of]
