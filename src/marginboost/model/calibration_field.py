"""The field of the rows that prediction sets are calibrated on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.archive import Archive
from marginboost.model.calibration_rows import CalibrationRows
from marginboost.model.fields import Field, Numbers
from marginboost.model.file_text import ModelFileError

__all__ = ["CalibrationField", "Frequencies"]

_MOST_COPIES = 1 << 40


@dataclass(frozen=True)
class Frequencies(Numbers):
    """One number per class, 0 or more, which add up to 1."""

    shape: tuple[str | int, ...] = ("classes",)
    least: float = 0.0

    def take(self, archive: Archive, name: str) -> NDArray[np.float64]:
        """Take them out, and check their sum."""
        found = super().take(archive, name)
        if not abs(float(found.sum()) - 1.0) < 1e-6:
            raise ModelFileError(f"{name} must add up to 1, got {found.sum():g}.")
        return found


@dataclass(frozen=True)
class CalibrationField(Field):
    """Probabilities, counts, weights and copies; one weight, or number of copies, where all are equal."""

    def put(self, archive: Archive, name: str, value: Any) -> None:
        """Add the arrays."""
        archive.arrays[f"{name}.steps"] = value.steps
        archive.arrays[f"{name}.class_rows"] = value.class_rows
        archive.arrays[f"{name}.weight"] = _short(value.weight)
        archive.arrays[f"{name}.copies"] = _short(value.copies)

    def take(self, archive: Archive, name: str) -> CalibrationRows:
        """Take the arrays out, and check that they fit together."""
        steps = archive.take_array(f"{name}.steps", np.uint16, ("calibration rows", "classes"))
        counts = archive.take_array(f"{name}.class_rows", np.int64, ("classes",))
        n_rows = len(steps)
        if (counts < 0).any() or (counts > n_rows).any() or counts.sum() != n_rows or not n_rows:
            raise ModelFileError(f"{name}.class_rows must add up to its rows, at least one.")
        weight = _long(archive, f"{name}.weight", np.float64, n_rows)
        copies = _long(archive, f"{name}.copies", np.int64, n_rows)
        if not ((weight > 0.0) & (weight <= 1.0)).all():
            raise ModelFileError(f"{name}.weight must hold numbers above 0, at most 1, got others.")
        if (copies < 1).any() or (copies > _MOST_COPIES).any():
            raise ModelFileError(f"{name}.copies must hold numbers from 1 to 2**40, got others.")
        return CalibrationRows(steps, counts, weight, copies)


def _short(array: NDArray[Any]) -> NDArray[Any]:
    """Return one number where all are equal."""
    return array[:1] if len(array) and (array == array[0]).all() else array


def _long(archive: Archive, name: str, dtype: Any, n_rows: int) -> NDArray[Any]:
    """Take out one number per row, or the one that all rows have."""
    given = archive.arrays.get(name)
    one = given is not None and given.shape == (1,)
    array = archive.take_array(name, dtype, (1,) if one else ("calibration rows",))
    return np.repeat(array, n_rows) if one else array
