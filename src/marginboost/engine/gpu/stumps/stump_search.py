"""Stumps: histograms of the direction, and the best thresholds in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.bin_columns import HISTOGRAM_BLOCK

if TYPE_CHECKING:
    from marginboost.engine.gpu.bin_columns import BinColumns

MOST_LANES = 16
_SCAN_BLOCK = 256


def lanes_for(n_outputs: int) -> int:
    """Return the number of adjacent outputs in a row of the direction."""
    return int(min(MOST_LANES, 1 << (n_outputs - 1).bit_length()))


class StumpSearch:
    """The search of a direction of one shape.

    Parameters
    ----------
    columns : BinColumns
        The features.
    n_outputs : int
        Number of outputs of the direction.

    Attributes
    ----------
    lanes, tiles : int
        A direction is an int32 array of tiles x stride x lanes.
    """

    def __init__(self, columns: BinColumns, n_outputs: int) -> None:
        device, xp = columns.device, columns.device.xp
        self._device, self._columns, self._n_outputs = device, columns, n_outputs
        self.lanes = lanes_for(n_outputs)
        self.tiles = -(-n_outputs // self.lanes)
        self._padded = self.lanes * self.tiles
        plan = columns.groups(4 * self.lanes, fixed_bytes=4 * self.lanes)
        self._plan = plan
        self._shared_kernel = self._kernel("stump_histogram", f"fill_shared_{columns.width}")
        self._global_kernel = self._kernel("stump_histogram", f"fill_global_{columns.width}")
        self._scan_kernel = self._kernel("stump_scan", "best_stump")
        self._shared_grid = (columns.blocks(plan.n_groups, self.lanes, self.tiles), self.tiles)
        self._global_grid = (
            columns.blocks(max(1, plan.n_wide), self.lanes, self.tiles),
            self.tiles,
        )
        self._shape = (np.int64(columns.n_packs), np.int64(columns.stride))
        self._counts = (np.int32(columns.n_features), np.int32(n_outputs))
        self._scan_counts = (*self._counts, np.int32(self._padded))
        # One is filled while the other is reset to zero.
        cells = (columns.total_bins + 1) * self._padded
        self._hist, self._next = (xp.zeros(cells, dtype=np.int32) for _ in range(2))
        self._scan_room = (
            xp.zeros(columns.total_bins, dtype=np.int64),
            xp.zeros(2 * columns.n_features, dtype=np.int64),
            xp.zeros(1, dtype=np.uint32),
        )

    def best(self, g: Any, criterion: int, answer: Any) -> None:
        """Write feature, bin, output and edge of the best stump into an int64 array on the device."""
        hist = self._fill(g, self._columns.specs)
        self._scan_kernel(
            self._columns.n_features,
            _SCAN_BLOCK,
            hist,
            self._columns.specs,
            *self._scan_counts,
            np.int32(criterion),
            *self._scan_room,
            answer,
        )

    def histograms(self, g: Any) -> NDArray[np.int32]:
        """Sum a direction by feature and bin: (bins of all features, outputs)."""
        hist = self._fill(g, self._columns.specs)
        self._kernel("stump_scan", "complete")(
            self._columns.n_features, _SCAN_BLOCK, hist, self._columns.specs, self._counts[0],
            np.int32(self._padded),
        )  # fmt: skip
        whole = self._device.fetch(hist).reshape(-1, self._padded)
        return np.ascontiguousarray(whole[:-1, : self._n_outputs])

    def find_common_bins(self) -> None:
        """Find the bin of each feature with most rows; this must be a search of one output."""
        columns, xp = self._columns, self._device.xp
        ones = xp.zeros(columns.stride, dtype=np.int32)
        ones[: columns.n_rows] = 1
        counts = self._device.fetch(self._fill(ones, columns.plain_specs))
        columns.leave_out(
            np.array([np.argmax(part) for part in np.split(counts[:-1], columns.offsets[1:-1])])
        )

    def _fill(self, g: Any, specs: Any) -> Any:
        """Sum the direction by bin, except the bins that the specs leave out."""
        plan, bins = self._plan, self._columns.bins
        hist, self._next = self._next, self._hist
        self._hist = hist
        self._shared_kernel(
            self._shared_grid, HISTOGRAM_BLOCK, g, bins, specs, plan.groups, *self._shape,
            np.int32(plan.n_groups), *self._counts, hist, self._next, shared=plan.shared,
        )  # fmt: skip
        if plan.n_wide:
            self._global_kernel(
                self._global_grid, HISTOGRAM_BLOCK, g, bins, specs, plan.wide, *self._shape,
                np.int32(plan.n_wide), self._counts[1], hist,
            )  # fmt: skip
        return hist

    def _kernel(self, file: str, name: str) -> Any:
        return self._device.kernel(file, name, LANES=self.lanes)
