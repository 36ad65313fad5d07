"""Counts of a column's values, in tables of bounded size that can be merged.

The thresholds of a column depend only on its table. If its rows are stored in several places, each place
makes its own table; merged in any order, they give the table of all rows.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native

__all__ = ["MOST_VALUES", "Cuts", "ValueCounts", "keys_of", "values_of_keys"]

MOST_VALUES = 1 << 20

_SIGN = np.uint64(1 << 63)


class Cuts(NamedTuple):
    """The limits of a column's bins.

    Attributes
    ----------
    thresholds : float64 array
        Ascending.
    capped : bool
        Whether there are more values than bins.
    median : float
        The lower median of the finite numbers; inf if there are none.
    """

    thresholds: NDArray[np.float64]
    capped: bool
    median: float


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """The distinct values of a column, and how often each occurs.

    A table has at most a given number of values. If a column has more, the lowest bits of the values'
    keys are dropped, as few as possible, and values with equal keys count as one. Keys are uint64 numbers
    in the order of the float64 values.

    Parameters
    ----------
    values : float64 array
        Ascending; for values that count as one, the smallest value with their key.
    counts : int64 array
        At least 1 each.
    shift : int
        Number of bits dropped from the keys.
    below, above : int
        How often -inf and inf occur (they may stand for missing values); not in the table.
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
            How often each value counts, at least once.
        limit : int
            The maximum number of values in the table, 2 or more.
        """
        if limit < 2:
            raise ValueError(f"limit must be 2 or more, got {limit}.")
        numbers = np.asarray(column, dtype=np.float64)
        if np.isnan(numbers).any():
            raise ValueError("column must not contain NaN.")
        times = np.asarray(
            np.ones(numbers.shape, np.int64) if multiplicity is None else multiplicity, np.int64
        )
        infinite = np.isinf(numbers)
        if not infinite.any():
            return _table(keys_of(numbers), times, 0, limit)
        table = _table(keys_of(numbers[~infinite]), times[~infinite], 0, limit)
        return replace(
            table,
            below=int(times[numbers == -np.inf].sum()),
            above=int(times[numbers == np.inf].sum()),
        )

    def merge(self, other: ValueCounts, limit: int = MOST_VALUES) -> ValueCounts:
        """Merge two tables; `limit` must be the limit of both."""
        keys = np.concatenate((keys_of(self.values), keys_of(other.values)))
        counts = np.concatenate((self.counts, other.counts))
        table = _table(keys, counts, max(self.shift, other.shift), limit)
        return replace(table, below=self.below + other.below, above=self.above + other.above)

    def cuts(self, max_bins: int) -> Cuts:
        """Find the same thresholds as `bin_matrix`."""
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
    return ValueCounts(values_of_keys(keys[begins] << np.uint64(shift)), counts, shift)


def keys_of(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return unsigned integers in the order of the numbers."""
    bits = (values + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def values_of_keys(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the numbers of keys, none of them infinite."""
    # Below the key of the smallest finite number are the keys of -inf and NaN.
    keys = np.maximum(keys, keys_of(np.array([np.finfo(np.float64).min])))
    values: NDArray[np.float64] = np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
    return values
