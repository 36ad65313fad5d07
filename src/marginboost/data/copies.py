"""Which copy of a row a row is: rows of one class and the same bins are copies of each other.

Copies are exchangeable, so what is chosen of them is a number of copies. Each has a hash of its own: the
content's hash plus the copy's number times `STEP`, a Weyl sequence, which spreads evenly. Of n copies
about n times a share have a hash below that share of all numbers, and a row without copies keeps the hash
of its content.

A stored row that counts m times holds m copies, of consecutive numbers. So the copies' hashes are the
same whether rows are repeated or have integer weights, and whatever their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["STEP", "HeldOutCopies", "copy_numbers", "count_copies", "each_copy", "merged"]

# 2**64 over the golden ratio.
STEP = np.uint64(0x9E3779B97F4A7C15)

# Copies that are looked at together.
_CHUNK = 1 << 20


class HeldOutCopies(NamedTuple):
    """Stored rows of which copies are held out.

    Attributes
    ----------
    rows : int64 array
        Ascending.
    copies : int64 array
        How many of each: one at least.
    """

    rows: Any
    copies: Any


def copy_numbers(
    hashes: Any, weight: Any | None, multiplicity: Any | None, xp: Any = np
) -> Any | None:
    """Give numbers to the copies of each row, from 0.

    The lighter ones come first. It is the order of the weights that matters, not their values: weights
    times a constant give the same numbers.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Equal where class and bins are.
    weight : float64 array of n_rows or None
        Weight of each row; None: 1.
    multiplicity : int32 array of n_rows or None
        How often each row counts; None: once.
    xp : module
        The module of the arrays.

    Returns
    -------
    int64 array of n_rows or None
        Number of each row's first copy; None where all are 0.
    """
    ordered = xp.sort(hashes)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not len(again):
        return None
    cells = again[xp.concatenate([xp.ones(1, dtype=bool), again[1:] != again[:-1]])]
    cell = xp.searchsorted(cells, hashes)
    rows = xp.flatnonzero(cells[xp.minimum(cell, len(cells) - 1)] == hashes)
    # A stable sort by cell, after one by weight.
    order = xp.arange(len(rows)) if weight is None else xp.argsort(weight[rows], kind="stable")
    cell = cell[rows][order]
    by_cell = xp.argsort(cell.astype(np.min_scalar_type(len(cells))), kind="stable")
    rows, cell = rows[order][by_cell], cell[by_cell]
    before = xp.arange(len(rows))
    if multiplicity is not None:
        ends = xp.cumsum(multiplicity[rows].astype(np.int64))
        before = ends - multiplicity[rows]
    first = xp.searchsorted(cell, xp.arange(len(cells)))
    numbers = xp.zeros(len(hashes), dtype=np.int64)
    numbers[rows] = before - before[first][cell]
    return numbers


def each_copy(hashes: Any, multiplicity: Any, xp: Any = np) -> Iterator[tuple[Any, Any]]:
    """Go through the copies of stored rows, some at a time.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Hash of each row's first copy.
    multiplicity : int32 array of n_rows
        How often each row counts.
    xp : module
        The module of the arrays.

    Yields
    ------
    rows : int64 array
        The stored row of each copy, ascending.
    of_copy : uint64 array
        The copy's hash.
    """
    ends = xp.cumsum(multiplicity.astype(np.int64))
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, _CHUNK):
        place = xp.arange(begin, min(begin + _CHUNK, total))
        rows = xp.searchsorted(ends, place, side="right")
        number = place - (ends[rows] - multiplicity[rows])
        yield rows, hashes[rows] + number.astype(np.uint64) * STEP


def count_copies(
    hashes: Any, multiplicity: Any, chosen: Callable[[Any, Any], Any], xp: Any = np
) -> Any:
    """Count the copies of each stored row that are chosen.

    Parameters
    ----------
    hashes, multiplicity : array of n_rows
        See `each_copy`.
    chosen : callable
        Takes stored rows and their copies' hashes; returns booleans.
    xp : module
        The module of the arrays.

    Returns
    -------
    int64 array of n_rows
    """
    counts = xp.zeros(len(hashes), dtype=np.int64)
    for rows, of_copy in each_copy(hashes, multiplicity, xp):
        first, last = int(rows[0]), int(rows[-1])
        hit = rows[chosen(rows, of_copy)] - first
        counts[first : last + 1] += xp.bincount(hit, minlength=last - first + 1)
    return counts


def merged(
    labels: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weight: NDArray[np.float64],
    copies: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put rows in an order that does not depend on where they came from, equal ones once.

    Parameters
    ----------
    labels, hashes, weight : arrays of n_rows
        Class, hash of the content, and weight of a copy; rows of which all are equal are equal.
    copies : int64 array of n_rows
        How many copies each row stands for.

    Returns
    -------
    places : int64 array
        One row of each kind, in order.
    copies : int64 array
        How many copies there are of it.
    """
    order = np.lexsort((weight, hashes, labels))
    is_new = np.ones(len(order), dtype=bool)
    if len(order):
        is_new[1:] = False
        for values in (labels[order], hashes[order], weight[order]):
            is_new[1:] |= values[1:] != values[:-1]
    total = np.bincount(np.cumsum(is_new) - 1, weights=copies[order])
    return order[is_new], total.astype(np.int64)
