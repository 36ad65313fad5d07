"""The bins of one feature for all rows, of dense and sparse matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.sparse_binning import SparseBinnedMatrix

__all__ = ["dense_bins"]


def dense_bins(binned: BinnedMatrix | SparseBinnedMatrix, feature: int) -> NDArray[np.uint16]:
    """Return the bins of a feature for all rows.

    Parameters
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        The matrix.
    feature : int
        Number of the feature, from 0.

    Returns
    -------
    uint16 array of n_rows
        A new array.
    """
    if not 0 <= feature < binned.n_features:
        raise IndexError(f"feature must be from 0 to {binned.n_features - 1}, got {feature}.")
    row = np.empty(binned.n_rows, dtype=np.uint16)
    if isinstance(binned, BinnedMatrix):
        row[:] = binned.bins[feature]
        return row
    row[:] = binned.zero_bin[feature]
    entries = slice(*binned.indptr[feature : feature + 2])
    row[binned.rows[entries]] = binned.bins[entries]
    return row
