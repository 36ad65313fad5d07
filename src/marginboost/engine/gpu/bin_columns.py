"""The binned features on a device, and the division of a histogram's work among blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.gpu.device import Device

# Rows whose bins a thread loads at once, and a number of rows that keeps every column aligned.
PACK = 8
ALIGNMENT = 64

# Two blocks share a multiprocessor, and CUDA reserves a little of the memory.
BLOCKS_A_PROCESSOR = 2
_RESERVED_BYTES = 2048

# Blocks of a histogram kernel have this many threads.
HISTOGRAM_BLOCK = 512


class FeatureGroups(NamedTuple):
    """The division of a histogram's features among blocks.

    Attributes
    ----------
    groups : int32 array of n_groups x 2, on the device
        First feature and one past the last of each group, whose cells fit in shared memory together.
    n_groups : int
        At least 1; a single group may have no features.
    wide : int32 array of n_wide, on the device
        The other features, whose cells do not fit.
    n_wide : int
        May be 0.
    shared : int
        Bytes of shared memory that the largest group takes.
    """

    groups: Any
    n_groups: int
    wide: Any
    n_wide: int
    shared: int


class BinColumns:
    """The bins of all features, each padded to whole packs of rows.

    Parameters
    ----------
    device : Device
        Device of the bins.
    data : TrainingSet
        The rows.

    Attributes
    ----------
    bins : device array of n_features x stride, uint8 or uint16
        Rows beyond the last are 0.
    specs, plain_specs : int32 device arrays of (n_features + 1) x 2
        Each feature's first bin among those of all features, and the bin whose rows a histogram
        leaves out (-1: none); `specs` starts as a copy of `plain_specs`.
    """

    def __init__(self, device: Device, data: TrainingSet) -> None:
        self.device = device
        xp = device.xp
        source = data.binned.bins
        self.n_features, self.n_rows = (int(length) for length in source.shape)
        self.stride = max(ALIGNMENT, -(-self.n_rows // ALIGNMENT) * ALIGNMENT)
        self.n_packs = -(-self.n_rows // PACK)
        if self.stride == self.n_rows:
            self.bins = xp.ascontiguousarray(xp.asarray(source))
        else:
            self.bins = xp.zeros((self.n_features, self.stride), dtype=source.dtype)
            self.bins[:, : self.n_rows] = xp.asarray(source)
        self.width = self.bins.dtype.itemsize
        self.bytes = self.bins.reshape(-1).view(np.uint8)
        self.n_bins = np.asarray(data.binned.n_bins, dtype=np.int64)
        self.offsets = np.concatenate(([0], np.cumsum(self.n_bins)))
        self.total_bins = int(self.offsets[-1])
        if self.total_bins > np.iinfo(np.int32).max:
            raise ValueError(
                "A fit on a CUDA device needs fewer than 2**31 bins over all features; got "
                f"{self.total_bins}. Set max_bins, for example to 255."
            )
        self.plain_specs = device.put(self._specs(np.full(self.n_features, -1)))
        self.specs = self.plain_specs

    def leave_out(self, common: NDArray[np.int64]) -> None:
        """Set the bins that histograms leave out, one per feature."""
        self.specs = self.device.put(self._specs(common))

    def groups(self, cell_bytes: int, fixed_bytes: int) -> FeatureGroups:
        """Divide the features into groups that fit in shared memory.

        Parameters
        ----------
        cell_bytes : int
            Bytes per bin.
        fixed_bytes : int
            Other bytes per block.
        """
        room = self.device.shared_bytes // BLOCKS_A_PROCESSOR - _RESERVED_BYTES - fixed_bytes
        groups: list[list[int]] = []
        wide: list[int] = []
        left = most = 0
        for feature in range(self.n_features):
            size = int(self.n_bins[feature]) * cell_bytes
            if size > room:
                wide.append(feature)
                left = 0
                continue
            if size > left or not groups:
                groups.append([feature, feature])
                left = room
            groups[-1][1] = feature + 1
            left -= size
            most = max(most, room - left)
        put, n_groups = self.device.put, max(1, len(groups))
        return FeatureGroups(
            put(np.array(groups or [[0, 0]], dtype=np.int32)),
            n_groups,
            put(np.array(wide or [0], dtype=np.int32)),
            len(wide),
            most + fixed_bytes,
        )

    def blocks(self, n_parts: int, lanes: int = 1, tiles: int = 1) -> int:
        """Return the number of blocks that share the rows of `n_parts` groups or features.

        Parameters
        ----------
        n_parts : int
            Groups or features, each of which a block takes whole.
        lanes : int
            Threads per pack of rows.
        tiles : int
            Number of repetitions of all of this.

        Returns
        -------
        int
            A multiple of `n_parts`.
        """
        at_once = BLOCKS_A_PROCESSOR * self.device.n_processors
        # Few parts: all blocks run at once and end together. Many: enough to even out their lengths.
        waves = 1 if 8 * n_parts * tiles <= at_once else 4
        useful = -(-self.n_packs * lanes // HISTOGRAM_BLOCK)
        return n_parts * max(1, min(waves * at_once // (n_parts * tiles), useful))

    def _specs(self, common: NDArray[np.int64]) -> NDArray[np.int32]:
        specs = np.zeros((self.n_features + 1, 2), dtype=np.int32)
        specs[:, 0] = self.offsets
        specs[:-1, 1] = common
        return specs
