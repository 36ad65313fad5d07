"""The categories of rows, kept so that orders can be learned again from some of the rows.

Orders of categories are learned from labels. A fit that is to be judged by rows that it does not see must
not learn them from the labels of those rows: see `TrainingSet.relearned`. Only small tables are needed
for that: rows per category and class say what the orders are, and where the bins of a column begin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import bin_limit
from marginboost.data.category_orders import order_categories
from marginboost.data.category_shares import N_FOLDS, category_shares
from marginboost.data.encoding import Encoding
from marginboost.data.value_counts import ValueCounts

__all__ = ["CategoryCodes", "CategoryColumns", "LearnedOrders"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class LearnedOrders(NamedTuple):
    """The orders of categories, one entry per ordered column of categories.

    Attributes
    ----------
    columns : tuple of int
        The numbers of the ordered columns, ascending.
    sources : tuple of int
        The column of codes that each is made from.
    positions : tuple of float64 arrays
        The position of each category; the last one is that of all other values.
    of_fold : tuple of float64 arrays of folds x codes or None
        The same for rows of each fold, where a column has many categories.
    thresholds : tuple of float64 arrays
        The thresholds between the bins of the positions.
    """

    columns: tuple[int, ...]
    sources: tuple[int, ...]
    positions: tuple[Floats, ...]
    of_fold: tuple[Floats | None, ...]
    thresholds: tuple[Floats, ...]

    def applied_to(self, encoding: Encoding) -> Encoding:
        """Return an encoding of the same columns with these positions."""
        positions, fill = list(encoding.positions), encoding.fill.copy()
        for column, of_column in zip(self.columns, self.positions, strict=True):
            positions[column], fill[column] = of_column[:-1].copy(), of_column[-1]
        return Encoding(
            encoding.n_features,
            encoding.source,
            fill,
            encoding.categories,
            tuple(positions),
            encoding.lost,
        )


@dataclass(frozen=True, slots=True)
class CategoryColumns:
    """What is known of the columns of categories, wherever the rows are stored.

    Attributes
    ----------
    places : tuple of int
        Their numbers among the columns of X.
    n_categories : tuple of int
        Number of categories of each; the next number is the code of all other values.
    ordered : tuple of tuples of int
        The numbers of the ordered columns that are made from each.
    limit : int
        Maximum number of bins of an ordered column.
    many : tuple of bool
        Whether each has many categories.
    """

    places: tuple[int, ...]
    n_categories: tuple[int, ...]
    ordered: tuple[tuple[int, ...], ...]
    limit: int
    many: tuple[bool, ...]

    @classmethod
    def of(
        cls, encoding: Encoding, max_bins: int | None, many: Sequence[bool]
    ) -> CategoryColumns | None:
        """Describe the columns of categories of an encoding; None if it has none.

        `many` says which columns of X have many categories.
        """
        if encoding.numbers_alone:
            return None
        sizes = {n: len(names) for n, names in enumerate(encoding.categories) if names is not None}
        ordered = [tuple(np.flatnonzero(encoding.source == place).tolist()) for place in sizes]
        return cls(
            tuple(sizes),
            tuple(sizes.values()),
            tuple(ordered),
            bin_limit(max_bins),
            tuple(many[place] for place in sizes),
        )

    def codes(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of all rows of a matrix of numbers, as `Encoding.apply` takes it."""
        wide = np.min_scalar_type(max(self.n_categories))
        found = np.empty((len(self.places), X.shape[0]), dtype=wide)
        for row, (place, n) in enumerate(zip(self.places, self.n_categories, strict=True)):
            found[row] = np.where(np.isnan(X[:, place]), n, X[:, place])
        return found

    def learn(self, counts: Sequence[Counts | None]) -> LearnedOrders:
        """Learn the orders of categories.

        Every column keeps its number of orders: if fewer differ, the last one is repeated. Categories
        that are frequent enough among all rows get a position also if few of these rows have them: that
        they are frequent was not learned from labels.

        Parameters
        ----------
        counts : sequence of int64 arrays of n_categories + 1 x n_classes, or None
            Rows per code and class, one table per column of categories; where a column has many
            categories, one such table per fold. Columns without a table stay as they are.
        """
        columns: list[int] = []
        sources: list[int] = []
        positions: list[Floats] = []
        of_fold: list[Floats | None] = []
        thresholds: list[Floats] = []
        for source, (table, ordered, many) in enumerate(
            zip(counts, self.ordered, self.many, strict=True)
        ):
            if table is None:
                continue
            of_codes, of_folds = (
                _shares(table, len(ordered)) if many else _orders(table, len(ordered))
            )
            times = table.sum(axis=-1)
            there = times > 0
            for number, column in enumerate(ordered):
                order = min(number, len(of_codes) - 1)
                of_rows = of_folds[order]
                of_rows = of_codes[order] if of_rows is None else of_rows
                found = ValueCounts.of(of_rows[there], times[there]).cuts(self.limit)
                columns.append(column)
                sources.append(source)
                positions.append(of_codes[order])
                of_fold.append(of_folds[order])
                thresholds.append(found.thresholds)
        return LearnedOrders(
            tuple(columns), tuple(sources), tuple(positions), tuple(of_fold), tuple(thresholds)
        )


def _orders(table: Counts, most: int) -> tuple[list[Floats], list[Floats | None]]:
    """Return the position of each code, and None, per order."""
    kept, orders, fill = order_categories(table, most, least_rows=1)
    of_codes = []
    for order, of_others in zip(orders, fill, strict=True):
        of_code = np.full(len(table), of_others)
        of_code[kept] = order
        of_codes.append(of_code)
    return of_codes, [None] * len(of_codes)


def _shares(table: Counts, most: int) -> tuple[list[Floats], list[Floats | None]]:
    """Return the position of each code, and that of each fold and code, per order."""
    found = category_shares(table, most)
    return found.positions, list(found.of_fold)


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCodes:
    """The category of every row, in every column of categories.

    Attributes
    ----------
    columns : CategoryColumns
        The columns.
    codes : unsigned integer array of columns x rows
        The codes, where the rows are stored.
    """

    columns: CategoryColumns
    codes: Any

    def taken(self, rows: Any) -> CategoryCodes:
        """Return the codes of some rows, in their order."""
        return CategoryCodes(self.columns, self.codes[:, rows])

    def count(
        self,
        labels: Any,
        n_classes: int,
        times: Any | None,
        storage: Any,
        folds: Any | None,
        *,
        many_alone: bool = False,
    ) -> list[Counts | None]:
        """Count the rows per code and class, one table per column; on the host.

        Where a column has many categories there is one such table per fold.

        Parameters
        ----------
        labels : int64 array
            Class number of each row, where the rows are stored.
        n_classes : int
            Number of classes.
        times : array or None
            How often each row counts, possibly 0 times; None: once.
        storage : Storage
            Where the rows are stored.
        folds : int64 array or None
            The fold of each row, where the rows are stored; None if no column has many categories.
        many_alone : bool
            Whether to count only where a column has many categories; else there is None.
        """
        xp = storage.xp
        tables: list[Counts | None] = []
        for codes, n, many in zip(
            self.codes, self.columns.n_categories, self.columns.many, strict=True
        ):
            if many_alone and not many:
                tables.append(None)
                continue
            shape = (N_FOLDS, n + 1, n_classes) if many else (n + 1, n_classes)
            rows = codes.astype(np.int64)
            if folds is not None and many:
                rows += folds * (n + 1)
            cells = rows * n_classes + labels
            found = xp.bincount(cells, weights=times, minlength=math.prod(shape))
            tables.append(np.rint(storage.fetch(found)).astype(np.int64).reshape(shape))
        return tables
