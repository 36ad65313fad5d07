"""Trees with -1/+1 leaves, grown a level at a time for one class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marginboost.weak.stump import StumpLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from marginboost.engine.base import Engine
    from marginboost.weak.base import WeakClassifier


@dataclass(slots=True)
class Tree:
    """A tree in flat lists; see `WeakClassifier`."""

    column: int
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    leaf_value: list[float] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    edge: int = 0

    def add_leaf(self, positive: int, negative: int) -> int:
        """Add a leaf that says the sign of its mass, and return its child number."""
        self.leaf_value.append(1.0 if positive >= negative else -1.0)
        self.edge += abs(positive - negative)
        return -len(self.leaf_value)  # ~(number of the leaf)


class TreeLearner:
    """A classification tree for the class that the best stump names.

    Labels are the signs of the class's direction and weights its absolute values; splits minimise the
    weighted Gini impurity, as CART does.

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

    def find(self, engine: Engine) -> WeakClassifier | None:
        """Grow the tree and put the engine's rows on its two sides."""
        stump = StumpLearner(self._thresholds).find(engine)
        if stump is None:
            return None
        tree = self._grow(engine, stump.column)
        if not tree.feature:  # the class has no two signs to tell apart
            return stump
        total = sum(tree.gain)
        tree.gain = [gain / total if total > 0 else 1 / len(tree.gain) for gain in tree.gain]
        return tree

    def _grow(self, engine: Engine, column: int) -> Tree:
        tree = Tree(column)
        engine.start_tree(column)
        # Where the number of each open node must be written: (list of children, place in it).
        slots: list[tuple[list[int], int]] = [([0], 0)]
        depth = 0
        while slots:
            depth += 1
            left: list[int] = []
            right: list[int] = []
            opened: list[tuple[list[int], int]] = []
            for (children, place), row in zip(slots, engine.best_splits().tolist(), strict=True):
                node_left, node_right = self._split(tree, row, children, place, depth, opened)
                left.append(node_left)
                right.append(node_right)
            engine.apply_splits(left, right)
            slots = opened
        engine.finish_tree([1 if value > 0 else 0 for value in tree.leaf_value])
        return tree

    def _split(
        self,
        tree: Tree,
        row: list[int],
        children: list[int],
        place: int,
        depth: int,
        opened: list[tuple[list[int], int]],
    ) -> tuple[int, int]:
        """Record one node; return where its rows go: nodes of the next level, or ~leaf."""
        feature, bin_, positive, negative, left_positive, left_negative = row
        if feature < 0:
            leaf = tree.add_leaf(positive, negative)
            children[place] = leaf
            return leaf, leaf
        right_positive, right_negative = positive - left_positive, negative - left_negative
        node = len(tree.feature)
        children[place] = node
        tree.feature.append(feature)
        tree.threshold.append(float(self._thresholds[feature][bin_]))
        tree.gain.append(
            purity(left_positive, left_negative)
            + purity(right_positive, right_negative)
            - purity(positive, negative)
        )
        if depth == self._max_depth:
            tree.left.append(tree.add_leaf(left_positive, left_negative))
            tree.right.append(tree.add_leaf(right_positive, right_negative))
            return tree.left[node], tree.right[node]
        tree.left.append(0)
        tree.right.append(0)
        opened.append((tree.left, node))
        opened.append((tree.right, node))
        return len(opened) - 2, len(opened) - 1


def purity(positive: float, negative: float) -> float:
    """Return the mass less its weighted Gini impurity: (p^2 + n^2) / (p + n)."""
    return (positive * positive + negative * negative) / (positive + negative)
