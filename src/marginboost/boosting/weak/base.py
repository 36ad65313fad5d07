"""What a weak classifier and its learner are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from marginboost.model.tree import AnyTree

if TYPE_CHECKING:
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.engine.stumps.criterion import Criterion


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
    def output(self) -> int:
        """The output that the classifier was chosen for."""
        ...

    @property
    def edge(self) -> int:
        """What it was chosen by: its edge or score, in fixed-point units; never negative."""
        ...


class WeakLearner(Protocol):
    """Finds the next weak classifier.

    The engine is a `StumpEngine`; a `HostStumpEngine` for trees, and for one classifier per output.
    """

    def find(self, engine: Any, criterion: Criterion = ...) -> WeakClassifier | None:
        """Find a weak classifier and put the engine's rows on its two sides.

        None where no feature can divide the rows.
        """
        ...

    def find_each(self, engine: Any) -> Sequence[WeakClassifier] | None:
        """Find a weak classifier for every output; rows stay where they are."""
        ...


def place(engine: StumpEngine, weak: WeakClassifier) -> None:
    """Put the engine's rows on the sides of a weak classifier with -1/+1 leaves."""
    engine.place_tree(
        list(weak.feature),
        list(weak.bin),
        list(weak.left),
        list(weak.right),
        [1 if value > 0 else 0 for value in weak.leaf_value],
    )
