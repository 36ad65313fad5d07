"""The sums over all workers' rows by which a tree's nodes are searched, and the scan of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.ranges import balanced_bounds, bin_slices
from marginboost.engine.cluster.requests import total
from marginboost.engine.trees.base import NodeSplit

if TYPE_CHECKING:
    from marginboost.engine.cluster.peers import Peers, Scratch
    from marginboost.engine.cluster.shard_state import ShardState

Sums = NDArray[np.int32]  # nodes x bins x lanes


class NodeScan(NamedTuple):
    """The result of a node's scan; see `_native.scan_nodes`."""

    feature: int
    bin: int
    score: float
    here: float
    n_rows: int
    n_left: int

    def split(self) -> NodeSplit:
        """Return the best split, if it adds to the score."""
        if self.feature < 0 or not self.score > self.here:
            return NodeSplit(-1, 0, self.n_rows, 0.0)
        return NodeSplit(self.feature, self.bin, self.n_rows, self.score - self.here)


class NodeSums:
    """The sums of nodes: of all features on every worker, or of those that a worker owns.

    Whoever has all sums needs nobody to scan them, so that one exchange is enough. Owners have less to
    receive and to scan, but must tell each other what they found.

    Parameters
    ----------
    states : sequence of ShardState
        The worker's shards.
    peers : Peers
        All workers.
    features : int32 array
        The features of the tree.
    least_count : int
        Rows that either side of a split must hold.
    smoothing : float
        See `TreeEngine.start_tree`.
    by_owner : bool
        Whether workers own features.
    """

    def __init__(
        self,
        states: Sequence[ShardState],
        peers: Peers,
        features: NDArray[np.int32],
        least_count: int,
        smoothing: float,
        by_owner: bool,
    ) -> None:
        self._states, self._peers, self._features = states, peers, features
        self._rules = least_count, smoothing
        n_bins = states[0].data.binned.n_bins[features]
        self._bounds: list[int] | None = None
        self._ours = slice(0, len(n_bins))
        if by_owner and peers.count > 1:
            self._bounds = balanced_bounds(n_bins, peers.count)
            self._slices = bin_slices(n_bins, self._bounds)
            self._ours = slice(*self._bounds[peers.rank : peers.rank + 2])
        self._n_bins = n_bins[self._ours]

    def fill(self, nodes: list[int], n_more: int = 0) -> Sums:
        """Sum over the rows of some nodes, of all workers.

        Returns
        -------
        array
            Their sums, and room for those of some more nodes; the next call takes the memory again.
        """
        by_shard = [state.engine.node_histograms(nodes) for state in self._states]
        ours: Sums = by_shard[0] if len(by_shard) == 1 else total(by_shard)
        if self._bounds is None:
            parts = self._peers.share(ours)
        else:
            parts = self._peers.exchange(
                [np.ascontiguousarray(ours[:, bins]) for bins in self._slices]
            )
        n, *shape = parts[0].shape
        sums = self._peers.scratch.array("batch", (n + n_more, *shape))
        if len(parts) == 1:
            sums[:n] = parts[0]
        else:
            np.add(parts[0], parts[1], out=sums[:n])
        for part in parts[2:]:
            sums[:n] += part
        return sums

    def scan(self, sums: Sums, allowed: NDArray[np.bool_] | None) -> list[NodeScan]:
        """Find the best split of each node.

        Parameters
        ----------
        sums : array
            Of the nodes.
        allowed : (nodes, features) array or None
            The features that each node may split; None: all.
        """
        mask = None
        if allowed is not None:
            mask = np.ascontiguousarray(allowed[:, self._ours]).view(np.uint8)
        found = None
        if len(self._n_bins):
            found = _native.scan_nodes(sums, self._n_bins, *self._rules, mask)
        every = [found] if self._bounds is None else self._peers.share(found)
        best: list[NodeScan] = []
        for scans, begin in zip(every, self._bounds or [0], strict=False):
            if scans is not None:
                named = self._named(scans, begin)
                best = [
                    theirs if theirs.score > ours.score else ours  # ties go to the first feature
                    for ours, theirs in zip(best or named, named, strict=True)
                ]
        return best

    def _named(self, scans: Any, begin: int) -> list[NodeScan]:
        """Return scans with the names of their features."""
        feature, *rest = scans
        names = np.where(feature >= 0, self._features[begin:][feature], -1)
        columns = [names.tolist(), *map(np.ndarray.tolist, rest)]
        return [NodeScan(*fields) for fields in zip(*columns, strict=True)]


class KeptSums:
    """The sums of nodes that may be divided, by which a child's are found by subtraction.

    Parameters
    ----------
    scratch : Scratch
        Where they are kept.
    most_bytes : int
        Bytes that they may take.
    """

    def __init__(self, scratch: Scratch, most_bytes: int) -> None:
        self._scratch, self._most_bytes = scratch, most_bytes
        self._place: dict[int, int] = {}
        self._free: list[int] = []
        self._n_places = 0
        self._sums: Sums

    def __contains__(self, node: int) -> bool:
        return node in self._place

    def take(self, nodes: list[int], out: Sums) -> None:
        """Copy the sums of nodes."""
        places = [self._place[node] for node in nodes]
        np.take(self._sums, places, axis=0, out=out, mode="clip")

    def drop(self, nodes: list[int]) -> None:
        """Forget nodes, those that are kept."""
        self._free += [self._place.pop(node) for node in nodes if node in self._place]

    def keep(self, nodes: list[int], sums: Sums, rows: list[int]) -> None:
        """Keep the sums of nodes, as many as there is room for; `rows` tells where those are."""
        room = self._most_bytes // max(sums[0].nbytes, 1) - len(self._place)
        nodes, rows = nodes[: max(room, 0)], rows[: max(room, 0)]
        if not nodes:
            return
        self._make_places(len(nodes), sums.shape[1:])
        places = [self._free.pop() for _ in nodes]
        self._sums[places] = sums if len(rows) == len(sums) else sums[rows]
        self._place.update(zip(nodes, places, strict=True))

    def _make_places(self, n: int, shape: tuple[int, ...]) -> None:
        """Have places for so many nodes more."""
        if n <= len(self._free):
            return
        n_before, self._n_places = self._n_places, max(2 * self._n_places, self._n_places + n, 32)
        kept = self._sums[:n_before].copy() if n_before else None
        self._sums = self._scratch.array("kept", (self._n_places, *shape))
        if kept is not None:
            self._sums[:n_before] = kept
        self._free += range(self._n_places - 1, n_before - 1, -1)
