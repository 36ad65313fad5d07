"""Columns as numbers for a linear model: what each bin of a feature counts as."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LinearColumns", "bins_of"]

Floats = NDArray[np.float64]

# Numbers are within so many standard deviations of the mean.
MOST_DEVIATIONS = 3.0
# Infinite values, which stand for missing ones, are beyond thresholds of this size.
_FINITE = np.finfo(np.float64).max / 2


class LinearColumns(NamedTuple):
    """The columns of a linear model: some, or none, for each feature.

    A feature of numbers becomes the number in the middle of the bin, scaled to mean 0 and variance 1. A
    feature that orders categories becomes one column per category; of several orders of the same
    categories only the first is used.

    Attributes
    ----------
    tables : list of float64 arrays of bins x columns
        The columns of each feature, by bin.
    """

    tables: list[Floats]

    @classmethod
    def of(
        cls,
        thresholds: Sequence[Floats],
        bins: NDArray[np.intp],
        weight: Floats,
        codes: Sequence[int | None],
    ) -> LinearColumns:
        """Make the columns that suit some rows.

        Parameters
        ----------
        thresholds : sequence of float64 arrays
            The thresholds of each feature.
        bins : array of rows x features
            The bins of the rows, in an order that does not depend on where they are stored.
        weight : float64 array
            Weight of each row, with all its copies.
        codes : sequence
            For each feature: None if it holds numbers, else the column of categories that it orders.
        """
        tables = []
        seen: set[int] = set()
        for feature, cuts in enumerate(thresholds):
            mass: Floats = np.zeros(len(cuts) + 1)
            np.add.at(mass, bins[:, feature], weight)
            code = codes[feature]
            if code is None:
                tables.append(_of_numbers(cuts, mass))
            elif code in seen:
                tables.append(np.empty((len(mass), 0)))
            else:
                seen.add(code)
                tables.append(_of_categories(mass))
        return cls(tables)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(table.shape[1] for table in self.tables)

    def values(self, bins: NDArray[np.intp]) -> Floats:
        """Return the columns of rows, given their bins."""
        columns = [table[bins[:, feature]] for feature, table in enumerate(self.tables)]
        return np.ascontiguousarray(np.concatenate([np.empty((len(bins), 0)), *columns], axis=1))


def bins_of(X: Floats, thresholds: Sequence[Floats]) -> NDArray[np.intp]:
    """Return the bin of each value."""
    bins = np.empty(X.shape, dtype=np.intp)
    for feature, cuts in enumerate(thresholds):
        bins[:, feature] = np.searchsorted(cuts, X[:, feature])
    return bins


def _of_numbers(cuts: Floats, mass: Floats) -> Floats:
    middle = _middles(cuts)
    here = np.flatnonzero((mass > 0.0) & np.isfinite(middle))
    if len(here) == 0 or np.count_nonzero(mass) < 2:
        return np.empty((len(mass), 0))
    middle /= np.abs(middle[here]).max() or 1.0  # squares of huge numbers would overflow
    # Sums that are rounded once: they do not depend on how the processor adds.
    total = fsum(mass[here])
    mean = fsum(mass[here] * middle[here]) / total
    spread = sqrt(fsum(mass[here] * (middle[here] - mean) ** 2) / total)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        values = (middle - mean) / spread if spread > 0.0 else np.sign(middle - mean)
    values = np.nan_to_num(values, nan=0.0)
    return np.clip(values, -MOST_DEVIATIONS, MOST_DEVIATIONS)[:, None]


def _middles(cuts: Floats) -> Floats:
    """Return the middle of each bin; bins at an end are taken to be as wide as their neighbours."""
    middle = np.full(len(cuts) + 1, np.nan)
    finite = np.flatnonzero(np.abs(cuts) < _FINITE)
    if len(finite) == 0:
        # All finite values, if there are any, are in one bin.
        middle[int(np.count_nonzero(cuts < 0.0))] = 0.0
    else:
        first, last = int(finite[0]), int(finite[-1])
        inner = cuts[first : last + 1]
        middle[first + 1 : last + 1] = inner[:-1] / 2 + inner[1:] / 2
        if first == last:
            middle[first], middle[last + 1] = -1.0, 1.0
        else:
            middle[first] = inner[0] - (middle[first + 1] - inner[0])
            middle[last + 1] = inner[-1] + (inner[-1] - middle[last])
    beyond = np.isnan(middle)
    low = int(np.count_nonzero(cuts <= -_FINITE))
    middle[:low][beyond[:low]] = -np.inf
    middle[low:][beyond[low:]] = np.inf
    return middle


def _of_categories(mass: Floats) -> Floats:
    there = np.flatnonzero(mass > 0.0)
    if len(there) < 2:
        return np.empty((len(mass), 0))
    # One column is enough for two.
    columns = there[1:] if len(there) == 2 else there
    table = np.zeros((len(mass), len(columns)))
    table[columns, np.arange(len(columns))] = 1.0
    return table
