"""Orders of a column's categories, so that a threshold splits them into two groups that differ in class.

With two classes the best of all splits of the categories into two groups is one by a threshold, once
they are in the order of how often the first class occurs among their rows (Breiman and others, 1984).
With more classes there is no such order. So a few are offered: each by how often one class occurs, for
the classes that differ most between the categories; and the search chooses among them as among features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_ROWS", "MOST_ORDERS", "CategoryOrders", "order_categories"]

# The most ordered columns that are made of one column of categories.
MOST_ORDERS = 4

# A category of fewer rows is taken for a missing value: what its few rows say of the classes is chance,
# and an order by chance would let trees learn the training labels by heart.
LEAST_ROWS = 10

# Rows of the usual mixture of classes that every category is given besides its own.
PRIOR_ROWS = 10.0

Floats = NDArray[np.float64]


class CategoryOrders(NamedTuple):
    """What becomes of a column of categories.

    Attributes
    ----------
    kept : int array
        The categories that have a position, ascending.
    positions : list of float64 arrays
        For every order the positions of the kept ones.
    fill : list of float
        For every order the position of everything else: missing, rare or never seen.
    """

    kept: NDArray[np.intp]
    positions: list[Floats]
    fill: list[float]


def order_categories(counts: NDArray[np.int64], most_orders: int = MOST_ORDERS) -> CategoryOrders:
    """Put the categories of a column in order.

    Parameters
    ----------
    counts : int64 array of shape (n_categories + 1, n_classes)
        Rows of each category and class; in the last row those in which the value is missing.
    most_orders : int
        The most orders to make.
    """
    enough = counts[:-1].sum(axis=1) >= LEAST_ROWS
    kept = np.flatnonzero(enough)
    rest = counts[-1] + counts[:-1][~enough].sum(axis=0)
    table = np.vstack([counts[:-1][kept], rest]).astype(np.float64)
    rows = table.sum(axis=1, keepdims=True)
    usual = table.sum(axis=0) / max(rows.sum(), 1.0)
    # Of no rows at all the usual mixture is left: where nothing was missing, that is what a category
    # which was never seen is taken for.
    shares = (table + PRIOR_ROWS * usual) / (rows + PRIOR_ROWS)
    spread = (rows * (shares - usual) ** 2).sum(axis=0)
    positions: list[Floats] = []
    fill: list[float] = []
    seen: set[bytes] = set()
    for label in np.argsort(-spread, kind="stable"):
        _, ranks = np.unique(shares[:, label], return_inverse=True)
        order = ranks.astype(np.float64)
        if order.tobytes() in seen:
            continue
        seen |= {order.tobytes(), (order.max() - order).tobytes()}
        positions.append(order[:-1])
        fill.append(float(order[-1]))
        if len(positions) == most_orders:
            break
    return CategoryOrders(kept, positions, fill)
