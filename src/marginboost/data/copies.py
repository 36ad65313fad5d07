"""Numbered copies of rows: rows of one class and the same bins are copies of each other.

Copies are exchangeable, so only the number of chosen copies matters. Each copy has a hash of its own: the
hash of the content plus the copy's number times `STEP`, a Weyl sequence, which spreads evenly. Of n
copies about n times a share have a hash below that share of all numbers, and a row without copies keeps
the hash of its content.

A stored row that counts m times holds m copies with consecutive numbers. So the hashes of the copies are
the same whether rows are repeated or have integer weights, and in any order.

Copies that are not observations of their own share a hash: see `marginboost.data.agreement`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

__all__ = [
    "STEP",
    "HeldOutCopies",
    "Numbering",
    "copy_numbers",
    "count_copies",
    "each_copy",
    "merged",
]

# 2**64 over the golden ratio.
STEP = np.uint64(0x9E3779B97F4A7C15)

# Number of copies that are processed together.
_CHUNK = 1 << 20


class Numbering(NamedTuple):
    """The copies within a set of rows.

    Attributes
    ----------
    name : str
        Name of a larger set that these rows are a part of; '' for the rows alone.
    numbers : int64 array of n_rows or None
        Number of each row's first copy; None if all are 0.
    independent : bool array of n_classes or None
        Whether copies are observations of their own, per class; None if nobody has asked.
    """

    name: str
    numbers: Any | None
    independent: NDArray[np.bool_] | None


class HeldOutCopies(NamedTuple):
    """Stored rows of which copies are held out.

    Attributes
    ----------
    rows : int64 array
        Ascending.
    copies : int64 array
        Number of copies held out of each row, at least one.
    """

    rows: Any
    copies: Any


def copy_numbers(
    hashes: Any,
    weight: Any | None,
    multiplicity: Any | None,
    xp: Any = np,
    has_repeats: Callable[[Any], bool] | None = None,
    *,
    n_threads: int = 1,
) -> Any | None:
    """Assign numbers to the copies of each row, from 0.

    Lighter copies come first. Only the order of the weights matters, not their values: multiplying the
    weights by a constant does not change the numbers.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Equal if class and bins are equal.
    weight : float64 array of n_rows or None
        Weight of each row; None: 1.
    multiplicity : int32 array of n_rows or None
        How often each row counts; None: once.
    xp : module
        The module of the arrays.
    has_repeats : callable, optional
        Returns whether a sorted array holds a hash twice, if that is quicker to find out.
    n_threads : int
        Threads to look for copies with, on the host. The result does not depend on it.

    Returns
    -------
    int64 array of n_rows or None
        Number of each row's first copy; None if all are 0.
    """
    rows, cells = _repeated_rows(hashes, xp, has_repeats, n_threads)
    if not len(rows):
        return None
    cell = xp.searchsorted(cells, hashes[rows])
    # A stable sort by cell, after one by weight.
    order = xp.arange(len(rows)) if weight is None else xp.argsort(weight[rows], kind="stable")
    cell = cell[order]
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


def _repeated_rows(
    hashes: Any, xp: Any, has_repeats: Callable[[Any], bool] | None, n_threads: int
) -> tuple[Any, Any]:
    """Return the rows that share their hash with another row, ascending, and those hashes, sorted."""
    if xp is np:
        rows = np.flatnonzero(_native.find_repeated(hashes, n_threads))
        return rows, np.unique(hashes[rows])
    ordered = xp.sort(hashes)
    if has_repeats is not None and not has_repeats(ordered):
        return ordered[:0], ordered[:0]
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not len(again):
        return again, again
    cells = again[xp.concatenate([xp.ones(1, dtype=bool), again[1:] != again[:-1]])]
    cell = xp.searchsorted(cells, hashes)
    return xp.flatnonzero(cells[xp.minimum(cell, len(cells) - 1)] == hashes), cells


def each_copy(
    hashes: Any, multiplicity: Any, xp: Any = np, *, steps: Any | None = None
) -> Iterator[tuple[Any, Any]]:
    """Iterate over the copies of stored rows, in chunks.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Hash of each row's first copy.
    multiplicity : int32 array of n_rows
        How often each row counts.
    xp : module
        The module of the arrays.
    steps : uint64 array of n_rows or None
        Added to the hash from copy to copy, 0 where copies share a hash; None: `STEP`.

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
        step = STEP if steps is None else steps[rows]
        yield rows, hashes[rows] + number.astype(np.uint64) * step


def count_copies(
    hashes: Any,
    multiplicity: Any,
    chosen: Callable[[Any, Any], Any],
    xp: Any = np,
    *,
    steps: Any | None = None,
) -> Any:
    """Count the chosen copies of each stored row.

    Parameters
    ----------
    hashes, multiplicity, steps
        See `each_copy`.
    chosen : callable
        Takes stored rows and the hashes of their copies; returns booleans.
    xp : module
        The module of the arrays.

    Returns
    -------
    int64 array of n_rows
    """
    counts = xp.zeros(len(hashes), dtype=np.int64)
    for rows, of_copy in each_copy(hashes, multiplicity, xp, steps=steps):
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
    """Sort rows in an order that does not depend on their origin, and merge equal rows.

    Parameters
    ----------
    labels, hashes, weight : arrays of n_rows
        Class, hash of the content, and weight of a copy; rows are equal if all three are.
    copies : int64 array of n_rows
        Number of copies that each row stands for.

    Returns
    -------
    places : int64 array
        The index of one row of each kind, in order.
    copies : int64 array
        Number of copies of that kind.
    """
    order = np.lexsort((weight, hashes, labels))
    is_new = np.ones(len(order), dtype=bool)
    if len(order):
        is_new[1:] = False
        for values in (labels[order], hashes[order], weight[order]):
            is_new[1:] |= values[1:] != values[:-1]
    total = np.bincount(np.cumsum(is_new) - 1, weights=copies[order])
    return order[is_new], total.astype(np.int64)
