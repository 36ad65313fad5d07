"""The kernels of trees, all compiled at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginboost.engine.loss_numbers import LOSS_NUMBERS

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

__all__ = ["ADD_CHUNK", "ADD_THREADS", "DIVIDE_CHUNK", "compile_tree_kernels", "loss_constants"]

# Rows of a block that divides nodes, and of one that sums histograms; threads of the latter.
DIVIDE_CHUNK = 1024
ADD_CHUNK = 256
ADD_THREADS = 512


def loss_constants(loss: Loss) -> dict[str, int]:
    """Return the constants of kernels that know the loss."""
    return {"LOSS": LOSS_NUMBERS[loss.name], "PAIRED": int(loss.pair_weights is not None)}


def compile_tree_kernels(device: Device, bin_bytes: int, loss: Loss, slots: Slots) -> None:
    """Begin to compile all kernels that every fit of trees needs.

    Parameters
    ----------
    device : Device
        Device of the rows.
    bin_bytes : int
        Bytes of a bin.
    loss : Loss
        Loss of the margins.
    slots : Slots
        Positions of the classes.
    """
    bins, lanes = {"BIN_BYTES": bin_bytes}, {"LANES": slots.lanes}
    of_loss = loss_constants(loss)
    # Those that take longest come first.
    for file, constants in (
        ("node_histogram", {"ADD_CHUNK": ADD_CHUNK, "THREADS": ADD_THREADS, **bins, **lanes}),
        ("tree_growth", {"DIVIDE_CHUNK": DIVIDE_CHUNK, "ADD_CHUNK": ADD_CHUNK, **lanes}),
        ("leaf_sums", {**bins, **of_loss}),
        ("row_margins", {**lanes, **of_loss}),
        ("row_partition", bins),
        ("node_scan", lanes),
        ("row_bins", bins),
    ):
        device.compile_ahead(file, **constants)
