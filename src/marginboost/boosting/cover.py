"""Some of the training rows: how many of them reach each leaf, and what importances are means over."""

from __future__ import annotations

from math import ceil, frexp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.row_view import RowView

if TYPE_CHECKING:
    from marginboost.data.rows import Rows

__all__ = ["IMPORTANCE_ROWS", "cover_rows", "thinned"]

# Training rows that the covers of leaves are counted on: a tenth is known to half a percent.
COVER_ROWS = 4096
# With very many trees fewer rows will do: this many walks down a tree are done.
COVER_WALKS = 1 << 22
FEWEST_ROWS = 256
# Training rows that the importances of features are means over.
IMPORTANCE_ROWS = 256


def cover_rows(data: Rows, n_trees: int, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """Return some training rows, as many as trees of a model are covered by, and their weights.

    The rows are chosen by their hashes, so they are the same on every engine, in any order.

    Parameters
    ----------
    data : Rows
        The training rows.
    n_trees : int
        Trees of the model.
    seed : int
        Of the hashes: the fit's own where it hashes its rows, since a `Rows` keeps those of one seed.

    Returns
    -------
    X : array or SciPy sparse matrix
        Ordered columns.
    weight : float64 array
        Whole numbers, if all weights of the fit are; else at most 1.
    """
    n_rows = min(COVER_ROWS, max(FEWEST_ROWS, COVER_WALKS // max(1, n_trees)))
    share = n_rows / data.n_counted
    while True:
        # All classes alike. Of few rows all may be missed.
        bound = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        view = RowView(seed, np.full(data.n_classes, bound, dtype=np.uint64))
        rows = data.sample_rows(view)
        if len(rows.weight) or share >= 1.0:
            # Weights have no scale of their own, but for those that count rows.
            largest = data.largest_weight
            scale = 0 if largest is None else -frexp(largest)[1]
            return rows.X, np.ldexp(rows.row_weight(), scale)
        share *= 8.0


def thinned(weight: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Choose about this many of some rows, evenly by weight.

    Parameters
    ----------
    weight : float64 array
        Weights of rows, equal rows one after the other.
    n : int
        How many to choose, each copy of a row on its own.

    Returns
    -------
    float64 array of whole numbers
        How often each row is chosen: as often as all its copies together would be.
    """
    ends = np.cumsum(weight)
    total = float(ends[-1]) if len(ends) else 0.0
    if not total > 0.0:
        return np.zeros_like(weight)
    # A step of a whole number chooses no row twice; all of them, where there are few.
    step = ceil(total / n) if (weight == np.floor(weight)).all() else total / n
    return np.diff(np.floor(ends / step), prepend=0.0)
