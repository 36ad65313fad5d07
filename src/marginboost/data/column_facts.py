"""Statistics of the columns of X that an encoding is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost.data.category_orders import CategoryOrders, order_categories
from marginboost.data.category_shares import MOST_SHARES, category_shares, least_rows_of_many
from marginboost.data.columns import Categories, Columns, capitalized, column_label
from marginboost.data.encoding import Category, Encoding, all_none, has_missing

__all__ = ["ColumnFacts"]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """Statistics of the columns of some rows; the statistics of several parts can be joined.

    Attributes
    ----------
    missing : bool array of n_features
        Whether a column has missing values.
    categories : tuple, one entry per column
        As in `Columns`.
    counts : tuple, one entry per column
        For a column of categories, the number of rows per category and class, an int64 array; its last
        row counts the rows in which the value is missing. None for a column of numbers.
    """

    missing: NDArray[np.bool_]
    categories: tuple[Categories | None, ...]
    counts: tuple[NDArray[np.int64] | None, ...]

    @classmethod
    def of(
        cls,
        columns: Columns,
        codes: NDArray[Any],
        n_classes: int,
        times: NDArray[Any] | None = None,
    ) -> ColumnFacts:
        """Describe rows.

        Parameters
        ----------
        columns : Columns
            The rows.
        codes : int array
            Class number of each row.
        n_classes : int
            Number of classes.
        times : int array or None
            How often each row counts, possibly 0 times; None for once.
        """
        matrix = columns.matrix
        if times is not None and not np.all(times):
            counted = np.flatnonzero(times)
            matrix, codes, times = matrix[counted], codes[counted], times[counted]
        if all_none(columns.categories):
            none = (None,) * len(columns.categories)
            return cls(missing_columns(matrix), none, none)
        counts = [
            None
            if of_column is None
            else _count(matrix[:, n], len(of_column), codes, n_classes, times)
            for n, of_column in enumerate(columns.categories)
        ]
        return cls(missing_columns(matrix), columns.categories, tuple(counts))

    @classmethod
    def join(cls, every: Sequence[ColumnFacts], names: Sequence[str] | None = None) -> ColumnFacts:
        """Join the statistics of all parts."""
        missing = np.logical_or.reduce([part.missing for part in every])
        categories: list[Categories | None] = []
        counts: list[NDArray[np.int64] | None] = []
        for column in range(len(missing)):
            parts = [(part.categories[column], part.counts[column]) for part in every]
            of_column, table = _joined(parts, column_label(column, names))
            categories.append(of_column)
            counts.append(table)
        return cls(missing, tuple(categories), tuple(counts))

    def many(self, *, shares: bool = True) -> tuple[bool, ...]:
        """Return which columns have many categories, of few rows each.

        With `shares`, these are placed as in `marginboost.data.category_shares`, and the rows must be
        cross-fitted; without, no column counts as such.
        """
        if not shares or all_none(self.categories):
            return (False,) * len(self.counts)
        return tuple(
            table is not None and least_rows_of_many(table) is not None for table in self.counts
        )

    def encoding(self, *, shares: bool = True) -> Encoding:
        """Make the encoding of these columns; see `Encoding`, and `many` for `shares`."""
        if all_none(self.categories):
            return self._encoding_of_numbers()
        source: list[int] = []
        fill: list[float] = []
        positions: list[NDArray[np.float64] | None] = []
        categories: list[Categories | None] = []
        lost: dict[int, Category] = {}
        for column, (of_column, counts) in enumerate(
            zip(self.categories, self.counts, strict=True)
        ):
            if of_column is None or counts is None:
                sides = [-np.inf, np.inf] if self.missing[column] else [np.inf]
                source += [column] * len(sides)
                fill += sides
                positions += [None] * len(sides)
                categories.append(None)
                continue
            orders = _placed(counts, shares=shares)
            source += [column] * len(orders.fill)
            fill += orders.fill
            positions += orders.positions
            categories.append(tuple(of_column[place] for place in orders.kept))
            there = np.flatnonzero(counts[:-1].any(axis=1))
            if len(there) and not len(orders.kept):
                lost[column] = of_column[there[0]]
        return Encoding(
            len(self.missing),
            np.array(source, dtype=np.int32),
            np.array(fill, dtype=np.float64),
            tuple(categories),
            tuple(positions),
            lost,
        )

    def _encoding_of_numbers(self) -> Encoding:
        """Make the encoding of columns of numbers: two ordered columns for each with missing values."""
        source = np.repeat(np.arange(len(self.missing), dtype=np.int32), 1 + self.missing)
        fill = np.full(len(source), np.inf)
        fill[np.flatnonzero(np.diff(source) == 0)] = -np.inf  # the first of two
        none = (None,) * len(source)
        return Encoding(len(self.missing), source, fill, self.categories, none)


def _placed(counts: NDArray[np.int64], *, shares: bool) -> CategoryOrders:
    """Give the categories of a column positions; see `ColumnFacts.many` for `shares`."""
    least = least_rows_of_many(counts) if shares else None
    if least is None:
        return order_categories(counts)
    enough = counts[:-1].sum(axis=1) >= least
    rest = counts[-1] + counts[:-1][~enough].sum(axis=0)
    table = np.vstack([counts[:-1][enough], rest])
    found = category_shares(table[None], MOST_SHARES).positions
    return CategoryOrders(
        np.flatnonzero(enough), [of_code[:-1] for of_code in found], [float(p[-1]) for p in found]
    )


def missing_columns(matrix: Any) -> NDArray[np.bool_]:
    """Find the columns with missing values."""
    if sparse.issparse(matrix):
        missing = np.zeros(matrix.shape[1], dtype=bool)
        if matrix.dtype.kind == "f" and np.isnan(matrix.data).any():
            entries = matrix.tocoo()
            missing[entries.col[np.isnan(entries.data)]] = True
        return missing
    if not has_missing(matrix):
        return np.zeros(matrix.shape[1], dtype=bool)
    return np.array([bool(np.isnan(column).any()) for column in matrix.T], dtype=bool)


def _count(
    places: NDArray[np.float64],
    n_categories: int,
    codes: NDArray[Any],
    n_classes: int,
    times: NDArray[Any] | None,
) -> NDArray[np.int64]:
    rows = np.where(np.isnan(places), n_categories, places).astype(np.int64)
    cells = rows * n_classes + codes
    found = np.bincount(cells, weights=times, minlength=(n_categories + 1) * n_classes)
    return np.rint(found).astype(np.int64).reshape(n_categories + 1, n_classes)


def _joined(
    parts: Sequence[tuple[Categories | None, NDArray[np.int64] | None]], label: str
) -> tuple[Categories | None, NDArray[np.int64] | None]:
    if all(of_part is None for of_part, _ in parts):
        return None, None
    kinds = {
        "numbers" if of_part is None else f"categories of type {type(of_part[0]).__name__}"
        for of_part, _ in parts
        if of_part is None or of_part
    }
    if len(kinds) > 1:
        raise ValueError(
            f"{capitalized(label)} of X must be of one kind in all partitions; got "
            f"{' and '.join(sorted(kinds))}."
        )
    every = tuple(sorted({value for of_part, _ in parts for value in of_part or ()}))
    places = {value: place for place, value in enumerate(every)}
    tables = [table for _, table in parts if table is not None]
    joined = np.zeros((len(every) + 1, tables[0].shape[1]), dtype=np.int64)
    for of_part, table in parts:
        if of_part is not None and table is not None:
            joined[[*(places[value] for value in of_part), len(every)]] += table
    return every, joined
