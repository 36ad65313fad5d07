"""Hashes of rows that depend only on their classes and values.

So they do not depend on the order of the rows, nor on where they are stored. Copies of a row share a
hash; `marginboost.data.copies` distinguishes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.binning import BinnedMatrix
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.storage import HOST, Storage

if TYPE_CHECKING:
    from marginboost.data.category_codes import CategoryCodes

__all__ = ["HashTables", "class_hashes", "hash_tables", "row_hashes"]

Hashes = NDArray[np.uint64]


class HashTables(NamedTuple):
    """Random numbers whose sum, modulo 2**64, is the hash of a row.

    Attributes
    ----------
    of_class : uint64 array of n_classes
        One number per class.
    of_bin : uint64 array
        One number per bin, the bins of one feature after those of the other.
    begins : int64 array of n_features + 1
        Where the bins of each feature begin.
    """

    of_class: Hashes
    of_bin: Hashes
    begins: NDArray[np.int64]


def hash_tables(n_bins: NDArray[np.int32], n_classes: int, seed: int) -> HashTables:
    """Draw the numbers for features with these numbers of bins."""
    begins = np.concatenate(([0], np.cumsum(n_bins, dtype=np.int64)))
    numbers = np.random.default_rng(seed).integers(
        2**64, size=n_classes + begins[-1], dtype=np.uint64
    )
    return HashTables(numbers[:n_classes], numbers[n_classes:], begins)


def class_hashes(n_classes: int, seed: int) -> Hashes:
    """Return the part of the hashes that is due to the classes."""
    return hash_tables(np.zeros(0, dtype=np.int32), n_classes, seed).of_class


def row_hashes(
    binned: BinnedMatrix | SparseBinnedMatrix,
    class_offsets: NDArray[np.int64],
    seed: int,
    storage: Storage = HOST,
    categories: CategoryCodes | None = None,
    *,
    n_threads: int = 1,
) -> Hashes:
    """Hash rows that are grouped by class.

    Parameters
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        Dense or sparse: the same rows get the same hashes.
    class_offsets : int64 array of n_classes + 1
        Where the rows of each class begin.
    seed : int
        Seed of the random numbers.
    storage : Storage
        Where the bins are stored, and the hashes will be; sparse rows are on the host.
    categories : CategoryCodes or None
        The categories of dense rows. They are hashed instead of the bins that their orders give.
    n_threads : int
        Threads to hash dense rows of the host with. The result does not depend on it.

    Returns
    -------
    uint64 array of n_rows
    """
    n_values, columns = binned.n_bins, list(range(binned.n_features))
    if categories is not None:
        made = {column for ordered in categories.columns.ordered for column in ordered}
        columns = [column for column in columns if column not in made]
        n_codes = np.array(categories.columns.n_categories, dtype=np.int32) + 1
        n_values = np.concatenate([n_values[columns], n_codes])
    of_class, table, begins = tables = hash_tables(n_values, len(class_offsets) - 1, seed)
    plain = categories is None and isinstance(binned, BinnedMatrix)
    if storage.hash_rows is not None and plain:
        of_rows: Hashes = storage.hash_rows(binned.bins, class_offsets, tables)
        return of_rows
    hashes: Hashes
    if storage.xp is np and plain:
        hashes = _native.hash_rows(binned.bins, table, begins, of_class, class_offsets, n_threads)
        return hashes
    hashes = storage.xp.repeat(storage.put(of_class), np.diff(class_offsets).tolist())
    if isinstance(binned, SparseBinnedMatrix):
        usual = table[begins[:-1] + binned.zero_bin]
        hashes += usual.sum(dtype=np.uint64)
        feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
        differences = table[begins[feature] + binned.bins] - usual[feature]
        np.add.at(hashes, binned.rows, differences)
        return hashes
    table = storage.put(table)
    hashed = [binned.bins[column] for column in columns]
    if categories is not None:
        hashed += list(categories.codes)
    for f, values in enumerate(hashed):
        hashes += table[begins[f] : begins[f + 1]][values]
    return hashes
