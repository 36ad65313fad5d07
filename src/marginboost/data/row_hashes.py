"""A number for every row that depends on its values alone.

Rows chosen by such numbers are the same whatever the order of the rows, however often one is repeated
and wherever it lies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.sparse_binning import SparseBinnedMatrix

__all__ = ["row_hashes"]


def row_hashes(binned: BinnedMatrix | SparseBinnedMatrix, seed: int) -> NDArray[np.uint64]:
    """Add up a random number for each feature and bin of a row, modulo 2**64.

    Parameters
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        Both kinds give the same numbers for the same bins.
    seed : int
        Of the random numbers.

    Returns
    -------
    uint64 array of n_rows
    """
    begins = np.concatenate(([0], np.cumsum(binned.n_bins, dtype=np.int64)))
    table = np.random.default_rng(seed).integers(2**64, size=begins[-1], dtype=np.uint64)
    if isinstance(binned, SparseBinnedMatrix):
        usual = table[begins[:-1] + binned.zero_bin]
        hashes = np.full(binned.n_rows, usual.sum(dtype=np.uint64), dtype=np.uint64)
        feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
        differences = table[begins[feature] + binned.bins] - usual[feature]
        np.add.at(hashes, binned.rows, differences)
        return hashes
    hashes = np.zeros(binned.n_rows, dtype=np.uint64)
    for f, begin in enumerate(begins[:-1].tolist()):
        hashes += table[begin : begins[f + 1]][binned.bins[f]]
    return hashes
