"""Tables of columns' distinct values on a device, and the cuts that divide them into bins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.value_counts import MOST_VALUES
from marginboost.engine.gpu.row_steps import lower_halves, scan_counts

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device
    from marginboost.engine.gpu.device_matrix import DeviceColumns

__all__ = ["ColumnCuts", "ValueTables", "cut_tables", "value_tables"]

# Values of a block of columns that are sorted at once.
_VALUES_AT_ONCE = 1 << 26
# Columns of fewer rows are sorted together: a sort of few keys does not fill a device.
_LONG_COLUMN = 1 << 20

_THREADS = 256
_STRETCH = 8 * _THREADS  # keys of a block that finds values, as in the kernels
_BLOCKS_A_PROCESSOR = 8
_KEY_BITS = 64

Int64s = NDArray[np.int64]


class ValueTables(NamedTuple):
    """The finite values of some columns, and how many rows come before each.

    Attributes
    ----------
    keys : device array
        Keys of the distinct values, ascending, one column after the other; where values count as one,
        that of the smallest.
    before : int64 device array
        Number of the column's rows with a smaller finite value.
    sizes : int64 array of n_columns
        Number of values of each column.
    totals : int64 array of n_columns
        Number of rows with a finite value.
    shifts : int32 array of n_columns
        How many of the lowest bits of the values' 64-bit keys do not count.
    has_low, has_high : bool array of n_columns
        Whether -inf, and inf, occur.
    """

    keys: Any
    before: Any
    sizes: Int64s
    totals: Int64s
    shifts: NDArray[np.int32]
    has_low: NDArray[np.bool_]
    has_high: NDArray[np.bool_]

    @staticmethod
    def joined(tables: list[ValueTables], xp: Any) -> ValueTables:
        """Join the tables of several blocks of columns."""
        if len(tables) == 1:
            return tables[0]
        keys, before, *rest = zip(*tables, strict=True)
        return ValueTables(
            xp.concatenate(keys), xp.concatenate(before), *(np.concatenate(one) for one in rest)
        )


class ColumnCuts(NamedTuple):
    """Where columns are cut.

    Attributes
    ----------
    lower, upper : array
        Keys of the values on both sides of each cut, one column after the other.
    n_cuts : int64 array of n_columns
        Number of cuts of each column.
    n_capped : int
        Number of columns with more values than bins.
    smallest, medians : array of n_columns
        Keys of the smallest finite value and of the lower median; 0 if there is none.
    """

    lower: NDArray[Any]
    upper: NDArray[Any]
    n_cuts: Int64s
    n_capped: int
    smallest: NDArray[Any]
    medians: NDArray[Any]


def value_tables(
    columns: DeviceColumns, order: Any | None, multiplicity: Any | None
) -> Iterator[ValueTables]:
    """Make the tables of all columns, some columns at a time.

    The tables are those of `ValueCounts`.

    Parameters
    ----------
    columns : DeviceColumns
        The columns.
    order : int64 device array or None
        The rows that count; None: all.
    multiplicity : int32 device array or None
        How often each of them counts; None: once.
    """
    n_rows = columns.matrix.shape[0] if order is None else len(order)
    width = max(1, min(columns.n_columns, _VALUES_AT_ONCE // max(n_rows, 1)))
    for first in range(0, columns.n_columns, width):
        n = min(width, columns.n_columns - first)
        keys, counted = _sorted_keys(columns, order, first, n, multiplicity)
        differing, ends = _survey(columns, keys)
        shifts = _coarse_shifts(differing)
        yield _table(columns, keys, counted, ends, shifts)


def _table(
    columns: DeviceColumns,
    keys: Any,
    counted: Any | None,
    ends: Int64s,
    shifts: NDArray[np.int32],
) -> ValueTables:
    """Make the tables of a block of columns from their sorted keys."""
    device, xp = columns.device, columns.device.xp
    n_columns, n_rows = keys.shape
    n_stretches = max(1, -(-n_rows // _STRETCH))
    given = (keys, np.int64(n_rows), device.put(shifts), device.put(ends))
    firsts = xp.empty(n_columns * n_stretches, dtype=np.int64)
    grid = (n_stretches, n_columns)
    columns.matrix.kernel("count_values")(grid, _THREADS, *given, firsts)
    of_column = scan_counts(device, firsts, n_stretches)
    n_values = int(of_column[-1])
    values = xp.empty(n_values, dtype=keys.dtype)
    before = xp.empty(n_values, dtype=np.int64)
    rows = firsts if counted is None else counted
    columns.matrix.kernel("write_values")(
        grid, _THREADS, *given, firsts, rows, np.int32(counted is not None), values, before
    )
    bounds = n_rows * np.arange(n_columns)[:, None] + ends
    if counted is not None:
        bounds = device.fetch(counted[device.put(bounds)])
    return ValueTables(
        values,
        before,
        np.diff(of_column),
        bounds[:, 1] - bounds[:, 0],
        shifts,
        ends[:, 0] > 0,
        ends[:, 1] < n_rows,
    )


def _sorted_keys(
    columns: DeviceColumns, order: Any | None, first: int, width: int, multiplicity: Any | None
) -> tuple[Any, Any | None]:
    """Return the sorted keys of some columns, and the numbers of rows before each if rows count."""
    xp = columns.device.xp
    n_rows = columns.matrix.shape[0] if order is None else len(order)
    together = width > 1 and n_rows < _LONG_COLUMN
    narrow = columns.key_type is np.uint32
    keys = columns.keys(order, first, width, packed=together and narrow)
    if multiplicity is None and not together:
        for column in keys:
            column.sort()
        return keys, None
    if multiplicity is None and narrow:
        flat = keys.reshape(-1)
        flat.sort()
        return lower_halves(columns.device, keys), None
    if together:
        flat = keys.reshape(-1)
        places = xp.argsort(flat, kind="stable")
        if not narrow:  # the keys have no room for the column, so that is a second sort
            column = (places // n_rows).astype(np.min_scalar_type(width))
            places = places[xp.argsort(column, kind="stable")]
        keys = flat[places].astype(columns.key_type).reshape(keys.shape)
        places %= n_rows
    else:
        of_column = [xp.argsort(column, kind="stable") for column in keys]
        for column, rows in zip(keys, of_column, strict=True):
            column[...] = column[rows]
        places = xp.concatenate(of_column)
    if multiplicity is None:
        return keys, None
    # All columns in a row: only differences within a column matter.
    counted = xp.zeros(len(places) + 1, dtype=np.int64)
    counted[1:] = xp.cumsum(multiplicity[places], dtype=np.int64)
    return keys, counted


def _survey(columns: DeviceColumns, keys: Any) -> tuple[NDArray[np.uint64], Int64s]:
    """Count neighbours by the highest bit that differs; find where finite numbers begin and end."""
    device = columns.device
    n_columns, n_rows = keys.shape
    differing = device.put(np.zeros((n_columns, _KEY_BITS + 1), dtype=np.uint64))
    ends = device.put(np.full((n_columns, 2), n_rows, dtype=np.int64))
    columns.matrix.kernel("survey_keys")(
        _grid(device, n_rows, n_columns), _THREADS, keys, np.int64(n_rows), differing, ends
    )
    return device.fetch(differing), device.fetch(ends)


def _coarse_shifts(differing: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return how many of the lowest bits of the keys are dropped, so that few enough values are left."""
    # Values that are left without the lowest 0, 1, ... bits, but for the first.
    left = np.cumsum(differing[:, ::-1].astype(np.int64), axis=1)[:, ::-1]
    left[:, :-1] = left[:, 1:]
    left[:, -1] = 0
    shifts: NDArray[np.int32] = (left < MOST_VALUES).argmax(axis=1).astype(np.int32)
    return shifts


def cut_tables(columns: DeviceColumns, tables: ValueTables, limit: int) -> ColumnCuts:
    """Cut tables into bins with numbers of rows as equal as possible; see `balanced_cuts` in C++.

    Parameters
    ----------
    columns : DeviceColumns
        The columns, or those of which the tables are some.
    tables : ValueTables
        Their values.
    limit : int
        Most bins per column. Infinite values take some of them.
    """
    device, sizes = columns.device, tables.sizes
    n_columns = len(sizes)
    infinite = tables.has_low.astype(np.int64) + tables.has_high
    most = np.maximum(limit - infinite, min(limit, 2))
    n_cuts = np.maximum(np.minimum(sizes, most) - 1, 0)
    ends, begins = np.cumsum(n_cuts), np.cumsum(sizes) - sizes
    total = int(ends[-1])
    cuts, room = (device.xp.zeros(total + 1, dtype=np.int64) for _ in range(2))
    medians = device.xp.zeros(n_columns, dtype=np.int64)
    specs = np.stack([begins, sizes, tables.totals, most, ends - n_cuts], axis=1)
    there = device.put(specs)
    device.kernel("column_cuts", "cut_columns")(
        n_columns, _THREADS, tables.before, there, room, cuts, medians
    )
    # All keys that the host needs, in one array.
    found = device.xp.empty(2 * (total + n_columns), dtype=tables.keys.dtype)
    columns.matrix.kernel("keys_of_cuts")(
        n_columns,
        _THREADS,
        tables.keys,
        np.int64(len(tables.keys)),
        there,
        np.int32(n_columns),
        cuts,
        np.int64(total),
        medians,
        found,
    )
    lower, upper, smallest, middle = np.split(
        device.fetch(found), [total, 2 * total, 2 * total + n_columns]
    )
    n_capped = int((sizes > most).sum())
    return ColumnCuts(lower, upper, n_cuts, n_capped, smallest, middle)


def _grid(device: Device, n_rows: int, n_columns: int) -> tuple[int, int]:
    blocks = max(1, min(-(-n_rows // _THREADS), _BLOCKS_A_PROCESSOR * device.n_processors))
    return blocks, n_columns
