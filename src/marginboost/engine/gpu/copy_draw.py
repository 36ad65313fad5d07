"""Copies of rows that a search sees, where rows count more than once, on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.trees.row_margins import RowMargins
    from marginboost.engine.trees.base import RowSample
    from marginboost.engine.trees.slots import Slots

__all__ = ["CopyDraw"]

_THREADS = 256  # as the kernels have it
_BLOCKS_A_PROCESSOR = 16


class CopyDraw:
    """How many copies of each row a tree's sample holds, and so much of the direction.

    Parameters
    ----------
    device : Device
        Where the rows are.
    margins : RowMargins
        The direction, and how many copies of each row the fit sees.
    hashes : uint64 device array
        Of each row's first copy.
    copies : int32 device array
        How many copies each row has, those that are held out included.
    bounds : uint64 array of n_classes
        Copies whose hash is below their class's number are held out.
    slots : Slots
        Where the classes lie.

    Attributes
    ----------
    drawn : int32 device array
        Copies of each row in the sample.
    direction : int32 device array of n_rows x cell
        What searches sum of the rows that have any.
    """

    def __init__(
        self,
        device: Device,
        margins: RowMargins,
        hashes: Any,
        copies: Any,
        bounds: NDArray[np.uint64],
        slots: Slots,
    ) -> None:
        xp = device.xp
        self.drawn = xp.zeros(len(hashes), dtype=np.int32)
        self.direction = xp.zeros_like(margins.direction)
        self._margins = margins
        self._rows = (hashes, copies, margins.labels, device.put(bounds))
        self._n_rows = np.int64(len(hashes))
        lanes = {"LANES": slots.lanes, "FOLDS": slots.folds}
        self._draw = device.kernel("copy_draw", "draw_copies", **lanes)
        self._grid = _BLOCKS_A_PROCESSOR * device.n_processors

    def draw(self, sample: RowSample) -> None:
        """Draw the copies of a tree."""
        self._draw(
            self._grid,
            _THREADS,
            *self._rows,
            self._margins.multiplicity,
            self._margins.direction,
            np.uint64(sample.seed),
            np.uint64(sample.limit),
            self._n_rows,
            self.drawn,
            self.direction,
        )
