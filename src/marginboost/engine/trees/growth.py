"""Trees whose leaves each carry a row of coefficients, grown best node first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.interactions import ConstrainedSplits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marginboost.engine.trees.base import NodeSplit, RowSample, TreeEngine
    from marginboost.engine.trees.interactions import Interactions


class AnyBinnedTree(Protocol):
    """A tree over bins; children are numbered as in `GrownTree`."""

    feature: list[int]
    bin: list[int]
    left: list[int]
    right: list[int]


class GrownTree(NamedTuple):
    """A tree over bins, in flat arrays.

    Attributes
    ----------
    feature, bin, left, right : int32 array
        The divided nodes, in the order of their division; rows at or below the bin go to the left, and
        a child below 0 is the leaf ``~child``.
    gain : float64 array
        What each of them adds to the score, in units of the engine.
    leaf_of_node : int32 array
        The leaf of each node of the engine; -1 if it was divided.
    counts : int64 array
        Number of rows of each leaf that the search saw.
    """

    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: NDArray[np.float64]
    leaf_of_node: NDArray[np.int32]
    counts: NDArray[np.int64]


class Tree(NamedTuple):
    """A grown tree with thresholds that are real numbers; see `AnyTree`.

    Attributes
    ----------
    feature, bin, left, right, gain, leaf_of_node, counts : array
        As in `GrownTree`.
    threshold : float64 array
        Rows at or below it go to the left.
    leaf_value : float64 array
        The factors of the leaves' vectors, all 1.
    """

    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: NDArray[np.float64]
    leaf_of_node: NDArray[np.int32]
    counts: NDArray[np.int64]
    threshold: NDArray[np.float64]
    leaf_value: NDArray[np.float64]


class GrowthRules(NamedTuple):
    """The limits of a tree's growth.

    Attributes
    ----------
    min_samples_leaf : int
        Least number of rows of a leaf.
    smoothing : float
        Added to the mass of a side, in the engine's units; above 0.
    max_leaf_nodes : int
        Most leaves.
    max_depth : int or None
        Most splits between the root and a leaf; None: no limit.
    """

    min_samples_leaf: int
    smoothing: float
    max_leaf_nodes: int
    max_depth: int | None


def grow_in_batches(
    engine: TreeEngine,
    features: NDArray[np.int32],
    sample: RowSample,
    rules: GrowthRules,
    interactions: Interactions | None = None,
) -> GrownTree:
    """Grow a tree by an engine's `start_tree` and `split`; see `grow_from`."""
    root = engine.start_tree(features, sample, rules.min_samples_leaf, rules.smoothing)
    split: Callable[[list[int], list[int], list[int], list[bool]], list[NodeSplit]] = engine.split
    if interactions is not None:
        split = ConstrainedSplits(engine, features, interactions).split
    return grow_from(root, split, rules.max_leaf_nodes, rules.max_depth)


def grow_from(
    root: NodeSplit,
    split: Callable[[list[int], list[int], list[int], list[bool]], list[NodeSplit]],
    max_leaf_nodes: int | None,
    max_depth: int | None,
) -> GrownTree:
    """Grow a tree from its root, the best nodes first.

    Best-first growth one node at a time would cost a message per leaf. Here the better half of the open
    nodes is divided at once: some 2 * log2(leaves) messages, and the new nodes of the last step, which
    no split can follow, are not searched at all. If the number of leaves has no limit, no node competes
    with another, and all open nodes are divided at once.

    Parameters
    ----------
    root : NodeSplit
        The node of all rows.
    split : callable
        Divides nodes, as `TreeEngine.split` does.
    max_leaf_nodes : int or None
        Most leaves; None: no limit.
    max_depth : int or None
        Most splits between the root and a leaf; None: no limit.
    """
    growing = _Growing(root, max_leaf_nodes)
    while growing.open and not growing.is_full:
        chosen = growing.choose()
        splits = [growing.nodes[node] for node in chosen]
        search = [not growing.is_full and growing.may_deepen(node, max_depth) for node in chosen]
        found = split(chosen, [s.feature for s in splits], [s.bin for s in splits], search)
        growing.divide(chosen, found)
    return growing.finished()


def divide_again(
    engine: TreeEngine, tree: AnyBinnedTree, features: NDArray[np.int32], sample: RowSample
) -> GrownTree:
    """Divide an engine's rows by a tree that was grown before.

    Parameters
    ----------
    engine : TreeEngine
        Holds the rows.
    tree : AnyBinnedTree
        Its nodes are in the order of their division.
    features : int32 array
        The features that it splits, ascending; at least one.
    sample : RowSample
        The rows that its search saw.
    """
    engine.start_tree(features, sample, 1, 1.0)
    for nodes, cut_features, bins in divisions(tree):
        engine.split(nodes, cut_features, bins, [False] * len(nodes))
    n = len(tree.feature)
    children = _children(tree)
    leaf_of_node = [~child if child < 0 else -1 for child in children]
    return GrownTree(
        np.array(tree.feature, dtype=np.int32),
        np.array(tree.bin, dtype=np.int32),
        np.array(tree.left, dtype=np.int32),
        np.array(tree.right, dtype=np.int32),
        np.zeros(n),
        np.array([-1 if n else 0, *leaf_of_node], dtype=np.int32),
        np.zeros(n + 1, dtype=np.int64),
    )


def divisions(tree: AnyBinnedTree | GrownTree) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield the divided nodes with their features and bins, as many at once as there are already."""
    # The root is node 0, and the children of the j-th node that is divided 2 j + 1 and 2 j + 2.
    children = enumerate(_children(tree), start=1)
    node_of = {child: number for number, child in children if child >= 0} | {0: 0}
    done, n = 0, len(tree.feature)
    while done < n:
        end = done + 1
        while end < n and node_of[end] <= 2 * done:
            end += 1
        nodes = [node_of[number] for number in range(done, end)]
        yield nodes, [int(f) for f in tree.feature[done:end]], [int(b) for b in tree.bin[done:end]]
        done = end


def _children(tree: AnyBinnedTree | GrownTree) -> list[int]:
    """Return the children of all divided nodes, in the order of the engine's nodes."""
    return [int(child) for pair in zip(tree.left, tree.right, strict=True) for child in pair]


class _Growing:
    """A growing tree."""

    def __init__(self, root: NodeSplit, max_leaf_nodes: int | None) -> None:
        self.nodes = [root]
        self._most = max_leaf_nodes
        self._n_leaves = 1
        self.open = [0] if root.feature >= 0 else []
        self._depth = [0]
        self._divided: list[int] = []  # in order; their children are numbered two by two

    @property
    def is_full(self) -> bool:
        """Whether the tree has as many leaves as it may."""
        return self._most is not None and self._n_leaves >= self._most

    def choose(self) -> list[int]:
        """Choose the nodes to divide next, each of which makes a leaf more."""
        n = len(self.open)
        if self._most is not None:
            self.open.sort(key=lambda node: (-self.nodes[node].gain, node))
            n = min((n + 1) // 2, self._most - self._n_leaves)
        chosen, self.open = self.open[:n], self.open[n:]
        self._n_leaves += n
        return chosen

    def may_deepen(self, node: int, max_depth: int | None) -> bool:
        """Return whether children of a node may have children."""
        return max_depth is None or self._depth[node] + 2 <= max_depth

    def divide(self, chosen: list[int], found: list[NodeSplit]) -> None:
        """Record the children."""
        first = len(self.nodes)
        self._divided += chosen
        self.nodes += found
        for node in chosen:
            self._depth += [self._depth[node] + 1] * 2
        self.open += [first + j for j, split in enumerate(found) if split.feature >= 0]

    def finished(self) -> GrownTree:
        """Return the tree, with numbered leaves."""
        place = {node: number for number, node in enumerate(self._divided)}
        child: list[int] = []  # as the tree's lists name it
        leaf_of_node: list[int] = []
        counts: list[int] = []
        for node, split in enumerate(self.nodes):
            child.append(place.get(node, ~len(counts)))
            leaf_of_node.append(-1 if node in place else len(counts))
            if node not in place:
                counts.append(split.n_rows)
        splits = [self.nodes[node] for node in self._divided]
        n = len(splits)
        return GrownTree(
            np.array([split.feature for split in splits], dtype=np.int32),
            np.array([split.bin for split in splits], dtype=np.int32),
            np.array(child[1::2][:n], dtype=np.int32),
            np.array(child[2::2][:n], dtype=np.int32),
            np.array([split.gain for split in splits], dtype=np.float64),
            np.array(leaf_of_node, dtype=np.int32),
            np.array(counts, dtype=np.int64),
        )
