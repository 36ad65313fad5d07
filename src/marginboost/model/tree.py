"""The protocol of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyTree"]

Integers = Sequence[int] | NDArray[np.int32]
Reals = Sequence[float] | NDArray[np.float64]


class AnyTree(Protocol):
    """A tree over real numbers; children are numbered as in `Ensemble`."""

    @property
    def feature(self) -> Integers:
        """Feature of each internal node; the root comes first, children after their parents."""
        ...

    @property
    def threshold(self) -> Reals:
        """Rows with x <= threshold go left."""
        ...

    @property
    def left(self) -> Integers:
        """Internal node, or ~leaf."""
        ...

    @property
    def right(self) -> Integers:
        """Internal node, or ~leaf."""
        ...

    @property
    def leaf_value(self) -> Reals:
        """The values of the leaves."""
        ...
