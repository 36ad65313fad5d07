"""Some of the training rows, and how many of them reach each leaf."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.row_view import RowView
from marginboost.model.cover import leaf_cover

if TYPE_CHECKING:
    from marginboost.data.rows import Rows
    from marginboost.model.ensemble import Ensemble

__all__ = ["cover", "some_rows"]

# Training rows that the covers of leaves are counted on: a tenth is known to half a percent.
COVER_ROWS = 4096
# With very many trees fewer rows will do: this many walks down a tree are done.
COVER_WALKS = 1 << 22
FEWEST_ROWS = 256
# Training rows that importances are computed on.
IMPORTANCE_ROWS = 512


def cover(ensemble: Ensemble, data: Rows, seed: int, n_threads: int) -> Ensemble:
    """Count how many of some training rows reach each leaf.

    The rows are chosen by their hashes, so they are the same on every engine, in any order.

    Parameters
    ----------
    ensemble : Ensemble
        The model.
    data : Rows
        Its training rows.
    seed : int
        Of the hashes: the fit's own where it hashes its rows, since a `Rows` keeps those of one seed.
    n_threads : int
        Threads to use.

    Returns
    -------
    Ensemble
        With its cover.
    """
    n_rows = min(COVER_ROWS, max(FEWEST_ROWS, COVER_WALKS // max(1, ensemble.n_trees)))
    X, weight = some_rows(data, seed, n_rows)
    return ensemble.with_cover(leaf_cover(ensemble, X, weight, n_threads=n_threads))


def some_rows(
    data: Rows, seed: int, n_rows: int = IMPORTANCE_ROWS
) -> tuple[Any, NDArray[np.float64]]:
    """Return about this many training rows, and their weights."""
    share = n_rows / data.n_counted
    while True:
        # All classes alike. Of few rows all may be missed.
        bound = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        view = RowView(seed, np.full(data.n_classes, bound, dtype=np.uint64))
        rows = data.sample_rows(view)
        if len(rows.weight) or share >= 1.0:
            # Weights have no scale of their own, but for those that count rows.
            largest = data.largest_weight
            weight = rows.row_weight()
            if largest is not None:
                weight = np.ldexp(weight, -frexp(largest)[1])
            return rows.X, weight
        share *= 8.0
