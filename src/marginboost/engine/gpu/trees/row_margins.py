"""The margins of the rows of a fit on a device, and their sums by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.row_steps import constant, row_labels
from marginboost.engine.gpu.trees.tree_kernels import loss_constants
from marginboost.engine.trees.base import LOSS_BITS

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.trees.row_bins import RowBins
    from marginboost.engine.trees.base import Floats, Singles
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

__all__ = ["RowMargins"]


_ADVANCE_THREADS = 128  # as in the kernel
_THREADS = 256
# Rows of a block that walks rows to their leaves (4096 at most), and sums that it can hold.
_PLACED_ROWS = 1024
_PLACED_SUMS = 4096
# Shared memory of a block that sums weights by leaf, if one class fits in it.
_SUM_BYTES = 48 << 10
_SUM_BLOCKS_A_PROCESSOR = 4


class RowMargins:
    """e, the direction, and every row's leaf.

    Parameters
    ----------
    device : Device
        Device of the arrays.
    class_offsets : int64 array of n_classes + 1
        First row of each class, and the number of rows.
    weight : float32 device array or None
        Weight of each row; None: 1.
    multiplicity : int32 device array or None
        Multiplicity of each row; None: 1.
    loss : Loss
        Loss of the margins.
    slots : Slots
        Positions of the classes.
    bin_bytes : int
        Bytes of a bin.

    Attributes
    ----------
    direction : int32 device array of n_rows x cell
        What searches sum.
    weight : float32 device array
        Weight of each row.
    multiplicity : int32 device array
        Multiplicity of each row.
    labels : int32 device array
        Class number of each row.
    """

    def __init__(
        self,
        device: Device,
        class_offsets: NDArray[np.int64],
        weight: Any | None,
        multiplicity: Any | None,
        loss: Loss,
        slots: Slots,
        bin_bytes: int,
    ) -> None:
        xp = device.xp
        self._device, self._xp = device, xp
        self._n_rows = n = int(class_offsets[-1])
        self._k = k = slots.n_classes
        self.labels = row_labels(device, class_offsets)
        self.weight = constant(device, np.float32(1), n) if weight is None else weight
        self.multiplicity = (
            constant(device, np.int32(1), n) if multiplicity is None else multiplicity
        )
        self._e = xp.empty((k, n), dtype=np.float32)
        self.direction = xp.zeros((n, slots.lanes), dtype=np.int32)
        self._mass = xp.zeros(n, dtype=np.float32)
        self._leaf = xp.zeros(n, dtype=np.int32)
        # Rows that err, and their losses, over all steps.
        self._totals = xp.zeros(2, dtype=np.uint64)
        self._totals_before = np.zeros(2, dtype=np.uint64)
        pairs = loss.pair_weights
        # Where all pairs count the same, the kernels read none of it.
        self._pair_weights = device.put(np.ones((1, 1), np.float32) if pairs is None else pairs)
        kind = loss_constants(loss)
        lanes = {"LANES": slots.lanes, **kind}
        self._advance = device.kernel("row_margins", "advance", **lanes)
        sums = {"BIN_BYTES": bin_bytes, **kind}
        self._place_rows = device.kernel("leaf_sums", "place_rows", **sums)
        self._sum_leaves = device.kernel("leaf_sums", "sum_leaves", **sums)
        restart = device.kernel("row_margins", "restart", **lanes)
        restart(16 * device.n_processors, _THREADS, self._e, self.labels, np.int64(n), np.int32(k))

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins by the leaves' factors, then form the direction; see `TreeEngine`."""
        n_leaves, k = up.shape
        # The leaves of a class are adjacent, so that the look-ups of a warp are close together.
        factors = np.empty(2 * k * n_leaves + k, dtype=np.float32)
        factors[: k * n_leaves].reshape(k, n_leaves)[:] = up.T
        factors[k * n_leaves : -k].reshape(k, n_leaves)[:] = down.T
        factors[-k:] = signs
        there = self._device.put(factors)
        self._advance(
            max(1, -(-self._n_rows // _ADVANCE_THREADS)),
            _ADVANCE_THREADS,
            self._e,
            self.direction,
            self._mass,
            self._leaf,
            self.labels,
            self.weight,
            self.multiplicity,
            there[: k * n_leaves],
            there[k * n_leaves : 2 * k * n_leaves],
            there[2 * k * n_leaves :],
            self._pair_weights,
            np.int32(n_leaves),
            np.int64(self._n_rows),
            np.int32(k),
            np.float32(2.0**exponent),
            np.float32(2.0**mass_exponent),
            np.float64(2.0 ** (mass_exponent + LOSS_BITS)),
            self._totals,
        )
        # The device only adds, so that nothing has to be reset to zero.
        totals = self._device.fetch(self._totals)
        wrong, loss = (totals - self._totals_before).tolist()  # modulo 2**64
        self._totals_before = totals
        return wrong, loss

    def leaf_sums(
        self,
        bins: RowBins,
        cuts: Any,
        leaf_of_node: NDArray[np.int32],
        exponent: int,
    ) -> tuple[Floats, Floats]:
        """Walk every row to its leaf and sum the weights by leaf and class; see `TreeEngine`.

        Parameters
        ----------
        bins : RowBins
            The rows' bins.
        cuts : int32 device array of nodes x 4
            Feature, bin and first child of each divided node.
        leaf_of_node : int32 array
            The leaf of each node.
        exponent : int
            Weights are rounded to multiples of 2**-exponent.
        """
        n, k, n_leaves = self._n_rows, self._k, int(leaf_of_node.max()) + 1
        cells = k * n_leaves
        # Masses in 64 bits, then weights in 32 bits: one copy fetches both.
        sums = self._xp.zeros(cells + (cells + 1) // 2, dtype=np.uint64)
        self._place_rows(
            max(1, -(-n // _PLACED_ROWS)),
            _THREADS,
            bins.bins,
            np.int64(bins.stride),
            cuts,
            self._device.put(leaf_of_node),
            self._leaf,
            self.labels,
            self._mass,
            self.weight,
            self.multiplicity,
            np.float64(2.0**exponent),
            np.int32(n_leaves),
            np.int64(n),
            np.int32(_PLACED_ROWS),
            np.int32(_PLACED_SUMS),
            sums,
            shared=8 * _PLACED_SUMS,
        )
        self._sum_weights(n_leaves, exponent, sums[cells:].view(np.int32))
        found = self._device.fetch(sums)
        own = found[:cells].astype(np.float64)
        against = found[cells:].view(np.int32)[:cells].astype(np.float64)
        return tuple(np.ascontiguousarray(part.reshape(k, n_leaves).T) for part in (own, against))  # type: ignore[return-value]

    def _sum_weights(self, n_leaves: int, exponent: int, against: Any) -> None:
        """Sum the weights against each class by leaf, (k, leaves), into zeros."""
        n, k = self._n_rows, self._k
        n_classes = _SUM_BYTES // (4 * n_leaves)
        if n_classes == 0 and 4 * n_leaves <= self._device.shared_bytes:
            n_classes = 1
        shares = n_classes > 0
        n_tiles = -(-k // (n_classes if shares else 8))
        n_classes = -(-k // n_tiles)
        blocks = _SUM_BLOCKS_A_PROCESSOR * self._device.n_processors
        rows = max(1024, -(-n * n_tiles // (blocks * _THREADS)) * _THREADS)
        self._sum_leaves(
            (max(1, -(-n // rows)), -(-k // n_classes)),
            _THREADS,
            self._e,
            self._leaf,
            self.labels,
            self._pair_weights,
            self.weight,
            self.multiplicity,
            np.float32(2.0**exponent),
            np.int32(n_leaves),
            np.int64(n),
            np.int32(k),
            np.int32(rows),
            np.int32(n_classes),
            np.int32(shares),
            against,
            shared=4 * n_classes * n_leaves if shares else 0,
        )

    def exponentials(self, rows: Any) -> Any:
        """Return e of some rows, (rows, k), on the device."""
        return self._xp.ascontiguousarray(self._e[:, rows].T)

    def state(self) -> tuple[Singles, NDArray[np.int32]]:
        """Return copies of e and the direction, on the host."""
        e = np.ascontiguousarray(self._device.fetch(self._e).T)
        return e, self._device.fetch(self.direction)
