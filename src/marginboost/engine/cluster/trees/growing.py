"""A vector-leaf tree that grows on a cluster: which histograms are summed, and which subtracted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.trees.node_search import NodePlan, NodeScan, NodeSearch
from marginboost.engine.trees.base import NodeSplit

if TYPE_CHECKING:
    from marginboost.engine.cluster.conversation import Conversation, Homes

# Bytes of histograms that the owner of some features keeps of one tree.
_MOST_KEPT = 1 << 29


class _Family(NamedTuple):
    """New nodes of one parent, with how many rows they hold; None: that is not known."""

    parent: int
    children: list[int]
    counts: list[int] | None
    wanted: list[int]  # of the children, those of which more than that is to be known


class GrowingTree:
    """What the client knows of a tree.

    Parameters
    ----------
    number : int
        Tells it from other trees of the fit.
    features : int32 array
        Its features.
    lanes : int
        Lanes of a tile.
    least_count : int
        Rows that either side of a split must hold.
    smoothing : float
        See `TreeEngine.start_tree`.
    node_bytes : int
        Bytes of a node's histograms.
    """

    def __init__(
        self,
        number: int,
        features: NDArray[np.int32],
        lanes: int,
        least_count: int,
        smoothing: float,
        node_bytes: int,
    ) -> None:
        self._number = number
        self._features = features
        self._lanes = lanes
        self._least_count = least_count
        self._smoothing = smoothing
        self._node_bytes = node_bytes
        self._n_nodes = 1
        self._scans: dict[int, NodeScan] = {}
        self._kept: set[int] = set()  # nodes whose histograms the owners of features have
        self._over: list[int] = []  # kept, but divided since
        self._homes: tuple[int, ...] = ()
        self._retries = 0

    def start(self, talk: Conversation) -> NodeSplit:
        """Search the root."""
        self._search(talk, [_Family(-1, [0], None, [0])])
        return _node_split(self._scans[0], True)

    def divide(
        self,
        talk: Conversation,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
    ) -> list[NodeSplit]:
        """Search the children of nodes, after a command that moves their rows."""
        families = []
        for node, feature, bin_, wanted in zip(nodes, features, bins, search, strict=True):
            families.append(self._family(node, (feature, bin_), wanted))
            self._n_nodes += 2
        searched = [family for family in families if family.wanted]
        if searched:
            self._search(talk, searched)
        self._over += [node for node in nodes if node in self._kept]
        self._kept.difference_update(nodes)
        found = []
        for family, wanted in zip(families, search, strict=True):
            for place, node in enumerate(family.children):
                scan = self._scans.get(node)
                if scan is None:
                    found.append(NodeSplit(-1, 0, (family.counts or [])[place], 0.0))
                else:
                    found.append(_node_split(scan, wanted))
        return found

    def _family(self, parent: int, split: tuple[int, int], search: bool) -> _Family:
        children = [self._n_nodes, self._n_nodes + 1]
        scan = self._scans.get(parent)
        if scan is None or scan[:2] != split:  # a split that no search has found
            return _Family(parent, children, None, children)
        counts = [scan.n_left, scan.n_rows - scan.n_left]
        wanted = [
            node
            for node, count in zip(children, counts, strict=True)
            if search and count >= 2 * self._least_count
        ]
        return _Family(parent, children, counts, wanted)

    def _search(self, talk: Conversation, families: list[_Family]) -> None:
        """Ask for the best splits of all nodes that are wanted, in one message."""
        trials = 0
        plan = NodePlan([], [], [], [])

        def make(homes: Homes) -> NodeSearch:
            nonlocal trials, plan
            if trials or homes.key != self._homes:
                # Owners are others, or do not know how far the last trial came.
                self._retries += 1
                self._kept, self._over, self._homes = set(), [], homes.key
            trials += 1
            plan = self._plan(families, len(homes.shards))
            return NodeSearch(
                (self._number, self._retries),
                self._features,
                plan,
                self._lanes,
                self._least_count,
                self._smoothing,
            )

        scans = talk.ask(make)
        self._scans.update(zip(plan.scanned, scans, strict=True))
        self._kept.update(plan.kept)
        self._over = []

    def _plan(self, families: list[_Family], n_owners: int) -> NodePlan:
        filled: list[int] = []
        derived: list[tuple[int, int, int]] = []
        for parent, children, counts, wanted in families:
            if counts is None or parent not in self._kept:
                filled += wanted
                continue
            small, large = children if counts[0] <= counts[1] else reversed(children)
            filled.append(small)
            if large in wanted:
                derived.append((parent, small, large))
        room = _MOST_KEPT * n_owners // self._node_bytes - len(self._kept)
        wanted_nodes = [node for family in families for node in family.wanted]
        return NodePlan(filled, derived, wanted_nodes[: max(0, room)], self._over)


def _node_split(scan: NodeScan, search: bool) -> NodeSplit:
    """Return what a search says of a node: a split is worth something where it adds to the score."""
    if not search or scan.feature < 0 or not scan.score > scan.here:
        return NodeSplit(-1, 0, scan.n_rows, 0.0)
    return NodeSplit(scan.feature, scan.bin, scan.n_rows, scan.score - scan.here)
