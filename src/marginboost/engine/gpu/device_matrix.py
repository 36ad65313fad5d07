"""The numbers of X on a device, read in place by kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marginboost.engine.gpu.device import Device

__all__ = ["DeviceColumns", "DeviceMatrix"]

# Types of X in the order of their numbers in `kernels/column_keys.cuh`.
_TYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")

# As in the kernels.
_TILE = 256
_TILE_COLUMNS = 8

_BLOCKS_A_PROCESSOR = 8
# Thresholds of a block's columns that are read from shared memory, if they fit.
_MOST_SHARED = 4096


class DeviceMatrix:
    """A two-dimensional array of real numbers on a device.

    Parameters
    ----------
    device : Device
        Device of X.
    X : device array of shape (n, n_features)
        Of any type of real numbers; copied only if neither its rows nor its columns are contiguous, or
        if kernels do not know its type.

    Attributes
    ----------
    dtype : numpy.dtype
        Type of the numbers, as kernels read them.
    """

    def __init__(self, device: Device, X: Any) -> None:
        xp = device.xp
        if X.dtype.kind == "b":
            X = X.view(np.uint8)
        if X.dtype.str[1:] not in _TYPES:
            X = X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
        self._device, self.shape, self.dtype = device, X.shape, X.dtype
        self._by_row = not X.T.flags.c_contiguous or X.flags.c_contiguous
        # In the order of memory.
        self._values = xp.ascontiguousarray(X) if self._by_row else X.T
        self._constants = {"VALUE": _TYPES.index(X.dtype.str[1:])}

    def missing(self, weight: Any | None) -> NDArray[np.bool_]:
        """Return for each column whether a row of positive weight has NaN there."""
        device, n_columns = self._device, self.shape[1]
        if self.dtype.kind != "f":
            return np.zeros(n_columns, dtype=bool)
        found = device.put(np.zeros(n_columns, dtype=np.int32))
        self.kernel("find_missing")(
            _BLOCKS_A_PROCESSOR * device.n_processors,
            _TILE,
            self._values,
            np.int64(self._values.shape[0]),
            np.int64(self._values.shape[1]),
            np.int32(self._by_row),
            device.put(np.zeros(1)) if weight is None else weight,
            np.int32(weight is not None),
            found,
        )
        return device.fetch(found).astype(bool)

    def compile_ahead(self) -> None:
        """Begin to compile the kernels that read numbers of this type."""
        self._device.compile_ahead("column_values", **self._constants)

    def kernel(self, name: str, file: str = "column_values", **constants: int) -> Any:
        """Return a kernel that reads numbers of this type, or their keys."""
        return self._device.kernel(file, name, **self._constants, **constants)

    @property
    def compares_floats(self) -> bool:
        """Whether float32 holds every number of this type."""
        return self.dtype == np.float32 or (self.dtype.kind in "iu" and self.dtype.itemsize <= 2)

    @property
    def location(self) -> tuple[Any, np.int64, np.int64]:
        """The numbers, and the steps from row to row and from column to column."""
        step = np.int64(self._values.shape[1])
        return (
            (self._values, step, np.int64(1)) if self._by_row else (self._values, np.int64(1), step)
        )


class DeviceColumns(NamedTuple):
    """Ordered columns: columns of a matrix, with NaN replaced by a number.

    Attributes
    ----------
    device : Device
        Device of the matrix.
    matrix : DeviceMatrix
        The numbers.
    source : int32 array of n_columns
        The column of the matrix that each is.
    fill : float64 array of n_columns
        What NaN counts as.
    """

    device: Device
    matrix: DeviceMatrix
    source: NDArray[np.int32]
    fill: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.source)

    @property
    def key_type(self) -> type[np.unsignedinteger[Any]]:
        """The type of the keys: unsigned integers in the order of the values."""
        dtype = self.matrix.dtype
        return np.uint64 if dtype.itemsize == 8 else np.uint32

    def keys(self, order: Any | None, first: int, width: int, *, packed: bool = False) -> Any:
        """Return the keys of some columns, (width, rows).

        Parameters
        ----------
        order : int64 device array or None
            The rows; None: all, in their order.
        first, width : int
            The columns.
        packed : bool
            Whether the number of the column, from 0, is above the 32 bits of each key.
        """
        n_rows = self.matrix.shape[0] if order is None else len(order)
        dtype = np.uint64 if packed else self.key_type
        out = self.device.xp.empty((width, n_rows), dtype=dtype)
        self.matrix.kernel("load_packed_keys" if packed else "load_keys")(
            (max(1, -(-n_rows // _TILE)), -(-width // _TILE_COLUMNS)),
            _TILE,
            *self._selection(order),
            np.int64(n_rows),
            np.int32(first),
            np.int32(width),
            out,
        )
        return out

    def bins(self, order: Any, thresholds: Sequence[NDArray[np.float64]]) -> Any:
        """Return the number of thresholds below each value, (columns, rows)."""
        device = self.device
        sizes = [len(of_column) for of_column in thresholds]
        wide = max(sizes, default=0) > 255
        bins = device.xp.empty((self.n_columns, len(order)), dtype=np.uint16 if wide else np.uint8)
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        heads = offsets[::_TILE_COLUMNS]
        in_blocks = np.diff(heads, append=offsets[-1:])
        held = in_blocks[in_blocks <= _MOST_SHARED].max(initial=0)
        n_tiles = max(1, -(-len(order) // _TILE))
        self.matrix.kernel("bin_rows_2" if wide else "bin_rows_1")(
            (
                min(n_tiles, _BLOCKS_A_PROCESSOR * device.n_processors),
                -(-self.n_columns // _TILE_COLUMNS),
            ),
            _TILE,
            *self._selection(order),
            np.int64(len(order)),
            np.int32(self.n_columns),
            device.put(np.concatenate([*thresholds, [0.0]])),
            device.put(offsets),
            np.int32(held),
            bins,
            shared=8 * int(held),
        )
        return bins

    def _selection(self, order: Any | None) -> tuple[Any, ...]:
        put = self.device.put
        has_order = np.int32(order is not None)
        rows = put(np.zeros(1, dtype=np.int64)) if order is None else order
        return (*self.matrix.location, rows, has_order, put(self.source), put(self.fill))
