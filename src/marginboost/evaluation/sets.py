"""How large prediction sets are, and how often they hold the right class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.data.classes import UNSEEN

__all__ = ["set_coverage", "set_sizes"]

Integers = NDArray[np.int64]


def set_sizes(sets: NDArray[np.bool_]) -> Integers:
    """Count the classes in each set.

    Parameters
    ----------
    sets : bool array of n x n_classes
        As `predict_set` returns them.

    Returns
    -------
    int64 array of n
    """
    return np.asarray(np.asarray(sets).sum(axis=1), dtype=np.int64)


def set_coverage(sets: NDArray[np.bool_], y: Integers) -> tuple[float, NDArray[np.float64]]:
    """Return how often sets hold the class of their row.

    Parameters
    ----------
    sets : bool array of n x n_classes
        As `predict_set` returns them.
    y : int64 array of n
        Class numbers; rows of classes that were not seen in training are not covered.

    Returns
    -------
    coverage : float
        Of all rows; NaN without rows.
    by_class : float64 array of n_classes
        Of the rows of each class; NaN where there are none.
    """
    sets = np.asarray(sets)
    known = np.flatnonzero(y != UNSEEN)
    labels = y[known]
    held = sets[known, labels].astype(np.float64)
    rows = np.bincount(labels, minlength=sets.shape[1])
    hits = np.bincount(labels, weights=held, minlength=sets.shape[1])
    by_class = np.full(sets.shape[1], np.nan)
    np.divide(hits, rows, out=by_class, where=rows > 0)
    return float(held.sum() / len(y)) if len(y) else float("nan"), by_class
