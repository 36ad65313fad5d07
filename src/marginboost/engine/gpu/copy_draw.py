"""The copies of rows that a search sees, on a device, if rows count more than once."""

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

_THREADS = 256  # as in the kernels
_BLOCKS_A_PROCESSOR = 16


class CopyDraw:
    """The number of copies of each row in a tree's sample, and their direction.

    Parameters
    ----------
    device : Device
        Device of the rows.
    margins : RowMargins
        The direction, and the number of copies of each row that the fit sees.
    hashes : uint64 device array
        Hash of each row's first copy.
    copies : int32 device array
        Number of copies of each row, including those that are held out.
    bounds : uint64 array of n_classes
        Copies whose hash is below the bound of their class are held out.
    slots : Slots
        Positions of the classes.

    Attributes
    ----------
    drawn : int32 device array
        Number of copies of each row in the sample.
    direction : int32 device array of n_rows x cell
        The direction of the rows in the sample, which searches sum.
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
        self._draw = device.kernel("copy_draw", "draw_copies", LANES=slots.lanes)
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
