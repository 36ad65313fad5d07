"""The engine for vector-leaf trees on a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.copy_draw import CopyDraw
from marginboost.engine.gpu.rows import to_device
from marginboost.engine.gpu.trees.node_search import NodeSearch
from marginboost.engine.gpu.trees.row_bins import RowBins
from marginboost.engine.gpu.trees.row_lists import RowLists
from marginboost.engine.gpu.trees.row_margins import RowMargins
from marginboost.engine.gpu.trees.tree_book import State, TreeBook
from marginboost.engine.gpu.trees.tree_kernels import compile_tree_kernels
from marginboost.engine.trees.base import NodeSplit
from marginboost.engine.trees.growth import grow_in_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marginboost.data.row_view import HeldOutRows, RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.trees.base import Floats, RowSample, Singles
    from marginboost.engine.trees.growth import GrownTree, GrowthRules
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

__all__ = ["GpuTreeEngine"]

# Up to so many leaves the device chooses the nodes to divide, which it does in one block.
MOST_CHOSEN_THERE = 4096
# Number of histograms to make room for if the host chooses the nodes, and has set no number.
_FEW_LEAVES = 256


class GpuTreeEngine:
    """See `TreeEngine` and `PartialTreeEngine`.

    A tree grows without the host: batches are launched ahead, as many as the last tree took, and the
    tree is fetched at the end. The rows that searches see are kept as lists by node; rows walk to their
    leaves once, when the tree is done.

    Parameters
    ----------
    device : Device
        Where the rows are to be.
    pool_bytes : int or None
        Room for the histograms of nodes; None: a quarter of what is left of the device's memory.
    """

    name = "cuda"

    def __init__(self, device: Device, pool_bytes: int | None = None) -> None:
        self._device = device
        self._pool_bytes = pool_bytes
        self._n_batches: int | None = None  # of the last tree
        self._room_for = _FEW_LEAVES

    def load(self, data: TrainingSet, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows."""
        for name in ("_data", "_bins", "_margins", "_copies", "_lists", "_search"):
            self.__dict__.pop(name, None)  # a second fit must not hold two
        device = self._device
        rows = to_device(device, data)
        compile_tree_kernels(device, rows.binned.bins.dtype.itemsize, loss, slots)
        seen = rows.seen(view)
        has_copies = rows.multiplicity is not None
        self._data, self._view, self._held_out = rows, view, seen.held_out_rows
        self._bins = RowBins(device, rows.binned.bins)
        self._margins = RowMargins(
            device,
            rows.class_offsets,
            seen.weight,
            seen.multiplicity,
            loss,
            slots,
            self._bins.bin_bytes,
        )
        draws_copies = has_copies and seen.hashes is not None
        self._copies = (
            CopyDraw(device, self._margins, seen.hashes, seen.copies, seen.bounds, slots)
            if draws_copies
            else None
        )
        self._lists = RowLists(
            device, self._bins, self._margins, seen.hashes, has_copies, self._copies
        )
        self._book = TreeBook(device, slots.lanes)
        pool_bytes = self._pool_bytes
        self._search = NodeSearch(
            device,
            self._bins,
            rows.binned.n_bins,
            slots,
            self._lists.lists,
            self._margins.direction if self._copies is None else self._copies.direction,
            self._book,
            has_copies=has_copies,
            pool_bytes=device.free_bytes() // 4 if pool_bytes is None else pool_bytes,
        )

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins, then form the new direction."""
        return self._margins.advance(up, down, signs, exponent, mass_exponent)

    def begin_tree(self, features: NDArray[np.int32], sample: RowSample) -> None:
        """Start a tree with no search."""
        self._search.begin_tree(features)
        self._lists.restart(self._book, sample)
        self._n_nodes = 1

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree."""
        self.begin_tree(features, sample)
        self._search.begin_search(least_count, smoothing, self._room_for)
        self._search.search_named(1)
        return self._found(0)[0]

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes."""
        first = self._n_nodes
        self._divide(nodes, features, bins, search)
        self._search.search_named(len(nodes), allowed)
        return self._found(first)

    def move_rows(self, nodes: list[int], features: list[int], bins: list[int]) -> None:
        """Divide nodes with no search."""
        self._divide(nodes, features, bins, [False] * len(nodes))
        self._search.place(len(nodes))

    def node_histograms(
        self, nodes: list[int], out: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Sum the direction of the sampled rows of some nodes by feature and bin."""
        return self._search.histograms(nodes)

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree."""
        least_count, smoothing, max_leaves, max_depth = rules
        if max_leaves > MOST_CHOSEN_THERE or interactions is not None:
            self._room_for = 2 * max_leaves
            return grow_in_batches(self, features, sample, rules, interactions)
        search = self._search
        self._book.reserve(2 * max_leaves)
        self.begin_tree(features, sample)
        search.begin_search(least_count, smoothing, max_leaves)
        search.search(1)
        bounds = _pairs_of_batches(max_leaves)
        wanted = _least_batches(max_leaves) if self._n_batches is None else self._n_batches
        while True:
            for number, n_pairs in enumerate(bounds, start=1):
                search.choose(max_leaves, max_depth)
                self._lists.divide(self._book)
                search.search(n_pairs)
                if number >= wanted:
                    break
            search.settle()
            head = self._book.head()
            if not head.is_open(max_leaves):
                break
            wanted = 2  # two more, then check again
        self._n_nodes = len(head.feature)
        self._n_batches = int(head.state[State.N_BATCHES])
        search.note_slots(int(head.state[State.N_SLOTS]))
        return head.grown_tree()

    def finish_tree(self, leaf_of_node: NDArray[np.int32], exponent: int) -> tuple[Floats, Floats]:
        """End the tree and sum the weights of its leaves."""
        return self._margins.leaf_sums(self._bins, self._book.cuts, leaf_of_node, exponent)

    def held_out(self) -> HeldOutRows:
        """Return the margins of the rows that the view holds out."""
        return self._data.describe_held_out(self._view, self._margins.exponentials(self._held_out))

    def state(self) -> tuple[Singles, NDArray[np.int32]]:
        """Return copies of e and the direction, for inspection."""
        return self._margins.state()

    def _divide(
        self, nodes: list[int], features: list[int], bins: list[int], search: list[bool]
    ) -> None:
        self._book.reserve(self._n_nodes + 2 * len(nodes))
        cuts = np.array([nodes, features, bins, search], dtype=np.int32).T
        self._search.take(np.ascontiguousarray(cuts))
        self._lists.divide(self._book)
        self._n_nodes += 2 * len(nodes)

    def _found(self, first: int) -> list[NodeSplit]:
        """Read the splits of the nodes from `first` on."""
        self._search.settle()
        head = self._book.head()
        columns = (head.feature, head.bin, head.counts, head.gain)
        return [NodeSplit(*row) for row in zip(*(c[first:].tolist() for c in columns), strict=True)]


def _least_batches(max_leaves: int) -> int:
    """Return the number of batches of a tree whose nodes can all be divided."""
    n_leaves = n_batches = 1
    while n_leaves < max_leaves:
        n_leaves += (n_leaves + 1) // 2
        n_batches += 1
    return n_batches - 1


def _pairs_of_batches(max_leaves: int) -> Iterator[int]:
    """Bound the number of nodes that each batch divides."""
    n_open = 1
    batch = 0
    while True:
        n_pairs = (n_open + 1) // 2
        # Every batch adds at least one leaf, until the tree is complete.
        yield max(1, min(n_pairs, max_leaves - 1 - batch))
        n_open = min(n_open + n_pairs, max_leaves)
        batch += 1
