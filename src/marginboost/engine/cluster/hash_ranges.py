"""Hashes of rows in several shards, range by range: which ones occur in more than one place.

Shards first report half of each hash, without order and counts. What they report of the rows themselves
is then restricted to halves that occur more than once, of which there are few as a rule.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HashRange", "Hashes", "hash_ranges", "lower_half", "occurs_in", "repeated_values"]

# Approximate number of hashes that the client handles at once.
MOST_HASHES = 1 << 22

Hashes = NDArray[np.uint64]


class HashRange(NamedTuple):
    """The hashes from `low` to `high`, both included."""

    low: int
    high: int

    def of(self, hashes: Hashes) -> tuple[Hashes, NDArray[np.int64] | slice]:
        """Return the hashes in the range, and where they are."""
        if self.low == 0 and self.high == 2**64 - 1:
            return hashes, slice(None)
        rows = np.flatnonzero((hashes >= np.uint64(self.low)) & (hashes <= np.uint64(self.high)))
        return hashes[rows], rows

    def halves(self, hashes: Hashes) -> NDArray[np.uint32]:
        """Return the lower halves of the different hashes in the range, in any order."""
        ordered = np.sort(self.of(hashes)[0])
        is_new = np.ones(len(ordered), dtype=bool)
        is_new[1:] = ordered[1:] != ordered[:-1]
        return lower_half(ordered[is_new])


def hash_ranges(n_rows: int) -> list[HashRange]:
    """Divide all hashes into ranges, so that each holds few enough of the rows."""
    n_ranges = max(1, -(-n_rows // MOST_HASHES))
    # Rows are spread evenly by their hashes.
    bounds = [number * 2**64 // n_ranges for number in range(n_ranges + 1)]
    return [HashRange(low, above - 1) for low, above in pairwise(bounds)]


def lower_half(hashes: Hashes) -> NDArray[np.uint32]:
    """Return the lower halves of hashes; the upper ones are alike within a range."""
    return hashes.astype(np.uint32)


def repeated_values(halves: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the values that occur more than once, sorted."""
    ordered = np.sort(halves)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def occurs_in(values: NDArray[np.uint32], ordered: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which values are in a sorted list, which may be empty."""
    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[places] == values
    return found
