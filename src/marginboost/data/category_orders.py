"""Orders of a column's categories, so that a threshold splits them into two groups that differ in class.

With two classes the best of all splits of the categories into two groups is a threshold, once they are
ordered by how often the first class occurs among their rows (Breiman and others, 1984). With more classes
there is no such order. So there are several, each by how often one class occurs, for the classes that
differ most between the categories; the search chooses among them as among features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_ROWS", "MOST_ORDERS", "CategoryOrders", "order_categories"]

# Maximum number of ordered columns that are made from one column of categories.
MOST_ORDERS = 4

# A category with fewer rows counts as missing: the classes of so few rows are chance, and a random order
# would let trees memorise the training labels.
LEAST_ROWS = 10

# Number of rows of the overall class distribution that smooth the shares of every category.
PRIOR_ROWS = 10.0

Floats = NDArray[np.float64]


class CategoryOrders(NamedTuple):
    """The orders of a column's categories.

    Attributes
    ----------
    kept : int array
        The categories that have a position, ascending.
    positions : list of float64 arrays
        The positions of these categories, one array per order.
    fill : list of float
        The position of all other values (missing, rare or never seen), one per order.
    """

    kept: NDArray[np.intp]
    positions: list[Floats]
    fill: list[float]


def order_categories(
    counts: NDArray[np.int64], most_orders: int = MOST_ORDERS, least_rows: int = LEAST_ROWS
) -> CategoryOrders:
    """Put the categories of a column in order.

    Parameters
    ----------
    counts : int64 array of shape (n_categories + 1, n_classes)
        Number of rows per category and class; the last row counts missing values.
    most_orders : int
        Maximum number of orders.
    least_rows : int
        Least number of rows of a category that gets a position.
    """
    enough = counts[:-1].sum(axis=1) >= least_rows
    kept = np.flatnonzero(enough)
    rest = counts[-1] + counts[:-1][~enough].sum(axis=0)
    table = np.vstack([counts[:-1][kept], rest]).astype(np.float64)
    rows = table.sum(axis=1, keepdims=True)
    usual = table.sum(axis=0) / max(rows.sum(), 1.0)
    # Without any rows the overall distribution remains: if nothing was missing, a category that was never
    # seen gets that.
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
