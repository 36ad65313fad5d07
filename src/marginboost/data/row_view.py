"""What one fit sees of the rows, told by rules that need no list of rows.

A rule is the same wherever a row lies: on this machine, on a GPU, or on some worker of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeldOutRows", "RowView"]


@dataclass(frozen=True, slots=True, eq=False)
class RowView:
    """What one fit sees of the rows.

    Attributes
    ----------
    seed : int or None
        Of the rows' hashes; None where no rule asks for them.
    held_out : uint64 array of n_classes or None
        Rows whose hash is below their class's number have no weight.
    weight_exponent : int
        Weights are multiplied by 2**-weight_exponent.
    """

    seed: int | None = None
    held_out: NDArray[np.uint64] | None = None
    weight_exponent: int = 0


class HeldOutRows(NamedTuple):
    """Rows that a fit was not shown, in any order.

    Attributes
    ----------
    e : float32 array of rows x classes
        exp(F[i, r] - F[i, y_i]); what it says of a row's own class does not matter.
    labels : int64 array
        Class number of each.
    weight : float64 array
        Weight of each, times how often it counts.
    hashes : uint64 array
        Hash of each.
    """

    e: NDArray[np.float32]
    labels: NDArray[np.int64]
    weight: NDArray[np.float64]
    hashes: NDArray[np.uint64]

    def in_order(self) -> HeldOutRows:
        """Put the rows into an order that does not depend on where they came from.

        Rows of one class that have equal hashes are equal, and so have equal margins.
        """
        order = np.lexsort((self.weight, self.hashes, self.labels))
        return HeldOutRows(
            self.e[order], self.labels[order], self.weight[order], self.hashes[order]
        )
