"""Classification trees, grown a level at a time: with -1/+1 leaves, or with leaves that name classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.weak.base import place
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from marginboost.boosting.weak.base import WeakClassifier
    from marginboost.engine.stumps.base import StumpEngine


@dataclass(slots=True)
class SignTree:
    """A tree in flat lists; see `WeakClassifier`."""

    column: int
    feature: list[int] = field(default_factory=list)
    bin: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    leaf_label: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    edge: int = 0

    @property
    def names_classes(self) -> bool:
        """Whether labels are classes; otherwise 0 stands for +1, and 1 for -1."""
        return self.column < 0

    @property
    def leaf_value(self) -> list[float]:
        """What the leaves say."""
        if self.names_classes:
            return [float(label) for label in self.leaf_label]
        return [-1.0 if label else 1.0 for label in self.leaf_label]

    def add_leaf(self, masses: list[int]) -> int:
        """Add a leaf that says the label of largest mass, and return its child number."""
        label = masses.index(max(masses))
        self.leaf_label.append(label)
        # What is right less what is wrong for -1/+1 leaves; for classes, what is right.
        self.edge += masses[label] if self.names_classes else 2 * masses[label] - sum(masses)
        return -len(self.leaf_label)  # ~(number of the leaf)


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
        self._max_depth = max_depth

    def grow(self, engine: StumpEngine, column: int) -> SignTree:
        """Grow a tree for a column of the direction, or (-1) for the classes, and place the rows."""
        tree = SignTree(column)
        engine.start_tree(column)
        # Where the number of each open node must be written: (list of children, index in it).
        slots: list[tuple[list[int], int]] = [([0], 0)]
        depth = 0
        while slots:
            depth += 1
            left: list[int] = []
            right: list[int] = []
            opened: list[tuple[list[int], int]] = []
            for slot, row in zip(slots, engine.best_splits().tolist(), strict=True):
                node_left, node_right = self._split(tree, row, slot, depth, opened)
                left.append(node_left)
                right.append(node_right)
            engine.apply_splits(left, right)
            slots = opened
        if tree.names_classes:
            engine.finish_tree(tree.leaf_label)
        else:
            engine.finish_tree([1 - label for label in tree.leaf_label])
        total = sum(tree.gain)
        tree.gain = [gain / total if total > 0 else 1 / len(tree.gain) for gain in tree.gain]
        return tree

    def _split(
        self,
        tree: SignTree,
        row: list[int],
        slot: tuple[list[int], int],
        depth: int,
        opened: list[tuple[list[int], int]],
    ) -> tuple[int, int]:
        """Record one node; return where its rows go: nodes of the next level, or ~leaf."""
        children, number = slot
        feature, bin_, *both = row
        masses, left_masses = both[: len(both) // 2], both[len(both) // 2 :]
        if feature < 0:
            leaf = tree.add_leaf(masses)
            children[number] = leaf
            return leaf, leaf
        right_masses = [mass - left for mass, left in zip(masses, left_masses, strict=True)]
        node = len(tree.feature)
        children[number] = node
        tree.feature.append(feature)
        tree.bin.append(bin_)
        tree.threshold.append(float(self._thresholds[feature][bin_]))
        tree.gain.append(max(0.0, purity(left_masses) + purity(right_masses) - purity(masses)))
        if depth == self._max_depth:
            tree.left.append(tree.add_leaf(left_masses))
            tree.right.append(tree.add_leaf(right_masses))
            return tree.left[node], tree.right[node]
        tree.left.append(0)
        tree.right.append(0)
        opened.append((tree.left, node))
        opened.append((tree.right, node))
        return len(opened) - 2, len(opened) - 1


class TreeLearner:
    """A tree with -1/+1 leaves for the column that the best stump names.

    Labels are the signs of the column and weights its absolute values. By a criterion over all columns
    the tree is grown for their sum, each column with the sign of its edge for the best stump.

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
        self, engine: StumpEngine, criterion: Criterion = Criterion.LARGEST
    ) -> WeakClassifier | None:
        """Grow the tree and put the engine's rows on its two sides."""
        stump = self._stumps.find(engine, criterion)
        if stump is None:
            return None
        if criterion != Criterion.LARGEST:
            engine.project(np.where(engine.edges() < 0, -1, 1).astype(np.int8))
        tree = self._grower.grow(engine, stump.column)
        if tree.feature:
            return tree
        place(engine, stump)
        return stump  # the column has no two signs to tell apart

    def find_each(self, engine: StumpEngine) -> Sequence[WeakClassifier] | None:
        """Grow a tree for every column."""
        stumps = self._stumps.find_each(engine)
        if stumps is None:
            return None
        trees = [self._grower.grow(engine, stump.column) for stump in stumps]
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

    def find(self, engine: StumpEngine) -> SignTree | None:
        """Grow the tree and put rows on side 1 where it names their class."""
        tree = self._grower.grow(engine, -1)
        return tree if tree.feature else None


def purity(masses: list[int]) -> float:
    """Return the mass less its weighted Gini impurity: the sum of squares over the sum."""
    return sum(mass * mass for mass in masses) / sum(masses)
