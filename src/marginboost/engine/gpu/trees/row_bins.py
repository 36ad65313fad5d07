"""Bins by row on a device, for walking, dividing and summing rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device

__all__ = ["RowBins"]

_THREADS = 256
_BLOCKS_A_PROCESSOR = 16


class RowBins:
    """The bins of each row, and those of a tree's features, in adjacent places.

    Parameters
    ----------
    device : Device
        Device of the bins.
    bins : uint8 or uint16 device array of n_features x n_rows
        The bins by feature.

    Attributes
    ----------
    bins : device array of n_rows x stride
        Padded to whole words of four bytes.
    stride : int
        Number of bins per row, with the padding.
    per_word : int
        Number of bins per word.
    """

    def __init__(self, device: Device, bins: Any) -> None:
        xp = device.xp
        self.n_features, self.n_rows = map(int, bins.shape)
        bin_bytes = int(bins.dtype.itemsize)
        self.per_word = 4 // bin_bytes
        self.stride = -(-self.n_features // self.per_word) * self.per_word
        self.bins = xp.empty((self.n_rows, self.stride), dtype=bins.dtype)
        self._xp = xp
        self._grid = _BLOCKS_A_PROCESSOR * device.n_processors
        self._gather = device.kernel("row_bins", "gather_features", BIN_BYTES=bin_bytes)
        device.kernel("row_bins", "transpose_bins", BIN_BYTES=bin_bytes)(
            self._grid,
            _THREADS,
            bins,
            np.int64(self.n_rows),
            np.int32(self.n_features),
            self.bins.view(np.uint32),
            np.int32(self.stride // self.per_word),
        )
        self._gathered: Any = xp.empty(0, dtype=np.uint32)

    @property
    def bin_bytes(self) -> int:
        """Bytes of a bin."""
        return 4 // self.per_word

    def words(self, features: NDArray[np.int32], on_device: Any) -> tuple[Any, int]:
        """Copy the bins of some features to adjacent places.

        Parameters
        ----------
        features : int32 array
            The features, ascending.
        on_device : device array
            The same.

        Returns
        -------
        words : uint32 device array
            One row after the other; valid until the next call.
        n_words : int
            Number of words per row.
        """
        if len(features) == self.n_features:  # all of them, as they are
            return self.bins.view(np.uint32), self.stride // self.per_word
        n_words = -(-len(features) // self.per_word)
        size = self.n_rows * n_words
        if len(self._gathered) < size:
            self._gathered = None
            self._gathered = self._xp.empty(size, dtype=np.uint32)
        self._gather(
            self._grid,
            _THREADS,
            self.bins,
            np.int64(self.stride),
            np.int64(self.n_rows),
            on_device,
            np.int32(len(features)),
            self._gathered,
            np.int32(n_words),
        )
        return self._gathered, n_words
