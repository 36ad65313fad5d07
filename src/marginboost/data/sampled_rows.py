"""A sample of rows on the host, each value replaced by a number of the same bin."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, frexp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.binning import BinnedMatrix
from marginboost.data.copies import merged
from marginboost.data.row_view import RowView
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.thresholds import Thresholds

if TYPE_CHECKING:
    from marginboost.data.rows import Rows

__all__ = ["SampledRows", "draw_rows", "representatives", "thinned", "values_of"]

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
    places = cuts.offsets + np.arange(len(cuts.offsets))  # one more bin than thresholds
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


def values_of(binned: BinnedMatrix | SparseBinnedMatrix) -> Any:
    """Return the rows of a binned matrix on the host, in the form of `SampledRows.X`."""
    tables = representatives(binned.thresholds)
    if isinstance(binned, SparseBinnedMatrix):
        feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
        values = tables.values[tables.offsets[feature] + binned.bins]
        shape = binned.n_rows, binned.n_features
        return sparse.coo_array((values, (binned.rows, feature)), shape=shape).tocsr()
    values = np.empty((binned.bins.shape[1], binned.n_features))
    for column, begin in enumerate(tables.offsets[:-1].tolist()):
        values[:, column] = tables.values[begin + binned.bins[column].astype(np.intp)]
    return values


def draw_rows(data: Rows, n_rows: int, seed: int) -> tuple[Any, Floats]:
    """Return about this many training rows, or all of them, and their weights.

    The rows are chosen by their hashes, so they are the same on every engine, in any order.

    Parameters
    ----------
    data : Rows
        The training rows.
    n_rows : int
        How many rows.
    seed : int
        Of the hashes: the fit's own where it hashes its rows, since a `Rows` keeps those of one seed.

    Returns
    -------
    X : array or SciPy sparse matrix
        Ordered columns.
    weight : float64 array
        Whole numbers, if all weights of the fit are; else at most 1.
    """
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


def thinned(weight: Floats, n: int) -> Floats:
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
