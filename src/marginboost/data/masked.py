"""Masked arrays of NumPy: other functions read what lies behind the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_unmasked", "without_mask"]


def without_mask(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return an array with NaN where the given one is masked."""
    kind: Any = X.dtype
    if X.dtype.kind in "biu":
        kind = np.float64
    elif X.dtype.kind not in "fc":
        kind = object
    return np.ma.filled(X.astype(kind), np.nan)


def check_unmasked(values: Any, name: str, what: str) -> None:
    """Raise where a value is masked.

    Parameters
    ----------
    values : array-like
        One value per row.
    name : str
        Of the argument.
    what : str
        What it must hold.
    """
    if not np.ma.is_masked(values):
        return
    rows = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1))
    raise ValueError(
        f"{name} must hold {what} for every row; got a masked one at row {rows[0]} and "
        f"{len(rows) - 1:,} more. Leave those rows out."
    )
