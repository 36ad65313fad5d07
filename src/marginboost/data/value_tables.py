"""Counts of the values of all columns, in tables of bounded size that can be merged.

The compiled counterpart of `ValueCounts`, for all columns at once. Tables are a few long arrays, so
that they are cheap to send.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.binning import readable_blocks
from marginboost.data.value_counts import MOST_VALUES, Cuts, ValueCounts

__all__ = ["ValueTables"]


class ValueTables(NamedTuple):
    """The distinct values of every column, and how often each occurs; see `ValueCounts`.

    Attributes
    ----------
    values : float64 array
        Those of the columns one after the other, ascending within a column, all finite.
    counts : int64 array
        How often each occurs, at least once.
    offsets : int64 array of n_columns + 1
        Where the values of each column begin.
    shifts : int32 array of n_columns
        Number of bits dropped from the keys of each column.
    infinite : int64 array of 2 * n_columns
        How often -inf and inf occur in each column.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    shifts: NDArray[np.int32]
    infinite: NDArray[np.int64]

    @staticmethod
    def of(
        X: NDArray[Any],
        order: NDArray[np.int64],
        multiplicity: NDArray[np.int32] | None = None,
        *,
        n_threads: int = 1,
        limit: int = MOST_VALUES,
    ) -> ValueTables:
        """Count the values of some rows of X.

        Parameters
        ----------
        X : ndarray of shape (n, n_columns)
            Real numbers of any type and memory layout, no NaN. They are compared as float64.
        order : int64 array
            The rows to count.
        multiplicity : int32 array or None
            How often each of these rows counts, at least once; None: once.
        n_threads : int
            Threads to use. The result does not depend on it.
        limit : int
            The maximum number of values per column, 2 or more.
        """
        blocks = [
            ValueTables(*_native.tabulate_columns(block, order, multiplicity, n_threads, limit))
            for _, block in readable_blocks(X)
        ]
        return blocks[0] if len(blocks) == 1 else _side_by_side(blocks)

    def merge(
        self, other: ValueTables, *, n_threads: int = 1, limit: int = MOST_VALUES
    ) -> ValueTables:
        """Merge two tables of the same columns; `limit` must be the limit of both."""
        merged = _native.merge_tables(tuple(self), tuple(other), n_threads, limit)
        return ValueTables(*merged)

    def column(self, column: int) -> ValueCounts:
        """Return the table of one column."""
        begin, end = self.offsets[column : column + 2]
        below, above = self.infinite[2 * column : 2 * column + 2].tolist()
        shift = int(self.shifts[column])
        return ValueCounts(self.values[begin:end], self.counts[begin:end], shift, below, above)

    def cuts(self, max_bins: int) -> list[Cuts]:
        """Find the same thresholds as `bin_matrix`, column by column."""
        return [self.column(column).cuts(max_bins) for column in range(len(self.shifts))]


def _side_by_side(blocks: list[ValueTables]) -> ValueTables:
    """Join the tables of neighbouring columns; there may be none."""
    if not blocks:
        none = np.zeros(0, dtype=np.int64)
        return ValueTables(np.zeros(0), none, np.zeros(1, np.int64), none.astype(np.int32), none)
    values, counts, offsets, shifts, infinite = zip(*blocks, strict=True)
    sizes = np.concatenate([np.diff(of_block) for of_block in offsets])
    return ValueTables(
        np.concatenate(values),
        np.concatenate(counts),
        np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        np.concatenate(shifts),
        np.concatenate(infinite),
    )
