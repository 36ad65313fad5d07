"""A sample of rows on the host, each value replaced by a number of the same bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.binning import BinnedMatrix
from marginboost.data.copies import merged
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.thresholds import Thresholds

__all__ = ["SampledRows", "representatives", "values_of"]

Floats = NDArray[np.float64]


class SampledRows(NamedTuple):
    """Rows of a fit that are chosen by hash, in an order that does not depend on where they are stored.

    Equal rows of one class and weight appear once.

    Attributes
    ----------
    X : float64 array or SciPy CSR array of rows x features
        A number of the same bin for each value, so that trees of the fit treat it alike. Sparse
        if the rows are.
    labels : int64 array
        Class number of each.
    weight : float64 array
        Weight of a copy of each.
    copies : int64 array
        How many copies of each.
    hashes : uint64 array
        Hash of each one's content.
    """

    X: Any
    labels: NDArray[np.int64]
    weight: Floats
    copies: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    def in_order(self) -> SampledRows:
        """Sort and merge the rows; rows of one class with equal hashes are equal."""
        X, labels, weight, copies, hashes = self
        rows, copies = merged(labels, hashes, weight, copies)
        return SampledRows(X[rows], labels[rows], weight[rows], copies, hashes[rows])

    def row_weight(self) -> Floats:
        """Return the total weight of each row's copies."""
        return self.weight * self.copies


def representatives(thresholds: Sequence[Floats]) -> Thresholds:
    """Return a number from each bin of each feature, as a sequence with one array per feature.

    In the bin of 0 it is 0, so that sparse rows stay sparse. In other bins it is the bin's threshold,
    which is its largest number, and in the last bin the next number after all thresholds.
    """
    cuts = Thresholds.of(thresholds)
    begins, ends = cuts.offsets[:-1], cuts.offsets[1:]
    places = cuts.offsets + np.arange(len(cuts) + 1)  # one more bin than thresholds
    values = np.zeros(int(places[-1]))
    is_last = np.zeros(len(values), dtype=bool)
    is_last[places[1:] - 1] = True
    values[~is_last] = cuts.values
    some = np.flatnonzero(ends > begins)
    with np.errstate(over="ignore"):  # after the largest number comes infinity
        values[places[some + 1] - 1] = np.nextafter(cuts.values[ends[some] - 1], np.inf)
    # The thresholds below 0 come first, so their number is the bin of 0.
    below = np.concatenate(([0], np.cumsum(cuts.values < 0.0)))
    values[places[:-1] + below[ends] - below[begins]] = 0.0
    return Thresholds(values, places)


def values_of(binned: BinnedMatrix | SparseBinnedMatrix, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a binned matrix on the host, in the form of `SampledRows.X`."""
    tables = representatives(binned.thresholds)
    if isinstance(binned, SparseBinnedMatrix):
        return _sparse_values(binned, rows, tables)
    values = np.empty((len(rows), binned.n_features))
    for feature, table in enumerate(tables):
        values[:, feature] = table[binned.bins[feature][rows]]
    return values


def _sparse_values(binned: SparseBinnedMatrix, rows: NDArray[np.int64], tables: Thresholds) -> Any:
    place = np.full(binned.n_rows, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    kept = np.flatnonzero(place[binned.rows] >= 0)
    feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))[kept]
    values = tables.values[tables.offsets[feature] + binned.bins[kept]]
    shape = len(rows), binned.n_features
    return sparse.coo_array((values, (place[binned.rows[kept]], feature)), shape=shape).tocsr()
