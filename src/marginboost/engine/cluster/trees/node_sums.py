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
        self._shape: tuple[int, ...] | None = None  # of a node's sums over our rows
        self._n_sums = 0

    def parts(self, nodes: list[int]) -> list[Sums]:
        """Sum over the rows of some nodes; return the sums of each worker, of our features."""
        ours = self._sum_rows(nodes)
        if self._bounds is None:
            return self._peers.share(ours)
        return self._peers.exchange([np.ascontiguousarray(ours[:, bins]) for bins in self._slices])

    def _sum_rows(self, nodes: list[int]) -> Sums:
        """Sum over the rows of this worker.

        Parts may still be on their way when the next ones are summed, but not after those have come from
        all workers: so two buffers will do.
        """
        if len(self._states) > 1:
            return total([state.engine.node_histograms(nodes) for state in self._states])  # type: ignore[no-any-return]
        room = None
        if self._shape is not None:
            self._n_sums += 1
            name = f"rows {self._n_sums % 2}"
            room = self._peers.scratch.array(name, (len(nodes), *self._shape))
        sums: Sums = self._states[0].engine.node_histograms(nodes, room)
        self._shape = sums.shape[1:]
        return sums

    def search(
        self,
        parts: list[Sums],
        kept: KeptSums,
        places: list[int],
        rests: list[int],
        allowed: NDArray[np.bool_] | None,
    ) -> list[NodeScan]:
        """Add up the parts of nodes, and find the best split of each, and of some of their siblings.

        Parameters
        ----------
        parts : list of array
            Of the nodes, from all workers.
        kept : KeptSums
            Keeps the sums.
        places : list of int
            Where to keep those of the nodes.
        rests : list of int
            Where the parents of the first of them are kept, and then their siblings.
        allowed : (nodes and siblings, features) array or None
            The features that each may split; None: all.
        """
        mask = None
        if allowed is not None:
            mask = np.ascontiguousarray(allowed[:, self._ours]).view(np.uint8)
        found = None
        if len(self._n_bins):
            found = _native.search_parts(
                kept.sums,
                parts,
                np.array(places, dtype=np.int64),
                np.array(rests, dtype=np.int64),
                self._n_bins,
                *self._rules,
                mask,
            )
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
        Bytes that they may take from one search to the next.

    Attributes
    ----------
    sums : array of places x bins x lanes
        What is kept.
    """

    sums: Sums

    def __init__(self, scratch: Scratch, most_bytes: int) -> None:
        self._scratch, self._most_bytes = scratch, most_bytes
        self._place: dict[int, int] = {}
        self._free: list[int] = []
        self._n_places = 0

    def __contains__(self, node: int) -> bool:
        return node in self._place

    def places(self, nodes: list[int]) -> list[int]:
        """Return where nodes are kept."""
        return [self._place[node] for node in nodes]

    def add(self, nodes: list[int], shape: tuple[int, ...]) -> list[int]:
        """Give each node a place for sums of a shape; return the places."""
        if len(nodes) > len(self._free):
            self._make_places(len(nodes), shape)
        places = [self._free.pop() for _ in nodes]
        self._place.update(zip(nodes, places, strict=True))
        return places

    def rename(self, nodes: list[int], names: list[int]) -> None:
        """Let nodes leave their places to others."""
        for node, name in zip(nodes, names, strict=True):
            self._place[name] = self._place.pop(node)

    def drop(self, nodes: list[int]) -> None:
        """Forget nodes, those that are kept; and the last ones, where too many are kept."""
        self._free += [self._place.pop(node) for node in nodes if node in self._place]
        if self._n_places:
            most = self._most_bytes // max(self.sums[0].nbytes, 1)
            while len(self._place) > most:
                self._free.append(self._place.popitem()[1])

    def _make_places(self, n: int, shape: tuple[int, ...]) -> None:
        """Have places for so many nodes."""
        n_before, self._n_places = self._n_places, max(2 * self._n_places, self._n_places + n, 32)
        kept = self.sums if n_before else None
        self.sums = self._scratch.array("kept", (self._n_places, *shape))
        if kept is not None and not np.may_share_memory(kept, self.sums):
            self.sums[:n_before] = kept
        self._free += range(self._n_places - 1, n_before - 1, -1)
