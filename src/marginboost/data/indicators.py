"""Indicators of categories: columns of 0 and 1, so that one split takes out a single category.

Orders of categories put those together that have similar classes, and a threshold divides them. With few
categories, or many classes, a category may differ from all others in a way that no order shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.category_orders import LEAST_ROWS
from marginboost.data.columns import Categories, Columns
from marginboost.data.encoding import Category, Encoding

__all__ = ["Indicators"]

Floats = NDArray[np.float64]

# Most indicators of a column: the most frequent categories have one.
MOST_CATEGORIES = 64
# Most numbers in the matrix with indicators.
MOST_NUMBERS = 2**26

# In place of a category: the column of X as it is.
_AS_IT_IS = -1


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """Which columns are made from the columns of X, in which categories are codes.

    Attributes
    ----------
    source : intp array
        The column of X that each is made from, ascending.
    code : intp array
        The category whose rows have a 1, and all others a 0; -1 for the column as it is.
    categories : tuple, one entry per column of X
        As in `Columns`.
    """

    source: NDArray[np.intp]
    code: NDArray[np.intp]
    categories: tuple[Categories | None, ...]

    @classmethod
    def of(cls, columns: Columns) -> Indicators | None:
        """Find the categories that get an indicator; None if there are none, or too many.

        Parameters
        ----------
        columns : Columns
            All rows.
        """
        source: list[int] = []
        code: list[int] = []
        for column, names in enumerate(columns.categories):
            own = [] if names is None else _frequent(columns.matrix[:, column], len(names))
            code += own or [_AS_IT_IS]
            source += [column] * max(len(own), 1)
        n_rows = columns.matrix.shape[0]
        if max(code) == _AS_IT_IS or n_rows * len(source) > MOST_NUMBERS:
            return None
        return cls(np.array(source), np.array(code), columns.categories)

    @property
    def categorical(self) -> list[int] | None:
        """The numbers of the columns that still hold categories; None where there are none."""
        pairs = enumerate(zip(self.source, self.code, strict=True))
        found = [n for n, (of, one) in pairs if one < 0 and self.categories[of] is not None]
        return found or None

    def apply(self, X: NDArray[Any]) -> Floats:
        """Make the columns from a matrix of X, in which categories are codes."""
        made = np.empty((X.shape[0], len(self.source)), dtype=np.float64, order="F")
        for n, (column, one) in enumerate(zip(self.source, self.code, strict=True)):
            made[:, n] = X[:, column] if one < 0 else X[:, column] == one
        return made

    def encoding(self, own: Encoding) -> Encoding:
        """Turn an encoding of these columns into one of X, with the same ordered columns.

        Parameters
        ----------
        own : Encoding
            Of what `apply` returns.
        """
        fill, positions = own.fill.copy(), list(own.positions)
        categories: list[Categories | None] = [None] * len(self.categories)
        for n, (column, one) in enumerate(zip(self.source, self.code, strict=True)):
            names = self.categories[column]
            if one < 0 or names is None:
                categories[column] = own.categories[n]
                continue
            categories[column] = tuple(float(place) for place in range(len(names)))
            for ordered in np.flatnonzero(own.source == n):
                positions[ordered] = (np.arange(len(names)) == one).astype(np.float64)
                fill[ordered] = 0.0
        lost: dict[int, Category] = {int(self.source[n]): name for n, name in own.lost.items()}
        return Encoding(
            len(self.categories),
            self.source[own.source].astype(np.int32),
            fill,
            tuple(categories),
            tuple(positions),
            lost,
        )


def _frequent(codes: Floats, n_categories: int) -> list[int]:
    """Return the categories of a column that get an indicator: none where one order says it all."""
    known = codes[~np.isnan(codes)].astype(np.intp)
    rows = np.bincount(known, minlength=n_categories)
    most = np.argsort(-rows, kind="stable")[:MOST_CATEGORIES]
    found: list[int] = np.sort(most[rows[most] >= LEAST_ROWS]).tolist()
    groups = len(found) + (rows[found].sum() < len(codes))
    return found if groups > 2 else []
