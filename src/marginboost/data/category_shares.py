"""Positions of categories in a column that has many: how often a class occurs among their rows.

With many categories each has few rows, and its share of a class owes much to chance. If a row's own
label had a part in the position of its category, trees would learn the labels by heart. So rows are
divided into folds by their content, and for a row in training the rows of its fold are left out of the
shares of its category. Rows to predict have no fold, and get the shares of all rows. So do the rows of
frequent categories: there a single label hardly matters, and trees may split off the category alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MOST_SHARES",
    "N_FOLDS",
    "CategoryShares",
    "category_shares",
    "has_many",
    "least_rows_of_many",
]

# A column has many categories if more than this number have two rows or more, and half of these are not
# frequent.
MANY = 64
# A category of so many rows is frequent.
FREQUENT = 15
# Rows per fold, category and class are counted up to this many cells.
MOST_CELLS = 1 << 24
# A category of so many rows gets a position: a row of a category of two learns from the other alone, and
# so does a new row of a category of one.
LEAST_ROWS_OF_MANY = 1
# Maximum number of ordered columns. Shares of more classes say more of a category with few rows, of which
# no order is certain.
MOST_SHARES = 8

N_FOLDS = 8
# Number of rows of the overall class distribution that smooth the shares of every category.
PRIOR_ROWS = 10.0
# Positions are integers, which every format of models holds exactly.
UNIT = 1.0 / (1 << 20)

Floats = NDArray[np.float64]


class CategoryShares(NamedTuple):
    """The positions of a column's categories, one entry per ordered column.

    Attributes
    ----------
    positions : list of float64 arrays of n_categories + 1
        The position of each category; the last one is that of all other values.
    of_fold : list of float64 arrays of N_FOLDS x n_categories + 1
        The same without the rows of a fold, where a category is not frequent: for these rows.
    """

    positions: list[Floats]
    of_fold: list[Floats]


def least_rows_of_many(counts: NDArray[np.int64]) -> int | None:
    """Return how many rows a category needs to get a position; None if the column has not many.

    Two are needed where counts per fold of all categories would not fit in memory.

    Parameters
    ----------
    counts : int64 array of n_categories + 1 x n_classes
        Rows per category and class; the last row counts missing values.
    """
    rows = counts[:-1].sum(axis=1)
    repeated = rows[rows > 1]
    if len(repeated) <= MANY or float(np.median(repeated)) >= FREQUENT:
        return None
    for least in (LEAST_ROWS_OF_MANY, 2):
        n_kept = int(np.count_nonzero(rows >= least))
        if N_FOLDS * (n_kept + 1) * counts.shape[1] <= MOST_CELLS:
            return least
    return None


def has_many(counts: NDArray[np.int64]) -> bool:
    """Return whether a column has many categories, of few rows each; see `least_rows_of_many`."""
    return least_rows_of_many(counts) is not None


def category_shares(counts: NDArray[np.int64], most: int) -> CategoryShares:
    """Find the positions of categories.

    Parameters
    ----------
    counts : int64 array of folds x n_categories + 1 x n_classes
        Rows per fold, category and class; the last category stands for all other values.
    most : int
        Maximum number of ordered columns: those of the classes that differ most between the categories.
    """
    total = counts.sum(axis=0)
    rows = total.sum(axis=1, keepdims=True)
    usual = total.sum(axis=0) / max(int(rows.sum()), 1)
    shares = _smoothed(total, usual)
    spread = (rows * (shares - usual) ** 2).sum(axis=0)
    # With two classes the order of one is that of the other, turned round.
    labels = np.argsort(-spread, kind="stable")[: 1 if len(usual) == 2 else most]
    rest = np.where(rows >= FREQUENT, shares, _smoothed(total - counts, usual))
    return CategoryShares(
        [np.rint(shares[:, label] / UNIT) for label in labels],
        [np.rint(rest[:, :, label] / UNIT) for label in labels],
    )


def _smoothed(counts: NDArray[np.int64], usual: Floats) -> Floats:
    found: Floats = (counts + PRIOR_ROWS * usual) / (
        counts.sum(axis=-1, keepdims=True) + PRIOR_ROWS
    )
    return found
