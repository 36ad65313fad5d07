"""Binning on a device, with the same thresholds as on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix, bin_limit, warn_of_capped_columns
from marginboost.data.value_counts import keys_of, values_of_keys
from marginboost.engine.gpu.value_tables import ColumnCuts, ValueTables, cut_tables, value_tables

if TYPE_CHECKING:
    from marginboost.engine.gpu.device_matrix import DeviceColumns

__all__ = ["bin_on_device"]

# Values of all tables that are kept until their columns are cut together.
_VALUES_AT_ONCE = 1 << 26

_FINITE = np.finfo(np.float64)

Floats = NDArray[np.float64]


def bin_on_device(
    columns: DeviceColumns, *, order: Any, max_bins: int | None, multiplicity: Any | None
) -> BinnedMatrix:
    """Bin the rows that ``order`` names, in that order; see `marginboost.data.binning.bin_matrix`.

    Parameters
    ----------
    columns : DeviceColumns
        Real numbers, compared as float64.
    order : device array of int64
        Output row i is row ``order[i]`` of the columns.
    max_bins : int or None
        Most bins per feature; None for one per distinct value.
    multiplicity : int32 device array or None
        Multiplicity of the rows in ``order``.

    Returns
    -------
    BinnedMatrix
        Its bins are on the device.
    """
    limit = bin_limit(max_bins)
    # A table does not depend on the order of the rows, so all of them are read as they lie.
    everything = multiplicity is None and len(order) == columns.matrix.shape[0]
    tables = value_tables(columns, None if everything else order, multiplicity)
    thresholds: list[Floats] = []
    medians: list[Floats] = []
    n_capped = 0
    for some in _joined(tables, columns.device.xp):
        cuts = cut_tables(columns, some, limit)
        found, middle = _thresholds(columns.matrix.dtype, some, cuts)
        thresholds += found
        medians.append(middle)
        n_capped += cuts.n_capped
    if max_bins is None and n_capped:
        warn_of_capped_columns(n_capped, columns.n_columns)
    bins = columns.bins(order, thresholds)
    return BinnedMatrix(bins, tuple(thresholds), np.concatenate(medians))


def _joined(tables: Iterator[ValueTables], xp: Any) -> Iterator[ValueTables]:
    """Join tables, as many as may wait: all columns of a table are cut at the same time."""
    waiting: list[ValueTables] = []
    for table in tables:
        waiting.append(table)
        if sum(len(one.keys) for one in waiting) >= _VALUES_AT_ONCE:
            yield ValueTables.joined(waiting, xp)
            waiting = []
    if waiting:
        yield ValueTables.joined(waiting, xp)


def _thresholds(
    dtype: np.dtype[Any], tables: ValueTables, cuts: ColumnCuts
) -> tuple[list[Floats], Floats]:
    """Return the thresholds of each column, and the medians, as `ColumnCuts` in C++ does."""
    shifts = np.repeat(tables.shifts, cuts.n_cuts)
    lower, upper = (_coarse(_numbers(keys, dtype), shifts) for keys in (cuts.lower, cuts.upper))
    ends = np.cumsum(cuts.n_cuts)
    found = np.split(_midpoints(lower, upper), ends[:-1])
    smallest = _numbers(cuts.smallest, dtype)
    has_numbers = tables.sizes > 0
    for column in np.flatnonzero(tables.has_low | tables.has_high):
        low, high = tables.has_low[column], tables.has_high[column]
        if not has_numbers[column]:
            found[column] = np.zeros(int(low and high))  # nothing lies between the two
            continue
        # No finite threshold lies between -inf and the least number that there can be.
        low = low and smallest[column] != _FINITE.min
        found[column] = np.concatenate(
            ([_FINITE.min] * int(low), found[column], [_FINITE.max] * int(high))
        )
    medians = _coarse(_numbers(cuts.medians, dtype), tables.shifts)
    return found, np.where(has_numbers, medians, np.inf)


def _numbers(keys: NDArray[Any], dtype: np.dtype[Any]) -> Floats:
    """Return the numbers that keys of a type of X stand for; see `kernels/column_keys.cuh`."""
    if keys.dtype == np.uint64:
        return values_of_keys(keys)
    sign = np.uint32(1 << 31)
    if dtype.kind == "f":
        return np.where(keys & sign, keys & ~sign, ~keys).view(np.float32).astype(np.float64)
    if dtype.kind == "i":
        return (keys ^ sign).view(np.int32).astype(np.float64)
    return keys.astype(np.float64)


def _coarse(values: Floats, shifts: NDArray[np.int32]) -> Floats:
    """Return the least numbers whose keys agree with those of others but for the lowest bits."""
    dropped = shifts.astype(np.uint64)
    return values_of_keys(keys_of(values) >> dropped << dropped)


def _midpoints(lower: Floats, upper: Floats) -> Floats:
    """Return the thresholds between neighbours; see `midpoint` in C++."""
    with np.errstate(over="ignore"):
        gap = upper - lower
    middle = np.where(np.isfinite(gap), lower + gap / 2, lower / 2 + upper / 2)
    return np.where(middle < upper, middle, lower)
