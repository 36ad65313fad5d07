"""The fields of a fitted classifier: how each attribute goes into a file, and comes back checked."""

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
        Whether a fitted classifier may be without it.
    """

    optional: bool = False

    @abstractmethod
    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put the attribute's value on a archive."""

    @abstractmethod
    def take(self, archive: Archive, name: str) -> Any:
        """Take it from a archive, and check it."""


@dataclass(frozen=True)
class Text(Field):
    """Words."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put it as an entry."""
        archive.entries[name] = str(value)

    def take(self, archive: Archive, name: str) -> str:
        """Take it as it is."""
        text: str = archive.take(name, str)
        return text


@dataclass(frozen=True)
class Integer(Field):
    """A whole number, zero or more."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put it as an entry."""
        archive.entries[name] = int(value)

    def take(self, archive: Archive, name: str) -> int:
        """Take it, and check its range."""
        number: int = archive.take(name, int)
        if not 0 <= number < 1 << 63:
            raise ModelFileError(f"{name} must be a whole number, zero or more, got another.")
        return number


@dataclass(frozen=True)
class Real(Field):
    """A number above another one; NaN where it may be, which a file says as None."""

    above: float = -math.inf
    nan: bool = False

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put it as an entry."""
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
        Sizes by name, on which arrays must agree.
    least : float
        The least number it may hold.
    nan : bool
        Whether it may hold NaN, and infinities.
    """

    shape: tuple[str | int, ...]
    least: float = -math.inf
    nan: bool = False

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put it as an array."""
        archive.arrays[name] = np.asarray(value, dtype=np.float64)

    def take(self, archive: Archive, name: str) -> NDArray[np.float64]:
        """Take it, and check sizes and values."""
        array = archive.take_array(name, np.float64, self.shape)
        if not self.nan and not np.isfinite(array).all():
            raise ModelFileError(f"{name} must hold finite numbers, got inf or nan.")
        if (array < self.least).any():
            raise ModelFileError(f"{name} must hold numbers from {self.least:g} on, got less.")
        return array


@dataclass(frozen=True)
class Size(Field):
    """A number that follows from others: nothing is put anywhere."""

    of: str

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Put nothing."""

    def take(self, archive: Archive, name: str) -> int:
        """Find the size."""
        return archive.sizes[self.of]
