"""What a weak classifier and its learner are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from marginboost.engine.base import Engine


class WeakClassifier(Protocol):
    """A tree whose leaves say -1 or +1, with children numbered as in `model.Ensemble`."""

    @property
    def feature(self) -> Sequence[int]:
        """Feature of each internal node."""
        ...

    @property
    def threshold(self) -> Sequence[float]:
        """Rows with x <= threshold go left."""
        ...

    @property
    def left(self) -> Sequence[int]:
        """Internal node, or ~leaf."""
        ...

    @property
    def right(self) -> Sequence[int]:
        """Internal node, or ~leaf."""
        ...

    @property
    def leaf_value(self) -> Sequence[float]:
        """-1.0 or +1.0."""
        ...

    @property
    def gain(self) -> Sequence[float]:
        """Share of each internal node in what the tree gains; the shares add up to 1."""
        ...

    @property
    def column(self) -> int:
        """The class whose edge the classifier was chosen for."""
        ...

    @property
    def edge(self) -> int:
        """Its edge for that class, in the engine's fixed-point units; never negative."""
        ...


class WeakLearner(Protocol):
    """Finds the next weak classifier."""

    def find(self, engine: Engine) -> WeakClassifier | None:
        """Find a weak classifier and put the engine's rows on its two sides.

        None where no feature can divide the rows.
        """
        ...
