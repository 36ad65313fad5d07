"""The search for the splits of a vector-leaf tree's new nodes, with subtracted histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.requests import total
from marginboost.engine.cluster.search import (
    Arrays,
    HistogramCache,
    MissingHistogramError,
    Search,
    of_owners,
)

if TYPE_CHECKING:
    from marginboost.engine.cluster.shard_state import ShardState


class NodePlan(NamedTuple):
    """How to compute the histograms of some nodes.

    Attributes
    ----------
    filled : list of int
        Nodes to sum from the rows.
    derived : list of (int, int, int)
        A parent, its child that is filled, and its other child, which is the difference.
    cached : list of int
        Those of the nodes above that owners cache, because they may be divided later.
    dropped : list of int
        Nodes to remove from the cache.
    """

    filled: list[int]
    derived: list[tuple[int, int, int]]
    cached: list[int]
    dropped: list[int]

    @property
    def scanned(self) -> list[int]:
        """All nodes, in the order of the scan."""
        return self.filled + [other for _, _, other in self.derived]


class NodeScan(NamedTuple):
    """The result of a node's scan; see `_native.scan_nodes`."""

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
        Identifies the tree and its owners; histograms cached for another one are invalid.
    features : int32 array
        The tree's features.
    plan : NodePlan
        The nodes, and how to compute their histograms.
    least_count, smoothing
        As for `_native.scan_nodes`.
    allowed : (nodes, features) array or None
        The features that each node of the scan may split; None: all.
    """

    tree: object
    features: NDArray[np.int32]
    plan: NodePlan
    least_count: int
    smoothing: float
    allowed: NDArray[np.bool_] | None = None
    axis = 1
    usual_nodes = 4

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Select the tree's features."""
        return n_bins[self.features]

    def fill(self, states: Sequence[ShardState]) -> Arrays:
        """Sum the direction over the rows of the nodes to fill."""
        filled = self.plan.filled
        return [total([state.engine.node_histograms(filled) for state in states])]

    def scan(
        self, sums: Arrays, n_bins: NDArray[np.int32], cache: HistogramCache, begin: int = 0
    ) -> Any:
        """Subtract, cache, and scan."""
        filled: Any = sums[0]
        of_node = cache.of_tree(self.tree)
        plan = self.plan
        for node in plan.dropped:
            of_node.pop(node, None)
        here = dict(zip(plan.filled, filled, strict=True))
        if any(parent not in of_node for parent, _, _ in plan.derived):
            raise MissingHistogramError
        others = [of_node.pop(parent) - here[child] for parent, child, _ in plan.derived]
        hist = np.concatenate([filled, np.stack(others)]) if others else filled
        # Copies, so that the whole batch can be freed.
        sums_of = zip(plan.scanned, hist, strict=True)
        of_node.update({node: sums.copy() for node, sums in sums_of if node in plan.cached})
        mask = None
        if self.allowed is not None:
            ours = np.ascontiguousarray(self.allowed[:, begin : begin + len(n_bins)])
            mask = ours.view(np.uint8)
        return _native.scan_nodes(hist, n_bins, self.least_count, self.smoothing, mask)

    def join(self, values: list[Any], bounds: list[int]) -> list[NodeScan]:
        """Take the largest score of every node; ties go to the first feature."""
        best: list[NodeScan] = []
        for value, begin in of_owners(values, bounds):
            scans = [
                NodeScan(*fields) for fields in zip(*map(np.ndarray.tolist, value), strict=True)
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
