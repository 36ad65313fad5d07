"""Classification trees: with -1/+1 leaves, or with leaves that name classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.weak.base import place
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.trees.growth import grow_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from marginboost.boosting.weak.base import WeakClassifier
    from marginboost.engine.stumps.host import HostStumpEngine


@dataclass(slots=True)
class SignTree:
    """A tree in flat lists; see `WeakClassifier`."""

    output: int
    feature: list[int]
    bin: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    leaf_label: list[int]
    gain: list[float]
    edge: int

    @property
    def leaf_value(self) -> list[float]:
        """What the leaves say: a class, or +1 for label 0 and -1 for label 1."""
        if self.output < 0:
            return [float(label) for label in self.leaf_label]
        return [-1.0 if label else 1.0 for label in self.leaf_label]


class SignTreeGrower:
    """Grows trees by CART's rule: each split minimises the weighted Gini impurity.

    Parameters
    ----------
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    max_depth : int
        Most splits between the root and a leaf.
    """

    def __init__(self, thresholds: Sequence[NDArray[np.float64]], max_depth: int) -> None:
        self._thresholds = thresholds
        self._max_depth = int(max_depth)  # may be any of NumPy's

    def grow(self, engine: HostStumpEngine, output: int) -> SignTree:
        """Grow a tree for an output of the direction, or (-1) for the classes, and place the rows."""
        grown = grow_from(engine.start_tree(output), engine.split, None, self._max_depth)
        masses = engine.finish_tree(grown.leaf_of_node)
        largest = masses.max(axis=1)
        # For classes, what is right; for -1/+1 leaves, what is right less what is wrong.
        edges = largest if output < 0 else 2 * largest - masses.sum(axis=1)
        feature, bin_, gain = grown.feature.tolist(), grown.bin.tolist(), grown.gain.tolist()
        total = sum(gain)
        return SignTree(
            output,
            feature,
            bin_,
            [float(self._thresholds[f][b]) for f, b in zip(feature, bin_, strict=True)],
            grown.left.tolist(),
            grown.right.tolist(),
            masses.argmax(axis=1).tolist(),
            [share / total if total > 0 else 1 / len(gain) for share in gain],
            int(edges.sum()),
        )


class TreeLearner:
    """A tree with -1/+1 leaves for the output that the best stump names.

    Labels are the signs of the output and weights its absolute values. By a criterion over all outputs
    the tree is grown for their sum, each output with the sign of its edge for the best stump.

    Parameters
    ----------
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    max_depth : int
        Most splits between the root and a leaf.
    """

    def __init__(self, thresholds: Sequence[NDArray[np.float64]], max_depth: int) -> None:
        self._stumps = StumpLearner(thresholds)
        self._grower = SignTreeGrower(thresholds, max_depth)

    def find(
        self, engine: HostStumpEngine, criterion: Criterion = Criterion.LARGEST
    ) -> WeakClassifier | None:
        """Grow the tree and put the engine's rows on its two sides."""
        stump = self._stumps.find(engine, criterion)
        if stump is None:
            return None
        if criterion != Criterion.LARGEST:
            engine.project(np.where(engine.edges() < 0, -1, 1).astype(np.int8))
        tree = self._grower.grow(engine, stump.output)
        if tree.feature:
            return tree
        place(engine, stump)
        return stump  # the output has no two signs to tell apart

    def find_each(self, engine: HostStumpEngine) -> Sequence[WeakClassifier] | None:
        """Grow a tree for every output."""
        stumps = self._stumps.find_each(engine)
        if stumps is None:
            return None
        trees = [self._grower.grow(engine, stump.output) for stump in stumps]
        return [tree if tree.feature else stump for tree, stump in zip(trees, stumps, strict=True)]


class ClassTreeLearner:
    """A tree whose leaves name classes, for weights that rows have as a whole.

    Parameters
    ----------
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    max_depth : int
        Most splits between the root and a leaf.
    """

    def __init__(self, thresholds: Sequence[NDArray[np.float64]], max_depth: int) -> None:
        self._grower = SignTreeGrower(thresholds, max_depth)

    def find(self, engine: HostStumpEngine) -> SignTree | None:
        """Grow the tree and put rows on side 1 where it names their class."""
        tree = self._grower.grow(engine, -1)
        return tree if tree.feature else None
