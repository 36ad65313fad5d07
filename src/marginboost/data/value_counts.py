"""How often each value of a column occurs, in tables of bounded size that can be merged.

The thresholds of a column depend on its table alone. Where its rows lie in several places, each makes
the table of its own, and merged in any order they are the table of the whole.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native

__all__ = ["MOST_VALUES", "Cuts", "ValueCounts"]

MOST_VALUES = 1 << 20

_SIGN = np.uint64(1 << 63)


class Cuts(NamedTuple):
    """Where the bins of a column begin and end.

    Attributes
    ----------
    thresholds : float64 array
        Ascending.
    capped : bool
        Whether there are more values than bins.
    median : float
        The lower median of the finite numbers; inf where there are none.
    """

    thresholds: NDArray[np.float64]
    capped: bool
    median: float


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """The distinct values of a column, and how often each occurs.

    A table has at most a given number of values. Where a column has more, the keys of its values lose
    their lowest bits, as few as will do, and values whose keys are then equal count as one. A key is a
    uint64 in the order of the float64 values.

    Parameters
    ----------
    values : float64 array
        Ascending; of values that count as one the least that there could be.
    counts : int64 array
        At least 1 each.
    shift : int
        The bits that the keys have lost.
    below, above : int
        How often -inf and inf occur (missing values too, where they are given so): not in the table.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    shift: int = 0
    below: int = 0
    above: int = 0

    @staticmethod
    def of(
        column: ArrayLike, multiplicity: ArrayLike | None = None, limit: int = MOST_VALUES
    ) -> ValueCounts:
        """Count the values of a column.

        Parameters
        ----------
        column : array-like of numbers, no NaN
            Compared as float64.
        multiplicity : array-like of int, optional
            How often each of them counts, at least once.
        limit : int
            The most values of the table, 2 or more.
        """
        if limit < 2:
            raise ValueError(f"limit must be 2 or more, got {limit}.")
        numbers = np.asarray(column, dtype=np.float64)
        if np.isnan(numbers).any():
            raise ValueError("column must hold no NaN.")
        times = np.asarray(
            np.ones(numbers.shape, np.int64) if multiplicity is None else multiplicity, np.int64
        )
        infinite = np.isinf(numbers)
        if not infinite.any():
            return _table(_keys(numbers), times, 0, limit)
        table = _table(_keys(numbers[~infinite]), times[~infinite], 0, limit)
        return replace(
            table,
            below=int(times[numbers == -np.inf].sum()),
            above=int(times[numbers == np.inf].sum()),
        )

    @staticmethod
    def of_distinct(
        values: NDArray[np.float64], counts: NDArray[np.int64], limit: int = MOST_VALUES
    ) -> ValueCounts:
        """Make the table of values that are distinct and ascend, with their counts."""
        below = int(counts[values == -np.inf].sum())
        above = int(counts[values == np.inf].sum())
        if below or above:
            numbers = np.isfinite(values)
            values, counts = values[numbers], counts[numbers]
        if len(values) <= limit:
            return ValueCounts(values, counts, 0, below, above)
        return replace(_table(_keys(values), counts, 0, limit), below=below, above=above)

    def merge(self, other: ValueCounts, limit: int = MOST_VALUES) -> ValueCounts:
        """Return the table of both columns together; `limit` must be that of the two tables."""
        keys = np.concatenate((_keys(self.values), _keys(other.values)))
        counts = np.concatenate((self.counts, other.counts))
        table = _table(keys, counts, max(self.shift, other.shift), limit)
        return replace(table, below=self.below + other.below, above=self.above + other.above)

    def cuts(self, max_bins: int) -> Cuts:
        """Find the thresholds that `bin_matrix` finds."""
        values = np.concatenate(
            ([-np.inf] * (self.below > 0), self.values, [np.inf] * (self.above > 0))
        )
        counts = np.concatenate(
            ([self.below] * (self.below > 0), self.counts, [self.above] * (self.above > 0))
        )
        return Cuts(*_native.column_thresholds(values, counts.astype(np.int64), max_bins))


def _table(
    keys: NDArray[np.uint64], times: NDArray[np.int64], shift: int, limit: int
) -> ValueCounts:
    order = np.argsort(keys, kind="stable")
    keys = keys[order] >> np.uint64(shift)
    differing = keys[1:] ^ keys[:-1]

    def few_enough(more: int) -> bool:
        return bool(np.count_nonzero(differing >> np.uint64(more)) < limit)

    more = 0 if few_enough(0) else bisect_left(range(64 - shift), True, key=few_enough)
    keys = keys >> np.uint64(more)
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = keys[1:] != keys[:-1]
    begins = np.flatnonzero(is_first)
    counts = np.add.reduceat(times[order], begins) if len(keys) else times
    shift += more
    return ValueCounts(_values(keys[begins] << np.uint64(shift)), counts, shift)


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    bits = (values + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    # Below the key of the least number are those of -inf and NaN.
    keys = np.maximum(keys, _keys(np.array([np.finfo(np.float64).min])))
    values: NDArray[np.float64] = np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
    return values
