"""A tree that the workers of a fit grow in step: all take the same decisions, by the same sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.requests import SharedRequest, total
from marginboost.engine.cluster.trees.node_sums import KeptSums, NodeSums
from marginboost.engine.trees.base import NodeSplit
from marginboost.engine.trees.growth import grow_in_batches

if TYPE_CHECKING:
    from marginboost.engine.cluster.peers import Peers
    from marginboost.engine.cluster.shard_state import ShardState
    from marginboost.engine.cluster.trees.node_sums import NodeScan
    from marginboost.engine.trees.base import Floats, PlannedTree, RowSample
    from marginboost.engine.trees.growth import GrownTree

# Bytes of one tree's sums that a worker may keep.
_KEPT_BYTES = 1 << 29


@dataclass(frozen=True, eq=False)
class SearchNodes(SharedRequest):
    """Find the best splits of nodes, by the sums of their own rows.

    Attributes
    ----------
    features, least_count, smoothing
        As for `TreeEngine.start_tree`.
    nodes : list of int
        The nodes.
    allowed : (nodes, features) array or None
        The features that each node may split; None: all.
    by_owner : bool
        See `NodeSums`.
    """

    features: NDArray[np.int32]
    least_count: int
    smoothing: float
    nodes: list[int]
    allowed: NDArray[np.bool_] | None
    by_owner: bool

    def evaluate(
        self, states: Sequence[ShardState], peers: Peers, bounds: list[int]
    ) -> list[NodeSplit]:
        """Sum and scan."""
        rules = self.least_count, self.smoothing
        sums = NodeSums(states, peers, self.features, *rules, self.by_owner)
        kept = KeptSums(peers.scratch, _KEPT_BYTES)
        parts = sums.parts(self.nodes)
        places = kept.add(self.nodes, parts[0].shape[1:])
        return [scan.split() for scan in sums.search(parts, kept, places, [], self.allowed)]

    def join(self, values: list[list[NodeSplit]], bounds: list[int]) -> list[NodeSplit]:
        """Take what all workers found."""
        return values[0]


@dataclass(frozen=True, eq=False)
class GrowTree(SharedRequest):
    """Grow a whole tree, and sum the weights of its leaves.

    Attributes
    ----------
    plan : PlannedTree
        The tree.
    by_owner : bool
        See `NodeSums`.
    """

    plan: PlannedTree
    by_owner: bool
    starts_anew = True

    def evaluate(
        self, states: Sequence[ShardState], peers: Peers, bounds: list[int]
    ) -> tuple[GrownTree | None, tuple[Floats, Floats]]:
        """Grow the tree in step with all workers; the first one returns it."""
        features, sample, rules, interactions, exponent = self.plan
        growing = GrowingTree(states, peers, self.by_owner)
        tree = grow_in_batches(growing, features, sample, rules, interactions)  # type: ignore[arg-type]
        sums: Any = total([s.engine.finish_tree(tree.leaf_of_node, exponent) for s in states])
        for state in states:
            state.position += len(self.commands(tree))
        return None if peers.rank else tree, sums

    def commands(self, tree: GrownTree) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the commands by which a shard by itself gets to where this request leaves it."""
        return [
            ("divide_rows", (tree, self.plan.features, self.plan.sample)),
            ("finish_tree", (tree.leaf_of_node, self.plan.exponent)),
        ]

    def join(
        self, values: list[tuple[GrownTree, tuple[Floats, Floats]]], bounds: list[int]
    ) -> tuple[GrownTree, tuple[Floats, Floats]]:
        """Take the tree, and add up the sums."""
        return values[0][0], total([sums for _, sums in values])


class GrowingTree:
    """`start_tree` and `split` of a `TreeEngine`, for splits that its searches found.

    Of two siblings the one with fewer rows is summed, and the other one is the difference.

    Parameters
    ----------
    states : sequence of ShardState
        The worker's shards.
    peers : Peers
        All workers.
    by_owner : bool
        See `NodeSums`.
    """

    def __init__(self, states: Sequence[ShardState], peers: Peers, by_owner: bool) -> None:
        self._states, self._peers, self._by_owner = states, peers, by_owner
        self._scans: dict[int, NodeScan] = {}
        self._kept = KeptSums(peers.scratch, _KEPT_BYTES)
        self._n_nodes = 1

    def start_tree(
        self, features: NDArray[np.int32], sample: RowSample, least_count: int, smoothing: float
    ) -> NodeSplit:
        """Start a tree."""
        for state in self._states:
            state.engine.begin_tree(features, sample)
        self._least_count = least_count
        self._sums = NodeSums(
            self._states, self._peers, features, least_count, smoothing, self._by_owner
        )
        self._search([], [0], {0}, None)
        return self._scans[0].split()

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes."""
        for state in self._states:
            state.engine.move_rows(nodes, features, bins)
        found: list[NodeSplit] = []
        wanted: list[int] = []
        derived: list[tuple[int, int, int]] = []
        others: list[int] = []
        masks: dict[int, NDArray[np.bool_]] = {}
        for j, (parent, searched) in enumerate(zip(nodes, search, strict=True)):
            left, right = self._n_nodes, self._n_nodes + 1
            self._n_nodes += 2
            scan = self._scans[parent]
            counts = {left: scan.n_left, right: scan.n_rows - scan.n_left}
            found += [NodeSplit(-1, 0, count, 0.0) for count in counts.values()]
            here = [node for node in counts if searched and counts[node] >= 2 * self._least_count]
            small, large = (left, right) if counts[left] <= counts[right] else (right, left)
            if large in here and parent in self._kept:
                derived.append((parent, small, large))
            else:
                others += here
            wanted += here
            if allowed is not None:
                masks.update({left: allowed[j], right: allowed[j]})
        first = self._n_nodes - 2 * len(nodes)
        if wanted:
            self._search(derived, others, set(wanted), masks or None)
            for node in wanted:
                found[node - first] = self._scans[node].split()
        self._kept.drop(nodes)
        return found

    def _search(
        self,
        derived: list[tuple[int, int, int]],
        others: list[int],
        wanted: set[int],
        masks: dict[int, NDArray[np.bool_]] | None,
    ) -> None:
        """Find the best splits of nodes.

        Parameters
        ----------
        derived : list of (int, int, int)
            A parent, its child to sum from the rows, and its other child, which is the difference.
        others : list of int
            More nodes to sum from the rows.
        wanted : set of int
            The nodes that may be divided.
        masks : dict or None
            The features that the nodes may split; None: all.
        """
        parents, small, large = map(list, zip(*derived, strict=True)) if derived else ([], [], [])
        summed = small + others
        scanned = summed + large
        allowed = None if masks is None else np.stack([masks[node] for node in scanned])
        parts = self._sums.parts(summed)
        places = self._kept.add(summed, parts[0].shape[1:])
        rests = self._kept.places(parents)
        self._scans.update(
            zip(scanned, self._sums.search(parts, self._kept, places, rests, allowed), strict=True)
        )
        self._kept.rename(parents, large)
        self._kept.drop([node for node in scanned if node not in wanted])
