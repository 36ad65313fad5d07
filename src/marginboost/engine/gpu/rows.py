"""The rows of a fit on a device: all arrays as long as the data stay there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.grouping import class_masses
from marginboost.data.leaf_weight import LeafWeight
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.training_set import TrainingSet
from marginboost.engine.gpu.device import Device

__all__ = ["rows_on_device", "to_device"]

MOST_ROWS = 2**31 - 1  # kernels number them by int32


def to_device(device: Device, data: TrainingSet) -> TrainingSet:
    """Copy rows from the host to a device; return rows that are on one already."""
    if isinstance(data.storage, Device):
        return data
    _check_number(data.n_rows)
    limit, known = data.leaf_weight, data.categories
    rows = replace(
        data,
        binned=BinnedMatrix(_dense_bins(device, data), data.binned.thresholds),
        weight=None if data.weight is None else device.put(data.weight),
        multiplicity=None if data.multiplicity is None else device.put(data.multiplicity),
        leaf_weight=None if limit is None else LeafWeight(device.put(limit.rows), limit.least),
        storage=device,
        categories=None if known is None else replace(known, codes=device.put(known.codes)),
    )
    # If the rows are a part of a whole, their copies are already numbered.
    numbering = data.copies.numbering
    if numbering is not None and numbering.numbers is not None:
        numbering = numbering._replace(numbers=device.put(numbering.numbers))
    rows.copies.numbering = numbering
    return rows


def rows_on_device(
    device: Device,
    binned: BinnedMatrix,
    class_offsets: NDArray[np.int64],
    weight: Any | None,
    multiplicity: Any | None,
) -> TrainingSet:
    """Make a training set from arrays on a device; the offsets are on the host."""
    _check_number(int(class_offsets[-1]))
    mass = class_masses(class_offsets, weight, multiplicity, xp=device.xp)
    return TrainingSet(binned, class_offsets, weight, multiplicity, mass, storage=device)


def _check_number(n_rows: int) -> None:
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"A GPU takes up to {MOST_ROWS:,} rows; got {n_rows:,}. Fit on the CPU, or on a "
            "cluster with one GPU per worker."
        )


def _dense_bins(device: Device, data: TrainingSet) -> Any:
    """Copy all bins to the device, zeros included."""
    binned, xp = data.binned, device.xp
    if not isinstance(binned, SparseBinnedMatrix):
        return device.put(binned.bins)
    needed = binned.n_features * binned.n_rows * binned.bins.itemsize
    if needed > device.free_bytes():
        raise ValueError(
            f"On a GPU sparse rows are kept with all of their zeros: {needed / 2**30:,.1f} GiB for "
            f"{binned.n_rows:,} rows and {binned.n_features:,} features, and "
            f"{device.free_bytes() / 2**30:,.1f} GiB is free. Fit on the CPU, which keeps them sparse."
        )
    bins = xp.empty((binned.n_features, binned.n_rows), dtype=binned.bins.dtype)
    bins[:] = device.put(binned.zero_bin.astype(binned.bins.dtype))[:, None]
    feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
    places = device.put(feature), device.put(binned.rows.astype(np.int64))
    bins[places] = device.put(binned.bins)
    return bins
