"""The search of a vector-leaf tree's new nodes, with histograms that are got by subtraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.questions import total
from marginboost.engine.cluster.stumps.searches import Arrays, Kept, Search, UnkeptError, of_owners

if TYPE_CHECKING:
    from marginboost.engine.cluster.replica import Replica


class NodePlan(NamedTuple):
    """How the histograms of some nodes are got.

    Attributes
    ----------
    filled : list of int
        Nodes that are summed from the rows.
    derived : list of (int, int, int)
        A parent, the one of its children that is filled, and the other, which is the difference.
    kept : list of int
        Those of the nodes above that owners keep, because they may be divided later.
    dropped : list of int
        Nodes that need not be kept any more.
    """

    filled: list[int]
    derived: list[tuple[int, int, int]]
    kept: list[int]
    dropped: list[int]

    @property
    def scanned(self) -> list[int]:
        """All nodes, in the order in which they are scanned."""
        return self.filled + [other for _, _, other in self.derived]


class NodeScan(NamedTuple):
    """What a scan finds in a node; see `_native.scan_nodes`."""

    feature: int
    bin: int
    score: float
    here: float
    n_rows: int
    n_left: int


@dataclass(frozen=True, eq=False)
class NodeSearch(Search):
    """Find the best splits of nodes.

    Attributes
    ----------
    tree : object
        Names the tree and the owners; what was kept for another name is of no use.
    features : int32 array
        The tree's features.
    plan : NodePlan
        Which nodes, and how.
    lanes, least_count, smoothing
        As for `_native.scan_nodes`.
    """

    tree: object
    features: NDArray[np.int32]
    plan: NodePlan
    lanes: int
    least_count: int
    smoothing: float
    axis = 1

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search the tree's features."""
        return n_bins[self.features]

    def fill(self, replicas: Sequence[Replica]) -> Arrays:
        """Sum the direction of those nodes that are summed from the rows."""
        filled = self.plan.filled
        return [total([replica.engine.node_histograms(filled) for replica in replicas])]

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], kept: Kept) -> Any:
        """Subtract, note what is to be kept, and scan."""
        filled: Any = sums[0]
        of_node = kept.of_tree(self.tree)
        plan = self.plan
        for node in plan.dropped:
            of_node.pop(node, None)
        here = dict(zip(plan.filled, filled, strict=True))
        if any(parent not in of_node for parent, _, _ in plan.derived):
            raise UnkeptError
        others = [of_node.pop(parent) - here[child] for parent, child, _ in plan.derived]
        hist = np.concatenate([filled, np.stack(others)]) if others else filled
        # Copies, which do not keep the whole batch.
        sums_of = zip(plan.scanned, hist, strict=True)
        of_node.update({node: sums.copy() for node, sums in sums_of if node in plan.kept})
        return _native.scan_nodes(hist, n_bins, self.lanes, self.least_count, self.smoothing)

    def join(self, answers: list[Any], bounds: list[int]) -> list[NodeScan]:
        """Take the largest score of every node; among equals the first feature's."""
        best: list[NodeScan] = []
        for answer, begin in of_owners(answers, bounds):
            scans = [
                NodeScan(*values) for values in zip(*map(np.ndarray.tolist, answer), strict=True)
            ]
            named = [
                scan._replace(feature=int(self.features[begin + scan.feature]))
                if scan.feature >= 0
                else scan
                for scan in scans
            ]
            best = [
                theirs if theirs.score > ours.score else ours
                for ours, theirs in zip(best or named, named, strict=True)
            ]
        return best
