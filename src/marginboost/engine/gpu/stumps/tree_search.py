"""Classification trees, one level at a time: the nodes of the rows, and the best splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marginboost.engine.gpu.bin_columns import HISTOGRAM_BLOCK, FeatureGroups

if TYPE_CHECKING:
    from marginboost.data.leaf_weight import LeafWeight
    from marginboost.engine.gpu.bin_columns import BinColumns
    from marginboost.engine.stumps.base import Floats, Integers

_BLOCK = 256

# Cells of the histogram that is filled at once: a quarter of a gigabyte.
SLAB_CELLS = 1 << 26
_MOST_NODES = 65535  # the limit of a grid's second dimension


class Slab(NamedTuple):
    """A range of open nodes and a range of features."""

    first_node: int
    n_nodes: int
    first_feature: int
    n_features: int
    n_bins: int


class TreeSearch:
    """The growing tree.

    Parameters
    ----------
    columns : BinColumns
        The features.
    classes : int32 device array of stride
        The classes of the rows.
    n_classes : int
        Number of classes.
    leaf_weight : LeafWeight or None
        Least weight of a leaf.
    slab_cells : int
        Cells of the histogram that is filled at once; the results do not depend on it.
    """

    def __init__(
        self,
        columns: BinColumns,
        classes: Any,
        n_classes: int,
        leaf_weight: LeafWeight | None,
        slab_cells: int,
    ) -> None:
        self._columns, self._classes, self._n_classes = columns, classes, n_classes
        self._slab_cells = slab_cells
        device, xp = columns.device, columns.device.xp
        self._device, self._xp = device, xp
        self._node, self._label, self._mass = (
            xp.zeros(columns.stride, dtype=np.int32) for _ in range(3)
        )
        self._none = xp.zeros(1, dtype=np.uint64)
        self._weighted = leaf_weight is not None
        self._weight = xp.zeros(columns.stride, dtype=np.int64)
        self._least = np.float64(0.0)
        if leaf_weight is not None:  # whole numbers, so nothing is lost
            self._weight[: columns.n_rows] = xp.asarray(leaf_weight.rows).astype(np.int64)
            self._least = np.float64(leaf_weight.least)
        width = columns.width
        self._shared_kernel = device.kernel("tree_histogram", f"fill_shared_{width}")
        self._global_kernel = device.kernel("tree_histogram", f"fill_global_{width}")
        self._rows = (np.int64(columns.n_rows), np.int64(columns.stride))
        self._grid = -(-columns.stride // _BLOCK)
        self._plans: dict[tuple[int, int, int, int], FeatureGroups] = {}
        self._hist = xp.zeros(0, dtype=np.uint32)
        self._heavy = self._none
        self._n_nodes = 0

    def start(self, g: Any, column_at: int, lanes: int, class_tree: bool) -> None:
        """Put all rows in node 0; labels and masses are those of a column of the direction.

        Parameters
        ----------
        g : int32 device array
            The direction.
        column_at : int
            Position of the column's first row.
        lanes : int
            Distance between its rows.
        class_tree : bool
            Whether labels are the rows' classes instead.
        """
        self._class_tree = np.int32(class_tree)
        self._n_labels = self._n_classes if class_tree else 2
        self._n_nodes = 1
        self._device.kernel("tree_rows", "start_tree")(
            self._grid, _BLOCK, g, np.int64(column_at), np.int32(lanes), self._classes,
            self._class_tree, *self._rows, self._node, self._label, self._mass,
        )  # fmt: skip

    def best_splits(self) -> Integers:
        """Find the best split of every open node."""
        masses, weights = self._totals()
        splits = self._xp.zeros((self._n_nodes, 2 + 2 * self._n_labels), dtype=np.int64)
        best_score = self._xp.zeros(self._n_nodes, dtype=np.float64)
        for slab in self._slabs():
            self._fill(slab, self._columns.specs)
            self._scan(slab, masses, weights, best_score, splits)
        self._splits: Integers = self._device.fetch(splits)
        return self._splits

    def apply_splits(self, left: Sequence[int], right: Sequence[int]) -> None:
        """Move the rows by the splits found last."""
        self.move_rows(self._splits[:, 0], self._splits[:, 1], left, right)

    def move_rows(
        self,
        features: Sequence[int] | Integers,
        bins: Sequence[int] | Integers,
        left: Sequence[int] | Integers,
        right: Sequence[int] | Integers,
    ) -> None:
        """Move rows of node q to left[q] or right[q]: nodes of the next level, or ~leaf."""
        moves = np.array([features, bins, left, right], dtype=np.int32)
        self._device.kernel("tree_rows", "move_rows")(
            self._grid, _BLOCK, self._columns.bytes, np.int32(self._columns.width), *self._rows,
            np.int32(moves.shape[1]), self._device.put(moves), self._node,
        )  # fmt: skip
        self._n_nodes = int(moves[2:].max(initial=-1)) + 1

    def finish(self, leaf_value: Sequence[int], side: Any) -> None:
        """Write the sides of the rows' leaves into a uint8 array on the device."""
        self._device.kernel("tree_rows", "finish_tree")(
            self._grid, _BLOCK, self._node, self._classes, self._class_tree, self._rows[0],
            self._device.put(np.array(leaf_value, dtype=np.int32)), side,
        )  # fmt: skip

    def histograms(self) -> tuple[Integers, Floats | None]:
        """Sum the masses by open node, bin and label, and the leaf weights by node and bin."""
        shape = (self._n_nodes, self._columns.total_bins)
        masses = np.zeros((*shape, self._n_labels), dtype=np.int64)
        weights = np.zeros(shape) if self._weighted else None
        for slab in self._slabs():
            self._fill(slab, self._columns.plain_specs)
            first = int(self._columns.offsets[slab.first_feature])
            where = (
                slice(slab.first_node, slab.first_node + slab.n_nodes),
                slice(first, first + slab.n_bins),
            )
            of_slab = (slab.n_nodes, slab.n_bins)
            cells = slab.n_nodes * slab.n_bins
            masses[where] = self._device.fetch(self._hist[: cells * self._n_labels]).reshape(
                (*of_slab, -1)
            )
            if weights is not None:
                weights[where] = self._device.fetch(self._heavy[:cells]).reshape(of_slab)
        return masses, weights

    def _slabs(self) -> Iterator[Slab]:
        """Divide open nodes and features so that a histogram stays within its bounds."""
        columns = self._columns
        widest = int(columns.n_bins.max()) * self._n_labels
        n_nodes = min(self._n_nodes, _MOST_NODES, max(1, self._slab_cells // widest))
        most_bins = self._slab_cells // (n_nodes * self._n_labels)
        for first_node in range(0, self._n_nodes, n_nodes):
            first = 0
            while first < columns.n_features:
                start = columns.offsets[first]
                last = int(np.searchsorted(columns.offsets, start + most_bins, side="right")) - 1
                last = max(last, first + 1)
                yield Slab(
                    first_node,
                    min(n_nodes, self._n_nodes - first_node),
                    first,
                    last - first,
                    int(columns.offsets[last] - start),
                )
                first = last

    def _totals(self) -> tuple[Any, Any]:
        """Sum masses by node and label, and the leaf weights by node."""
        masses = self._xp.zeros(self._n_nodes * self._n_labels, dtype=np.uint32)
        weights = self._xp.zeros(self._n_nodes, dtype=np.int64)
        shared = 8 * self._n_nodes + 4 * masses.size
        fits = shared <= self._device.shared_bytes // 2
        self._device.kernel("tree_histogram", "node_totals")(
            self._columns.blocks(1), HISTOGRAM_BLOCK, self._node, self._label, self._mass,
            self._weight, np.int32(self._weighted), self._rows[0], np.int32(self._n_nodes),
            np.int32(self._n_labels), np.int32(fits), masses, weights, shared=shared if fits else 0,
        )  # fmt: skip
        return masses, weights

    def _fill(self, slab: Slab, specs: Any) -> None:
        """Fill the histogram of a slab, except the bins that the specs leave out."""
        columns = self._columns
        cells = slab.n_nodes * slab.n_bins
        if self._hist.size < cells * self._n_labels:
            self._hist = self._xp.zeros(cells * self._n_labels, dtype=np.uint32)
        else:
            self._hist[: cells * self._n_labels].fill(0)
        plan = self._plan(slab)
        arguments = (
            np.int32(slab.first_node), np.int32(slab.n_nodes), np.int32(self._n_labels),
            np.int32(slab.first_feature), np.int32(slab.n_bins), self._hist,
        )  # fmt: skip
        rows = (self._node, self._label, self._mass, columns.bins, specs)
        shape = (np.int64(columns.n_packs), self._rows[1])
        if plan.shared:
            self._shared_kernel(
                columns.blocks(plan.n_groups), HISTOGRAM_BLOCK, *rows, plan.groups, *shape,
                np.int32(plan.n_groups), *arguments, shared=plan.shared,
            )  # fmt: skip
        if plan.n_wide:
            self._global_kernel(
                columns.blocks(plan.n_wide), HISTOGRAM_BLOCK, *rows, plan.wide, *shape,
                np.int32(plan.n_wide), *arguments,
            )  # fmt: skip
        if self._weighted:
            self._fill_weights(slab, specs)

    def _fill_weights(self, slab: Slab, specs: Any) -> None:
        columns = self._columns
        cells = slab.n_nodes * slab.n_bins
        self._heavy = self._xp.zeros(cells, dtype=np.uint64)
        self._device.kernel("tree_histogram", "fill_weights")(
            (slab.n_features, columns.blocks(1)), HISTOGRAM_BLOCK, self._node, self._weight,
            columns.bytes, np.int32(columns.width), specs, *self._rows, np.int32(slab.first_node),
            np.int32(slab.n_nodes), np.int32(slab.first_feature), np.int32(slab.n_bins), self._heavy,
        )  # fmt: skip

    def _plan(self, slab: Slab) -> FeatureGroups:
        key = (slab.first_feature, slab.n_features, slab.n_nodes, self._n_labels)
        if key not in self._plans:
            features = range(slab.first_feature, slab.first_feature + slab.n_features)
            self._plans[key] = self._columns.groups(features, 4 * slab.n_nodes * self._n_labels)
        return self._plans[key]

    def _scan(self, slab: Slab, masses: Any, weights: Any, best_score: Any, splits: Any) -> None:
        """Find the slab's best splits, and keep those that are better than earlier slabs'."""
        shape = (slab.n_nodes, slab.n_features)
        scores = self._xp.empty(shape, dtype=np.float64)
        places = self._xp.empty(shape, dtype=np.int32)
        nodes = (np.int32(slab.first_node), np.int32(self._n_labels))
        first, n_bins = np.int32(slab.first_feature), np.int32(slab.n_bins)
        self._device.kernel("tree_scan", "scan_splits")(
            (slab.n_features, slab.n_nodes), _BLOCK, self._hist, self._heavy,
            np.int32(self._weighted), self._least, masses, weights.view(np.uint64),
            self._columns.specs, *nodes, first, n_bins, scores, places,
        )  # fmt: skip
        self._device.kernel("tree_scan", "choose_splits")(
            slab.n_nodes, _BLOCK, self._hist, masses, scores, places, self._columns.specs, *nodes,
            first, np.int32(slab.n_features), n_bins, np.int32(slab.first_feature == 0), best_score,
            splits,
        )  # fmt: skip
