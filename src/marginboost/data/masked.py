"""Masked arrays of NumPy: other functions read what lies behind the mask."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_no_mask", "without_mask"]


def without_mask(X: Any) -> Any:
    """Return a masked array as an array, with NaN where it is masked; anything else unchanged."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind in "biu":
        X = X.astype(np.float64)
    elif X.dtype.kind not in "fc":
        X = X.astype(object)
    return X.filled(np.nan)


def check_no_mask(values: Any, name: str, what: str) -> None:
    """Raise where one of the values is masked.

    Parameters
    ----------
    values : object
        Of any kind.
    name : str
        Of the argument.
    what : str
        What it must hold.
    """
    if np.ma.is_masked(values):
        rows = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1))
        raise ValueError(
            f"{name} must hold {what} for every row; got a masked one at row {rows[0]} and "
            f"{len(rows) - 1:,} more. Leave those rows out."
        )
