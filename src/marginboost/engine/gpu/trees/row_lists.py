"""The rows that a search sees, as lists by node on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marginboost.engine.gpu.trees.tree_kernels import DIVIDE_CHUNK

if TYPE_CHECKING:
    from typing import Any

    from marginboost.engine.gpu.copy_draw import CopyDraw
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.trees.row_bins import RowBins
    from marginboost.engine.gpu.trees.row_margins import RowMargins
    from marginboost.engine.gpu.trees.tree_book import TreeBook
    from marginboost.engine.trees.base import RowSample

__all__ = ["CHUNK", "RowLists"]

# As in the kernels.
_THREADS = 256
CHUNK = DIVIDE_CHUNK
_BLOCKS_A_PROCESSOR = 8


class RowLists:
    """Two alternating lists of rows; a node's rows are adjacent in one of them.

    Parameters
    ----------
    device : Device
        Device of the lists.
    bins : RowBins
        The rows' bins.
    margins : RowMargins
        The rows' weights and multiplicities.
    hashes : uint64 device array or None
        Hashes of the rows, if searches see samples.
    has_copies : bool
        Whether some rows count more than once.
    copies : CopyDraw or None
        Draws copies of rows that count more than once, if searches see samples.
    """

    def __init__(
        self,
        device: Device,
        bins: RowBins,
        margins: RowMargins,
        hashes: Any | None,
        has_copies: bool,
        copies: CopyDraw | None = None,
    ) -> None:
        xp, n = device.xp, bins.n_rows
        self.lists = xp.zeros((2, n), dtype=np.int32)
        self._n_rows = n
        self._weight, self._copies = margins.weight, copies
        self._multiplicity = margins.multiplicity if copies is None else copies.drawn
        self._has_hashes = np.int32(hashes is not None and copies is None)
        self._hashes = xp.zeros(1, dtype=np.uint64) if hashes is None else hashes
        constants = {"BIN_BYTES": bins.bin_bytes}
        self._begin_tree = device.kernel("row_partition", "begin_tree", **constants)
        self._select_rows = device.kernel("row_partition", "select_rows", **constants)
        self._divide_rows = device.kernel("row_partition", "divide_rows", **constants)
        self._n_chunks = max(1, -(-n // CHUNK))
        self._grid = min(_BLOCKS_A_PROCESSOR * device.n_processors, self._n_chunks)
        self._dividing = (
            bins.bins,
            np.int64(bins.stride),
            self._multiplicity,
            np.int32(has_copies),
            np.int64(n),
            self.lists,
        )

    def restart(self, book: TreeBook, sample: RowSample) -> None:
        """Begin a tree: the rows of a sample are those of node 0."""
        if self._copies is not None:
            self._copies.draw(sample)
        self._begin_tree(1, 32, book.array, book.capacity)
        self._select_rows(
            self._n_chunks,
            _THREADS,
            self._weight,
            self._multiplicity,
            self._hashes,
            self._has_hashes,
            np.uint64(sample.seed),
            np.uint64(sample.limit),
            np.int64(self._n_rows),
            self.lists,
            book.array,
            book.capacity,
        )

    def divide(self, book: TreeBook) -> None:
        """Divide the nodes of the current batch."""
        self._divide_rows(self._grid, _THREADS, *self._dividing, book.array, book.capacity)
