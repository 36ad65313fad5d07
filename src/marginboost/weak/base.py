"""What a weak classifier and its learner are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.engine.base import Engine
    from marginboost.weak.criterion import Criterion


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
        """What the leaves say."""
        ...


class WeakClassifier(AnyTree, Protocol):
    """A tree whose leaves say -1 or +1, or name a class by its number."""

    @property
    def bin(self) -> Sequence[int]:
        """Rows whose bin is at most this go left."""
        ...

    @property
    def gain(self) -> Sequence[float]:
        """Share of each internal node in what the tree gains; the shares add up to 1."""
        ...

    @property
    def column(self) -> int:
        """The column that the classifier was chosen for."""
        ...

    @property
    def edge(self) -> int:
        """What it was chosen by: its edge or score, in fixed-point units; never negative."""
        ...


class WeakLearner(Protocol):
    """Finds the next weak classifier."""

    def find(self, engine: Engine, criterion: Criterion = ...) -> WeakClassifier | None:
        """Find a weak classifier and put the engine's rows on its two sides.

        None where no feature can divide the rows.
        """
        ...

    def find_each(self, engine: Engine) -> Sequence[WeakClassifier] | None:
        """Find a weak classifier for every column; rows stay where they are."""
        ...


def place(engine: Engine, weak: WeakClassifier) -> None:
    """Put the engine's rows on the sides of a weak classifier with -1/+1 leaves."""
    engine.place_tree(
        list(weak.feature),
        list(weak.bin),
        list(weak.left),
        list(weak.right),
        [1 if value > 0 else 0 for value in weak.leaf_value],
    )
