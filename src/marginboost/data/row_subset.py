"""Some rows of a binned matrix, with the thresholds of all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.sparse_binning import SparseBinnedMatrix

__all__ = ["take_rows"]


def take_rows(
    binned: BinnedMatrix | SparseBinnedMatrix, rows: NDArray[np.int64], xp: Any = np
) -> BinnedMatrix | SparseBinnedMatrix:
    """Copy some rows, in ascending order, of a binned matrix; `xp` is the module of its arrays."""
    if isinstance(binned, BinnedMatrix):
        bins: Any = xp.ascontiguousarray(binned.bins[:, rows])
        return replace(binned, bins=bins)
    place = np.full(binned.n_rows, -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    kept = place[binned.rows] >= 0
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    return replace(
        binned,
        indptr=before[binned.indptr],
        rows=place[binned.rows[kept]],
        bins=binned.bins[kept],
        n_rows=len(rows),
    )
