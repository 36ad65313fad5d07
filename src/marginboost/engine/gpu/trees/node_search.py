"""The search for the best splits of nodes, on a device: histograms, and their scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.feature_layout import FeatureLayout
from marginboost.engine.gpu.trees.tree_kernels import ADD_CHUNK, ADD_THREADS, DIVIDE_CHUNK

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.trees.row_bins import RowBins
    from marginboost.engine.gpu.trees.tree_book import TreeBook
    from marginboost.engine.trees.slots import Slots

__all__ = ["NodeSearch"]

_MOST_ADD_BLOCKS = 3  # per processor; limited by the kernel's registers
_SCAN_BYTES = 48 << 10
_MOST_SCAN_WARPS = 4
_MOST_THREADS = 1024
# Shared memory of a block that the system reserves.
_RESERVED_BYTES = 1 << 10
_NO_DEPTH = 1 << 30
# The largest count of a search; no side of a split can hold more rows.
_MOST_COUNT = 1 << 30


class NodeSearch:
    """Find the best splits of a batch's new nodes.

    The histogram of the smaller of two siblings is summed from its rows; that of the larger one is the
    difference to their parent's. That needs room for a histogram of every leaf of a tree. Without
    that room, both are summed from their rows, some pairs at a time.

    Parameters
    ----------
    device : Device
        Device of the rows and histograms.
    bins : RowBins
        The rows' bins.
    n_bins : int32 array
        Bins of each feature.
    slots : Slots
        Positions of the classes.
    lists, direction : device arrays
        The rows of the nodes, and what is summed over them.
    book : TreeBook
        The tree.
    has_copies : bool
        Whether some rows count more than once.
    pool_bytes : int
        Room for histograms.
    """

    def __init__(
        self,
        device: Device,
        bins: RowBins,
        n_bins: NDArray[np.int32],
        slots: Slots,
        lists: Any,
        direction: Any,
        book: TreeBook,
        *,
        has_copies: bool,
        pool_bytes: int,
    ) -> None:
        self._device, self._bins, self._n_bins, self._book = device, bins, n_bins, book
        self._cell = cell = slots.lanes
        self._rows = (lists, np.int64(bins.n_rows), direction)
        self._has_copies = np.int32(has_copies)
        self._pool_bytes = pool_bytes
        self._pool: Any = device.xp.zeros(0, dtype=np.int32)
        self._used = 0  # sums of the pool that are not zero
        self._layout: FeatureLayout | None = None
        self._mask: Any = device.put(np.zeros(1, dtype=np.uint8))
        self._has_mask = np.int32(0)
        lanes = {"LANES": slots.lanes}
        growth = {"DIVIDE_CHUNK": DIVIDE_CHUNK, "ADD_CHUNK": ADD_CHUNK} | lanes
        adding = {"ADD_CHUNK": ADD_CHUNK, "THREADS": ADD_THREADS} | lanes
        self._choose_nodes = device.kernel("tree_growth", "choose_nodes", **growth)
        self._take_cuts = device.kernel("tree_growth", "take_cuts", **growth)
        self._settle_nodes = device.kernel("tree_growth", "settle_nodes", **growth)
        self._plan_search = device.kernel("tree_growth", "plan_search", **growth)
        self._list_work = device.kernel("tree_growth", "list_work", **growth)
        self._add_rows = device.kernel(
            "node_histogram", "add_rows", BIN_BYTES=bins.bin_bytes, **adding
        )
        self._scan_nodes = device.kernel("node_scan", "scan_nodes", **lanes)
        warp_bytes = 2 * 32 * (cell + 1) * 4
        self._scan_warps = max(1, min(_MOST_SCAN_WARPS, _SCAN_BYTES // warp_bytes))
        self._scan_shared = self._scan_warps * warp_bytes

    def begin_tree(self, features: NDArray[np.int32]) -> None:
        """Lay out the features of a tree, and make their bins adjacent."""
        if self._layout is not None and np.array_equal(features, self._layout.features):
            return
        most = self._device.shared_bytes // 2 - _RESERVED_BYTES
        layout = FeatureLayout.of(
            features, self._n_bins[features], self._cell, self._bins.per_word, most
        )
        # The groups first: vectors of four, which must lie at multiples of 16 bytes.
        parts = (layout.groups.ravel(), layout.offsets, layout.begins, layout.features)
        there = self._device.put(np.concatenate(parts))
        ends = np.cumsum([len(part) for part in parts]).tolist()
        groups, offsets, begins, on_device = (
            there[end - len(part) : end] for end, part in zip(ends, parts, strict=True)
        )
        words, n_words = self._bins.words(features, on_device)
        self._layout = layout
        self._adding = (words, np.int32(n_words), offsets, groups, np.int32(len(layout.groups)))
        self._reading = (on_device, begins, np.int32(len(features)))
        self._scanning = (begins, np.int32(len(features)))
        fits = (self._device.shared_bytes + _RESERVED_BYTES) // (layout.shared + _RESERVED_BYTES)
        per_processor = max(1, min(_MOST_ADD_BLOCKS, fits))
        self._add_grid = per_processor * self._device.n_processors

    def begin_search(self, least_count: int, smoothing: float, max_leaves: int) -> None:
        """Set the rules of a tree, and make room for the histograms of its leaves.

        Parameters
        ----------
        least_count : int
            Rows that either side of a split must hold.
        smoothing : float
            In units of the mass.
        max_leaves : int
            Leaves that the tree may have.
        """
        assert self._layout is not None
        self._least = np.int32(min(least_count, _MOST_COUNT))
        self._smoothing = np.float32(smoothing)
        sums = self._layout.node_sums
        self._room = min(self._pool_bytes // (4 * sums), max_leaves)
        self.keeps = self._room >= max_leaves
        if self._room < 2:
            self._room = 2
            if 8 * sums > 2 * self._pool_bytes:
                raise MemoryError(
                    f"A tree's histograms need {8 * sums / 2**30:,.1f} GiB of GPU memory for two "
                    f"nodes, more than the {2 * self._pool_bytes / 2**30:,.1f} GiB that are free "
                    "for them. Lower max_bins or max_features."
                )
        self._make_pool(self._room * sums)
        self._n_slots = 0

    def _make_pool(self, n_sums: int) -> None:
        """Make room for histograms; all zeros."""
        if len(self._pool) < n_sums:
            self._pool = None
            # Leave some room: trees that draw other features need a little more or less.
            most = max(n_sums, min(n_sums + n_sums // 8, self._pool_bytes // 4))
            self._pool = self._device.xp.zeros(most, dtype=np.int32)
        elif self._used:
            self._device.clear(self._pool[: self._used])
        self._used = n_sums

    def note_slots(self, n_slots: int) -> None:
        """Record the number of histograms that a tree has used."""
        assert self._layout is not None
        if self.keeps:
            self._used = n_slots * self._layout.node_sums

    def choose(self, max_leaves: int, max_depth: int | None) -> None:
        """Begin a batch: the device chooses the nodes to divide."""
        book = self._book
        self._choose_nodes(
            1,
            _threads_for(max_leaves),
            book.totals,
            *self._reading,
            self._smoothing,
            np.int32(max_leaves),
            np.int32(_NO_DEPTH if max_depth is None else min(max_depth, _NO_DEPTH)),
            book.array,
            book.capacity,
            shared=12 * max_leaves,
        )

    def take(self, cuts: NDArray[np.int32]) -> None:
        """Begin a batch: (node, feature, bin, search) of the nodes to divide."""
        book = self._book
        n = len(cuts)
        there = self._device.put(cuts)
        self._take_cuts(1, _threads_for(n), there, np.int32(n), book.array, book.capacity)

    def place(self, n_pairs: int) -> None:
        """Record the rows of a batch's children, without a search."""
        self._plan(0, n_pairs, keeps=False, least=np.int32(_MOST_COUNT))

    def search(self, n_pairs: int) -> None:
        """Search the children of a batch of at most `n_pairs` pairs, or the root."""
        assert self._layout is not None
        if self.keeps:
            self._plan(0, n_pairs, keeps=True, least=self._least)
            self._add_and_scan(n_pairs)
            return
        at_once = self._room // 2
        for first in range(0, n_pairs, at_once):
            n = min(at_once, n_pairs - first)
            self._device.clear(self._pool[: 2 * n * self._layout.node_sums])
            self._plan(first, first + n, keeps=False, least=self._least)
            self._add_and_scan(n)

    def search_named(self, n_pairs: int, allowed: NDArray[np.bool_] | None = None) -> None:
        """Search the children of a batch that the host has chosen.

        Parameters
        ----------
        n_pairs : int
            Pairs of the batch.
        allowed : (pairs, features of the tree) array, optional
            The features to search for each pair; None: all.
        """
        # Without a histogram of the parent, both children need one.
        self._n_slots += 2 * n_pairs
        if self.keeps and self._n_slots > self._room:
            self.keeps = False
            self._book.forget_histograms()
        self._has_mask = np.int32(allowed is not None)
        if allowed is not None:
            self._mask = self._device.put(np.ascontiguousarray(allowed).view(np.uint8).ravel())
        self.search(n_pairs)
        self._has_mask = np.int32(0)

    def settle(self) -> None:
        """Record the splits found."""
        book = self._book
        self._settle_nodes(
            1, 128, book.totals, *self._reading, self._smoothing, book.array, book.capacity
        )

    def histograms(self, nodes: list[int]) -> NDArray[np.int32]:
        """Add up the rows of some nodes: (nodes, bins of the tree's features, lanes)."""
        assert self._layout is not None
        book, layout = self._book, self._layout
        out = self._device.xp.zeros((len(nodes), layout.node_sums), dtype=np.int32)
        there = self._device.put(np.array(nodes, dtype=np.int32))
        n = len(nodes)
        self._list_work(1, _threads_for(n), there, np.int32(n), book.array, book.capacity)
        self._add(out)
        return np.ascontiguousarray(self._device.fetch(out).reshape(n, -1, self._cell)[:, :-1])

    def _plan(self, first: int, end: int, *, keeps: bool, least: np.int32) -> None:
        book = self._book
        self._plan_search(
            1,
            _threads_for(end - first),
            np.int32(first),
            np.int32(end),
            np.int32(keeps),
            self._has_copies,
            least,
            book.array,
            book.capacity,
        )

    def _add(self, pool: Any) -> None:
        assert self._layout is not None
        book = self._book
        self._add_rows(
            self._add_grid,
            ADD_THREADS,
            *self._rows,
            *self._adding,
            pool,
            np.int64(self._layout.node_sums),
            book.array,
            book.capacity,
            shared=self._layout.shared,
        )

    def _add_and_scan(self, n_pairs: int) -> None:
        assert self._layout is not None
        book, warps = self._book, self._scan_warps
        if not len(self._layout.features):
            return
        self._add(self._pool)
        self._scan_nodes(
            (-(-len(self._layout.features) // warps), n_pairs),
            32 * warps,
            self._pool,
            np.int64(self._layout.node_sums),
            *self._scanning,
            self._least,
            self._smoothing,
            self._mask,
            self._has_mask,
            book.totals,
            book.array,
            book.capacity,
            shared=self._scan_shared,
        )


def _threads_for(n: int) -> int:
    """Return the number of threads of one block for `n` items, in whole warps."""
    return min(_MOST_THREADS, max(1, -(-n // 32)) * 32)
