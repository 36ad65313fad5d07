"""A number for every row that depends on its values alone.

Rows chosen by such numbers are the same whatever the order of the rows, however often one is repeated
and wherever it lies.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.sparse_binning import SparseBinnedMatrix

__all__ = ["HashTables", "hash_bounds", "hash_tables", "row_hashes"]

Hashes = NDArray[np.uint64]


class HashTables(NamedTuple):
    """Random numbers that a row's hash is the sum of, modulo 2**64.

    Attributes
    ----------
    of_class : uint64 array of n_classes
        One for the row's class.
    of_bin : uint64 array
        One for its bin of each feature, the features' bins one after the other.
    begins : int64 array of n_features + 1
        Where they begin.
    """

    of_class: Hashes
    of_bin: Hashes
    begins: NDArray[np.int64]


def hash_tables(n_bins: NDArray[np.int32], n_classes: int, seed: int) -> HashTables:
    """Draw the numbers for features of so many bins."""
    begins = np.concatenate(([0], np.cumsum(n_bins, dtype=np.int64)))
    rng = np.random.default_rng(seed)
    of_class = rng.integers(2**64, size=n_classes, dtype=np.uint64)
    return HashTables(of_class, rng.integers(2**64, size=begins[-1], dtype=np.uint64), begins)


def row_hashes(
    binned: BinnedMatrix | SparseBinnedMatrix, class_offsets: NDArray[np.int64], seed: int
) -> Hashes:
    """Hash rows that are grouped by class.

    Parameters
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        Dense or sparse: the same rows get the same numbers.
    class_offsets : int64 array of n_classes + 1
        Where the rows of each class begin.
    seed : int
        Of the random numbers.

    Returns
    -------
    uint64 array of n_rows
    """
    of_class, table, begins = hash_tables(binned.n_bins, len(class_offsets) - 1, seed)
    hashes = np.repeat(of_class, np.diff(class_offsets))
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


def hash_bounds(
    hashes: Hashes,
    class_offsets: NDArray[np.int64],
    multiplicity: NDArray[np.int32] | None,
    share: float,
) -> Hashes:
    """Find a bound for each class, below which the hashes of about a share of its rows lie.

    Equal rows of a class have equal hashes and lie below it together or not at all, however they are
    given: repeated, or with an integer weight.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Grouped by class.
    class_offsets : int64 array of n_classes + 1
        Where the rows of each class begin.
    multiplicity : int32 array of n_rows or None
        How often each row counts; None: once.
    share : float
        Of the rows of every class, from 0 to below 1; no more than that lie below the bound.

    Returns
    -------
    uint64 array of n_classes
        0 where a class has no rows.
    """
    bounds = np.zeros(len(class_offsets) - 1, dtype=np.uint64)
    for label, (start, stop) in enumerate(pairwise(class_offsets.tolist())):
        if stop == start:
            continue
        order = np.argsort(hashes[start:stop], kind="stable")
        ordered = hashes[start:stop][order]
        copies = 1 if multiplicity is None else multiplicity[start:stop][order]
        counts = np.cumsum(np.broadcast_to(copies, stop - start))
        # The first of the rows that would be one too many, and with it all that are equal to it.
        bounds[label] = ordered[np.searchsorted(counts, share * counts[-1], side="right")]
    return bounds
