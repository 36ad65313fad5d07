"""Binning on a device, with the same thresholds as on the host."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.data.binning import BinnedMatrix, bin_limit, warn_of_capped_columns
from marginboost.data.value_counts import Cuts, ValueCounts

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device

__all__ = ["bin_on_device"]

# Values of a block of columns that are sorted at once.
_VALUES_AT_ONCE = 1 << 26


def bin_on_device(
    device: Device, X: Any, *, order: Any, max_bins: int | None, multiplicity: Any | None
) -> BinnedMatrix:
    """Bin the rows of X that ``order`` names, in that order; see `marginboost.data.binning.bin_matrix`.

    Parameters
    ----------
    device : Device
        Device of X.
    X : device array of shape (n, n_features)
        Real numbers, no NaN, compared as float64.
    order : device array of int64
        Output row i is ``X[order[i]]``.
    max_bins : int or None
        Most bins per feature; None for one per distinct value.
    multiplicity : int32 device array or None
        Multiplicity of the rows in ``order``.

    Returns
    -------
    BinnedMatrix
        Its bins are on the device.
    """
    xp, limit = device.xp, bin_limit(max_bins)
    found: list[Cuts] = []
    for _, columns in _column_blocks(device, X, order):
        found += [table.cuts(limit) for table in _value_counts(device, columns, multiplicity)]
    thresholds = [cuts.thresholds for cuts in found]
    n_capped = sum(cuts.capped for cuts in found)
    if max_bins is None and n_capped:
        warn_of_capped_columns(n_capped, X.shape[1])
    # The type of the bins is known only now, so this is a second walk over X.
    wide = any(len(cuts) > 255 for cuts in thresholds)
    bins = xp.empty((X.shape[1], len(order)), dtype=np.uint16 if wide else np.uint8)
    for first, columns in _column_blocks(device, X, order):
        for feature, column in enumerate(columns, first):
            there = device.put(thresholds[feature])
            bins[feature] = xp.searchsorted(there, column, side="left")
    return BinnedMatrix(bins, tuple(thresholds), np.array([cuts.median for cuts in found]))


def _column_blocks(device: Device, X: Any, order: Any) -> Iterator[tuple[int, Any]]:
    """Yield blocks of columns as rows of float64, with the number of the first."""
    xp = device.xp
    width = max(1, _VALUES_AT_ONCE // max(len(order), 1))
    for first in range(0, X.shape[1], width):
        block = xp.ascontiguousarray(X[:, first : first + width][order].T).astype(np.float64)
        block += 0.0  # no negative zero
        yield first, block


def _value_counts(device: Device, columns: Any, multiplicity: Any | None) -> Iterator[ValueCounts]:
    """Yield the distinct values of each column and their counts."""
    xp = device.xp
    n_columns, n_rows = columns.shape
    if multiplicity is None:
        ordered = xp.sort(columns, axis=1)
    else:
        order = xp.argsort(columns, axis=1)
        ordered = xp.take_along_axis(columns, order, axis=1)
        counted = xp.cumsum(multiplicity[order].astype(np.int64), axis=1)
    last = xp.ones(columns.shape, dtype=bool)
    last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    places = xp.flatnonzero(last)
    values = device.fetch(ordered.ravel()[places])
    before = places % n_rows + 1 if multiplicity is None else counted.ravel()[places]
    of_column = np.searchsorted(device.fetch(places), np.arange(n_columns + 1) * n_rows)
    upto = device.fetch(before)
    for start, stop in pairwise(of_column):
        counts = np.diff(upto[start:stop], prepend=0)
        yield ValueCounts.of_distinct(values[start:stop], counts)
