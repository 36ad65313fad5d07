"""A tree that splits one feature at every threshold: one leaf per bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BinTree"]


@dataclass(frozen=True, slots=True, eq=False)
class BinTree:
    """A tree for `EnsembleBuilder.append`, whose leaves are the bins of a feature, in order.

    Attributes
    ----------
    feature : int32 array
        The feature, once per split.
    threshold : float64 array
        The thresholds.
    left, right : int32 arrays
        Children, numbered as in `Ensemble`.
    leaf_value : float64 array
        Ones.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_value: NDArray[np.float64]

    @classmethod
    def of(cls, feature: int, cuts: NDArray[np.float64]) -> BinTree:
        """Split a feature at all of its thresholds, at least one, each time in the middle."""
        order: list[int] = []  # the threshold of each node
        left: list[int] = []
        right: list[int] = []
        # Thresholds first to last, and the child of a node that they are below.
        waiting = [(0, len(cuts), -1, left)]
        while waiting:
            first, last, parent, side = waiting.pop()
            node = len(order)
            if parent >= 0:
                side[parent] = node
            middle = (first + last) // 2
            order.append(middle)
            left.append(~middle)  # the bin below the threshold
            right.append(~(middle + 1))
            if middle + 1 < last:
                waiting.append((middle + 1, last, node, right))
            if first < middle:
                waiting.append((first, middle, node, left))
        return cls(
            np.full(len(order), feature, dtype=np.int32),
            np.asarray(cuts, dtype=np.float64)[order],
            np.array(left, dtype=np.int32),
            np.array(right, dtype=np.int32),
            np.ones(len(cuts) + 1),
        )
