"""Bin rows in files, a few columns at a time: their values are gone before the next ones are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.binning import (
    BinnedMatrix,
    bin_by_thresholds,
    find_thresholds,
    warn_of_capped_columns,
)
from marginboost.data.category_codes import CategoryCodes, CategoryColumns
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import Asked, Columns
from marginboost.data.stored_columns import read_columns
from marginboost.data.stored_rows import StoredRows

__all__ = ["Labelled", "bin_stored"]

# Values that are read at once: columns of few rows together, those of many one per thread.
_SMALL_BYTES = 1 << 28
_MOST_BYTES = 1 << 30


class Labelled(NamedTuple):
    """What is known of all rows before their features are read.

    Attributes
    ----------
    codes : integer array
        Class number of each row.
    n_classes : int
        Number of classes.
    times : array or None
        How often each row counts, possibly 0 times; None for once.
    order : int64 array
        The rows that count, grouped by class.
    multiplicity : int32 array or None
        How often those count; None for once.
    """

    codes: NDArray[Any]
    n_classes: int
    times: NDArray[Any] | None
    order: NDArray[np.int64]
    multiplicity: NDArray[np.int32] | None


class _Binned(NamedTuple):
    """One column of X: its statistics, and its ordered columns."""

    facts: ColumnFacts
    matrix: BinnedMatrix
    n_capped: int
    medians: NDArray[np.float64]
    codes: NDArray[Any] | None  # categories of the rows that count


@dataclass(slots=True)
class _Bins:
    """A matrix of bins that grows in place, one feature after the other."""

    bins: NDArray[Any]

    def append(self, more: NDArray[Any]) -> None:
        """Add features."""
        if more.dtype.itemsize > self.bins.dtype.itemsize:
            self.bins = self.bins.astype(more.dtype)
        used = len(self.bins)
        # Large blocks are moved by the system's page tables, where it can: nothing is there twice.
        self.bins.resize((used + len(more), self.bins.shape[1]), refcheck=False)
        self.bins[used:] = more


def bin_stored(
    rows: StoredRows,
    names: Sequence[str],
    asked: Asked,
    labelled: Labelled,
    *,
    max_bins: int | None,
    shares: bool,
    n_threads: int,
    progress: Callable[[int], None],
) -> tuple[BinnedMatrix, ColumnFacts, CategoryCodes | None]:
    """Encode and bin the features, as is done with rows in memory.

    Parameters
    ----------
    rows : StoredRows
        The rows.
    names : sequence of str
        The features.
    asked : callable
        Which of them hold categories.
    labelled : Labelled
        Classes and weights of the rows.
    max_bins : int or None
        As `bin_matrix` takes it.
    shares : bool
        As `ColumnFacts.many` takes it.
    n_threads : int
        Threads to use. The result does not depend on it.
    progress : callable
        Gets the number of features that are done.

    Returns
    -------
    BinnedMatrix
        The ordered columns of all features.
    ColumnFacts
        What the encoding is made from.
    CategoryCodes or None
        The categories of the rows that count, in their order; None if no column holds categories.
    """
    column_bytes = 8 * max(rows.n_rows, 1)
    at_once = max(1, min(n_threads, _MOST_BYTES // column_bytes), _SMALL_BYTES // column_bytes)
    bins = _Bins(np.empty((0, len(labelled.order)), dtype=np.uint8))
    found: list[_Binned] = []
    with ThreadPoolExecutor(n_threads) as threads:
        for first in range(0, len(names), at_once):
            places = range(first, min(first + at_once, len(names)))
            columns = read_columns(rows, names, places, asked)
            work = [
                threads.submit(_bin, columns, n, labelled, max_bins, shares)
                for n in range(len(places))
            ]
            for task in work:
                of_column = task.result()
                bins.append(of_column.matrix.bins)
                found.append(of_column._replace(matrix=_without_bins(of_column.matrix)))
            del columns, work, task, of_column
            _native.return_free_memory()
            progress(places.stop)
    n_capped = sum(of_column.n_capped for of_column in found)
    thresholds = [cuts for of_column in found for cuts in of_column.matrix.thresholds]
    if max_bins is None and n_capped:
        warn_of_capped_columns(n_capped, len(thresholds))
    medians = np.concatenate([of_column.medians for of_column in found])
    bins.bins.flags.writeable = False
    facts = ColumnFacts(
        np.concatenate([of_column.facts.missing for of_column in found]),
        tuple(of_column.facts.categories[0] for of_column in found),
        tuple(of_column.facts.counts[0] for of_column in found),
    )
    kept = CategoryColumns.of(facts.encoding(shares=shares), max_bins, facts.many(shares=shares))
    categories = None
    if kept is not None:
        codes = [of_column.codes for of_column in found if of_column.codes is not None]
        wide = np.min_scalar_type(max(kept.n_categories))
        categories = CategoryCodes(kept, np.array(codes, dtype=wide))
    return BinnedMatrix(bins.bins, tuple(thresholds), medians), facts, categories


def _bin(
    columns: list[Any], place: int, labelled: Labelled, max_bins: int | None, shares: bool
) -> _Binned:
    """Bin one column, which is taken from the list: its values go as soon as they can."""
    column: Columns = columns[place]
    columns[place] = None
    codes, n_classes, times, order, multiplicity = labelled
    facts = ColumnFacts.of(column, codes, n_classes, times)
    encoding = facts.encoding(shares=shares)
    X = column.recoded(encoding.categories, encoding.lost).matrix
    del column
    kept = CategoryColumns.of(encoding, max_bins, facts.many(shares=shares))
    of_rows = None if kept is None else kept.codes(X)[0][order]
    X = encoding.apply(X)
    found = find_thresholds(X, order, max_bins, multiplicity, 1)
    binned = bin_by_thresholds(X, found.thresholds, order=order)
    return _Binned(facts, binned, found.n_capped, found.medians, of_rows)


def _without_bins(matrix: BinnedMatrix) -> BinnedMatrix:
    """Keep the thresholds."""
    return BinnedMatrix(matrix.bins[:, :0].copy(), matrix.thresholds)
