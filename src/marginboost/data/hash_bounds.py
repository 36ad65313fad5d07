"""A bound per class, below which the hashes of about a share of its rows lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.copies import each_copy
from marginboost.data.storage import HOST, Storage

__all__ = ["count_digits", "count_rows", "find_bounds", "hash_bounds"]

Hashes = NDArray[np.uint64]

# Maximum number of counters for the next bits of the hashes.
_MOST_COUNTERS = 1 << 20

# Takes the known bits of each class's bound, the number of bits below the next ones, and the number of
# next bits; returns numbers of copies by class and next bits.
Count = Callable[[Hashes, int, int], NDArray[np.int64]]


def hash_bounds(
    hashes: Hashes,
    class_offsets: NDArray[np.int64],
    multiplicity: NDArray[np.int32] | None,
    share: float,
    storage: Storage = HOST,
    *,
    steps: Any | None = None,
) -> Hashes:
    """Find a bound per class, below which the hashes of about a share of its rows lie.

    A row that counts m times has m hashes: see `marginboost.data.copies`.

    Parameters
    ----------
    hashes : uint64 array of n_rows
        Hash of each row's first copy; grouped by class.
    class_offsets : int64 array of n_classes + 1
        Where the rows of each class begin.
    multiplicity : int32 array of n_rows or None
        How often each row counts; None: once.
    share : float
        Share of the rows of every class, from 0 to below 1; at most this share lies below the bound.
    storage : Storage
        Where hashes and multiplicities are stored.
    steps : uint64 array of n_rows or None
        See `marginboost.data.copies.each_copy`.

    Returns
    -------
    uint64 array of n_classes, on the host
        0 for a class without rows.
    """
    n_classes, xp = len(class_offsets) - 1, storage.xp
    if multiplicity is not None:
        labels = xp.repeat(xp.arange(n_classes), np.diff(class_offsets).tolist())

        def count(prefix: Hashes, shift: int, bits: int) -> NDArray[np.int64]:
            there = storage.put(prefix)
            found = count_digits(hashes, labels, multiplicity, there, shift, bits, xp, steps=steps)
            return storage.fetch(found)

        return find_bounds(count, share * count_rows(class_offsets, multiplicity, storage))
    bounds = np.zeros(n_classes, dtype=np.uint64)
    for label, (start, stop) in enumerate(pairwise(class_offsets.tolist())):
        if stop > start:
            # The smallest hash that must not be below the bound.
            place = int(share * (stop - start))
            bounds[label] = int(xp.partition(hashes[start:stop], place)[place])
    return bounds


def count_rows(
    class_offsets: NDArray[np.int64], multiplicity: Any | None, storage: Storage
) -> NDArray[np.float64]:
    """Count the rows of each class, each as often as it counts; the counts are on the host."""
    if multiplicity is None:
        return np.diff(class_offsets).astype(np.float64)
    xp = storage.xp
    ends = xp.cumsum(multiplicity, dtype=np.int64)
    before = xp.concatenate([xp.zeros(1, dtype=np.int64), ends])[storage.put(class_offsets)]
    return np.diff(storage.fetch(before)).astype(np.float64)


def find_bounds(count: Count, limits: NDArray[np.float64]) -> Hashes:
    """Find the smallest hash per class such that more copies than the limit are at or below it.

    Each step finds some more bits, starting from the highest.

    Parameters
    ----------
    count : callable
        Counts copies by the next bits of their hashes.
    limits : float64 array of n_classes
        Numbers of copies.
    """
    bits = 16 if len(limits) << 16 <= _MOST_COUNTERS else 8
    bounds = np.zeros(len(limits), dtype=np.uint64)
    below = np.zeros(len(limits), dtype=np.int64)
    for shift in range(64 - bits, -1, -bits):
        counts = count(bounds, shift, bits)
        upto = below[:, None] + np.cumsum(counts, axis=1)
        some = upto[:, -1] > limits
        digit = np.where(some, (upto > limits[:, None]).argmax(axis=1), 0)
        here = np.arange(len(limits))
        below = upto[here, digit] - counts[here, digit]
        bounds |= digit.astype(np.uint64) << np.uint64(shift)
    return bounds


def count_digits(
    hashes: Any,
    labels: Any,
    multiplicity: Any | None,
    prefix: Any,
    shift: int,
    bits: int,
    xp: Any = np,
    *,
    steps: Any | None = None,
) -> Any:
    """Count copies by class and some bits of their hash, if the bits above equal those of the prefix.

    Parameters
    ----------
    hashes, labels, multiplicity : array of n_rows
        Hash of each row's first copy, its class, and how often it counts (None: once).
    prefix : uint64 array of n_classes
        The bits above, per class.
    shift : int
        Number of bits below the counted ones.
    bits : int
        Number of counted bits.
    xp : module
        The module of the arrays.
    steps : uint64 array of n_rows or None
        See `marginboost.data.copies.each_copy`.

    Returns
    -------
    int64 array of n_classes x 2**bits
    """
    n_classes = len(prefix)
    counts = xp.zeros(n_classes << bits, dtype=np.int64)
    every: Iterable[tuple[Any, Any]] = [(slice(None), hashes)]
    if multiplicity is not None:
        every = each_copy(hashes, multiplicity, xp, steps=steps)
    for rows, of_copy in every:
        label, counted = labels[rows], of_copy
        if shift + bits < 64:
            above = np.uint64(shift + bits)
            same = (of_copy >> above) == (prefix >> above)[label]
            label, counted = label[same], of_copy[same]
        digit = (counted >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        place = (label << bits) + digit.astype(np.int64)
        counts += xp.bincount(place, minlength=len(counts))
    return counts.reshape(n_classes, -1)
