"""The part of the rows that one fit sees, defined by rules that need no list of rows.

A rule is the same wherever a row is stored: on this machine, on a GPU, or on a worker of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.copies import merged

__all__ = ["HeldOutOrder", "HeldOutRows", "RowView", "SeenRows"]


@dataclass(frozen=True, slots=True, eq=False)
class RowView:
    """The part of the rows that one fit sees.

    Attributes
    ----------
    seed : int or None
        Seed of the rows' hashes; None if no rule needs them.
    hash_bounds : uint64 array of n_classes or None
        Copies of rows whose hash is below the bound of their class are held out; None: none are.
    weight_exponent : int
        Weights are multiplied by 2**-weight_exponent.
    """

    seed: int | None = None
    hash_bounds: NDArray[np.uint64] | None = None
    weight_exponent: int = 0

    def bounds(self, n_classes: int) -> NDArray[np.uint64]:
        """Return `hash_bounds`, or zeros if nothing is held out."""
        none = np.zeros(n_classes, dtype=np.uint64)
        return none if self.hash_bounds is None else self.hash_bounds


class SeenRows(NamedTuple):
    """The part of the rows that a `RowView` shows to a fit.

    Attributes
    ----------
    weight : float32 array or None
        Weight of each row, 0 if no copy is seen; None if all weights are 1.
    multiplicity : int32 array or None
        Number of copies of each row that are seen; None if all count once.
    hashes : uint64 array or None
        Hash of each row's first copy; None if no rule needs them.
    held_out_rows : int64 array
        Rows of which copies are held out.
    copies : int32 array or None
        Number of copies of each row, including those held out; None if all count once.
    bounds : uint64 array of n_classes
        Copies whose hash is below their class's number are held out.
    """

    weight: NDArray[np.float32] | None
    multiplicity: NDArray[np.int32] | None
    hashes: NDArray[np.uint64] | None
    held_out_rows: NDArray[np.int64]
    copies: NDArray[np.int32] | None
    bounds: NDArray[np.uint64]


class HeldOutRows(NamedTuple):
    """Rows that a fit did not see, in any order.

    Attributes
    ----------
    e : float32 array of rows x classes
        exp(F[i, r] - F[i, y_i]); the entry of a row's own class is ignored.
    labels : int64 array
        Class number of each row.
    weight : float64 array
        Weight of one copy of each row.
    copies : int64 array
        Number of copies of each row.
    hashes : uint64 array
        Hash of each row's content.
    """

    e: NDArray[np.float32]
    labels: NDArray[np.int64]
    weight: NDArray[np.float64]
    copies: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    def in_order(self, known: HeldOutOrder | None = None) -> HeldOutRows:
        """Sort the rows in an order that does not depend on their origin, and merge equal rows.

        Rows of one class with equal hashes are equal, and so have equal margins. Where the order of these
        rows is `known` from an earlier round, they are not sorted again.
        """
        if known is None or not np.array_equal(known.hashes, self.hashes):
            known = self.order()
        return HeldOutRows(self.e[known.rows], *known.sorted)

    def order(self) -> HeldOutOrder:
        """Find the order."""
        _, labels, weight, copies, hashes = self
        rows, copies = merged(labels, hashes, weight, copies)
        return HeldOutOrder(hashes, rows, (labels[rows], weight[rows], copies, hashes[rows]))


class HeldOutOrder(NamedTuple):
    """The order of rows that a fit did not see.

    Attributes
    ----------
    hashes : uint64 array
        Those of the rows before they are sorted.
    rows : int64 array
        The rows that are left, in order.
    sorted : tuple of arrays
        All of `HeldOutRows` but the first, in order.
    """

    hashes: NDArray[np.uint64]
    rows: NDArray[np.int64]
    sorted: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.uint64]]
