"""Trees whose leaves each carry a row of coefficients, grown best node first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from marginboost.engine.vector_base import NodeSplit, RowSample, VectorEngine


@dataclass(slots=True)
class VectorTree:
    """A tree in flat lists: internal nodes in the order in which they were made.

    Attributes
    ----------
    feature, threshold, left, right : list
        As in `Ensemble`: a child below 0 is the leaf ``~child``.
    gain : list of float
        What each internal node adds to the score, in the engine's units.
    leaf_of_node : list of int
        The leaf that each node of the engine has become; -1 where it was divided.
    counts : list of int
        Rows of each leaf that the search saw.
    """

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    leaf_of_node: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.counts)

    @property
    def leaf_value(self) -> list[float]:
        """What the leaves multiply their vectors by."""
        return [1.0] * self.n_leaves


@dataclass(frozen=True, slots=True)
class GrowthRules:
    """When a tree stops growing.

    Attributes
    ----------
    max_leaf_nodes : int
        Most leaves.
    max_depth : int or None
        Most splits between the root and a leaf; None: no limit.
    min_samples_leaf : int
        Least rows of a leaf.
    """

    max_leaf_nodes: int
    max_depth: int | None
    min_samples_leaf: int


class VectorTreeGrower:
    """Grows trees, in each step those nodes whose splits gain most.

    Best-first growth one node at a time would cost a message a leaf. Here the better half of the open
    nodes is divided at once: some log2(leaves) + 2 messages, and the new nodes of the last step, which
    no split can follow, are not searched at all.

    Parameters
    ----------
    thresholds : sequence of float64 arrays
        The thresholds between the bins of each feature.
    rules : GrowthRules
        When to stop.
    """

    def __init__(self, thresholds: Sequence[NDArray[np.float64]], rules: GrowthRules) -> None:
        self._thresholds = thresholds
        self._rules = rules

    def grow(
        self,
        engine: VectorEngine,
        features: NDArray[np.int32],
        sample: RowSample,
        smoothing: float,
    ) -> VectorTree:
        """Grow a tree; one leaf and no node where nothing is gained by a split."""
        rules = self._rules
        root = engine.start_tree(features, sample, rules.min_samples_leaf, smoothing)
        growing = _Growing(root)
        while growing.open and growing.n_leaves < rules.max_leaf_nodes:
            chosen = growing.choose(rules.max_leaf_nodes)
            full = growing.n_leaves + len(chosen) >= rules.max_leaf_nodes
            splits = [growing.nodes[node] for node in chosen]
            search = [not full and growing.may_deepen(node, rules.max_depth) for node in chosen]
            found = engine.split(
                chosen, [s.feature for s in splits], [s.bin for s in splits], search
            )
            growing.divide(chosen, found)
        return growing.finished(self._thresholds)


class _Growing:
    """A tree in the making."""

    def __init__(self, root: NodeSplit) -> None:
        self.nodes = [root]
        self.n_leaves = 1
        self.open = [0] if root.feature >= 0 else []
        self._depth = [0]
        self._divided: list[int] = []  # in order; their children are numbered two by two

    def choose(self, max_leaf_nodes: int) -> list[int]:
        """Take the better half of the open nodes, as far as there is room for their children."""
        self.open.sort(key=lambda node: (-self.nodes[node].gain, node))
        n = min((len(self.open) + 1) // 2, max_leaf_nodes - self.n_leaves)
        chosen, self.open = self.open[:n], self.open[n:]
        return chosen

    def may_deepen(self, node: int, max_depth: int | None) -> bool:
        """Tell whether children of a node may have children."""
        return max_depth is None or self._depth[node] + 2 <= max_depth

    def divide(self, chosen: list[int], found: list[NodeSplit]) -> None:
        """Note the children."""
        first = len(self.nodes)
        self._divided += chosen
        self.nodes += found
        self.n_leaves += len(chosen)
        for node in chosen:
            self._depth += [self._depth[node] + 1] * 2
        self.open += [first + j for j, split in enumerate(found) if split.feature >= 0]

    def finished(self, thresholds: Sequence[NDArray[np.float64]]) -> VectorTree:
        """Give leaves their numbers and return the tree."""
        tree = VectorTree()
        place = {node: number for number, node in enumerate(self._divided)}
        child: list[int] = []  # as the tree's lists name it
        for node, split in enumerate(self.nodes):
            if node in place:
                child.append(place[node])
                tree.leaf_of_node.append(-1)
            else:
                child.append(~tree.n_leaves)
                tree.leaf_of_node.append(tree.n_leaves)
                tree.counts.append(split.n_rows)
        for number, node in enumerate(self._divided):
            split = self.nodes[node]
            tree.feature.append(split.feature)
            tree.threshold.append(float(thresholds[split.feature][split.bin]))
            tree.gain.append(split.gain)
            tree.left.append(child[2 * number + 1])
            tree.right.append(child[2 * number + 2])
        return tree
