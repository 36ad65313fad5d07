"""The operations of a stump engine that only the engines on the host have.

A single method needs each of them, or trees with -1/+1 leaves do. Nobody would run those on a GPU or a
cluster, where `MarginBoostClassifier` grows its trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from marginboost.engine.stumps.base import Floats, Integers, StumpEngine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from marginboost.engine.trees.base import NodeSplit


class HostStumpEngine(StumpEngine, Protocol):
    """A `StumpEngine` whose rows are in the memory of this process.

    A tree is grown as by a `TreeEngine`: see `marginboost.engine.trees.growth`.
    """

    def best_stumps(self) -> Integers:
        """Find the stump of largest |edge| for each output: (outputs, 3) of feature, bin, edge."""
        ...

    def advance_output(self, output: int, table: Floats) -> None:
        """Multiply `e[i, output]` by `table[s, y_i]`; the direction stays until the next advance."""
        ...

    def set_exponentials(self, e: Floats) -> None:
        """Replace all of e; the direction stays until the next advance."""
        ...

    def start_tree(self, output: int) -> NodeSplit:
        """Start a tree with all rows in node 0, and find that node's best split.

        Labels are the signs of an output of the direction (0: not negative, 1: negative) and masses its
        sizes. Output -1: labels are the classes and masses the sizes of output 0.

        A side of a split scores ``sum over labels of m**2 / sum over labels of m``, m the label's mass,
        which is the mass less its weighted Gini impurity. A node of one label has no split. Among
        equals the first feature, then the first bin wins.
        """
        ...

    def split(
        self, nodes: list[int], features: list[int], bins: list[int], search: list[bool]
    ) -> list[NodeSplit]:
        """Divide nodes; return the two new nodes of each, with their best splits if `search`."""
        ...

    def finish_tree(self, leaf_of_node: NDArray[np.int32]) -> Integers:
        """End the tree, and put the rows on the sides of its leaves.

        A leaf says the label of largest mass, the first one among equals. For label 0 its rows are on
        side 1, for label 1 on side 0; in a tree of classes, on side 1 if it names theirs.

        Parameters
        ----------
        leaf_of_node : int32 array
            The leaf of each node, or -1 if it was divided.

        Returns
        -------
        (leaves, labels) array
            The masses of the leaves.
        """
        ...
