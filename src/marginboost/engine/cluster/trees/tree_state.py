"""The client's state of a vector-leaf tree: which histograms to sum, and which to subtract."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.trees.node_search import NodePlan, NodeScan, NodeSearch
from marginboost.engine.trees.base import NodeSplit

if TYPE_CHECKING:
    from marginboost.engine.cluster.session import Assignment, Session

# Bytes of one tree's histograms that an owner of features may cache.
_CACHE_BYTES = 1 << 29


class _Siblings(NamedTuple):
    """The new nodes of one parent, with their numbers of rows; None if those are not known."""

    parent: int
    children: list[int]
    counts: list[int] | None
    wanted: list[int]  # the children to search
    allowed: NDArray[np.bool_] | None = None  # the features that they may split


class TreeState:
    """A growing tree, as the client knows it.

    Parameters
    ----------
    number : int
        Distinguishes it from other trees of the fit.
    features : int32 array
        Its features.
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
        least_count: int,
        smoothing: float,
        node_bytes: int,
    ) -> None:
        self._number = number
        self._features = features
        self._least_count = least_count
        self._smoothing = smoothing
        self._node_bytes = node_bytes
        self._n_nodes = 1
        self._scans: dict[int, NodeScan] = {}
        self._cached: set[int] = set()  # nodes whose histograms the owners of features have
        self._divided: list[int] = []  # cached, but divided since
        self._assignment: tuple[int, ...] = ()
        self._retries = 0

    def start(self, session: Session) -> NodeSplit:
        """Search the root."""
        self._search(session, [_Siblings(-1, [0], None, [0])])
        return _node_split(self._scans[0], True)

    def divide(
        self,
        session: Session,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None,
    ) -> list[NodeSplit]:
        """Search the children of nodes, after the command that moves their rows."""
        siblings = []
        for j, (node, feature, bin_) in enumerate(zip(nodes, features, bins, strict=True)):
            pair = self._siblings(node, (feature, bin_), search[j])
            siblings.append(pair._replace(allowed=None if allowed is None else allowed[j]))
            self._n_nodes += 2
        searched = [pair for pair in siblings if pair.wanted]
        if searched:
            self._search(session, searched)
        self._divided += [node for node in nodes if node in self._cached]
        self._cached.difference_update(nodes)
        found = []
        for pair, wanted in zip(siblings, search, strict=True):
            for place, node in enumerate(pair.children):
                scan = self._scans.get(node)
                if scan is None:
                    found.append(NodeSplit(-1, 0, (pair.counts or [])[place], 0.0))
                else:
                    found.append(_node_split(scan, wanted))
        return found

    def _siblings(self, parent: int, split: tuple[int, int], search: bool) -> _Siblings:
        children = [self._n_nodes, self._n_nodes + 1]
        scan = self._scans.get(parent)
        if scan is None or scan[:2] != split:  # not the split that the search found
            return _Siblings(parent, children, None, children)
        counts = [scan.n_left, scan.n_rows - scan.n_left]
        wanted = [
            node
            for node, count in zip(children, counts, strict=True)
            if search and count >= 2 * self._least_count
        ]
        return _Siblings(parent, children, counts, wanted)

    def _search(self, session: Session, siblings: list[_Siblings]) -> None:
        """Find the best splits of all wanted nodes, in one message."""
        tries = 0
        plan = NodePlan([], [], [], [])

        def make(assignment: Assignment) -> NodeSearch:
            nonlocal tries, plan
            if tries or assignment.key != self._assignment:
                # The owners have changed, or their caches are unknown after a failed try.
                self._retries += 1
                self._cached, self._divided, self._assignment = set(), [], assignment.key
            tries += 1
            plan = self._plan(siblings, len(assignment.shards))
            return NodeSearch(
                (self._number, self._retries),
                self._features,
                plan,
                self._least_count,
                self._smoothing,
                _masks(plan, siblings),
            )

        scans = session.send(make)
        self._scans.update(zip(plan.scanned, scans, strict=True))
        self._cached.update(plan.cached)
        self._divided = []

    def _plan(self, siblings: list[_Siblings], n_owners: int) -> NodePlan:
        filled: list[int] = []
        derived: list[tuple[int, int, int]] = []
        for parent, children, counts, wanted, _ in siblings:
            if counts is None or parent not in self._cached:
                filled += wanted
                continue
            small, large = children if counts[0] <= counts[1] else reversed(children)
            filled.append(small)
            if large in wanted:
                derived.append((parent, small, large))
        room = _CACHE_BYTES * n_owners // self._node_bytes - len(self._cached)
        wanted_nodes = [node for pair in siblings for node in pair.wanted]
        return NodePlan(filled, derived, wanted_nodes[: max(0, room)], self._divided)


def _masks(plan: NodePlan, siblings: list[_Siblings]) -> NDArray[np.bool_] | None:
    """Return the features that each scanned node may split; None: all may split all."""
    of_node = {node: pair.allowed for pair in siblings for node in pair.children}
    masks = [of_node[node] for node in plan.scanned]
    found = [mask for mask in masks if mask is not None]
    return np.stack(found) if len(found) == len(masks) and found else None


def _node_split(scan: NodeScan, search: bool) -> NodeSplit:
    """Return the split that a search found, if it adds to the score."""
    if not search or scan.feature < 0 or not scan.score > scan.here:
        return NodeSplit(-1, 0, scan.n_rows, 0.0)
    return NodeSplit(scan.feature, scan.bin, scan.n_rows, scan.score - scan.here)
