"""A number for every row that depends on its values alone.

Rows chosen by such numbers are the same whatever the order of the rows, however often one is repeated
and wherever it lies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.training_set import TrainingSet

__all__ = ["row_hashes"]


def row_hashes(data: TrainingSet, seed: int) -> NDArray[np.uint64]:
    """Add up a random number for the class and for each feature and bin of a row, modulo 2**64.

    Parameters
    ----------
    data : TrainingSet
        Dense or sparse: the same rows get the same numbers.
    seed : int
        Of the random numbers.

    Returns
    -------
    uint64 array of n_rows
    """
    binned = data.binned
    begins = np.concatenate(([0], np.cumsum(binned.n_bins, dtype=np.int64)))
    rng = np.random.default_rng(seed)
    of_class = rng.integers(2**64, size=data.n_classes, dtype=np.uint64)
    hashes = np.repeat(of_class, np.diff(data.class_offsets))
    table = rng.integers(2**64, size=begins[-1], dtype=np.uint64)
    if isinstance(binned, SparseBinnedMatrix):
        usual = table[begins[:-1] + binned.zero_bin]
        hashes += usual.sum(dtype=np.uint64)
        feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
        differences = table[begins[feature] + binned.bins] - usual[feature]
        np.add.at(hashes, binned.rows, differences)
        return hashes
    for f, begin in enumerate(begins[:-1].tolist()):
        hashes += table[begin : begins[f + 1]][binned.bins[f]]
    return hashes
