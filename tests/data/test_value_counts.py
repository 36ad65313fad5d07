"""Tables of a column's values: merged from any parts in any order they give the whole's thresholds."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from marginboost import _native
from marginboost.data.binning import bin_matrix
from marginboost.data.value_counts import MOST_VALUES, ValueCounts

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MISSING = st.sampled_from([-np.inf, np.inf])
NEAR = st.integers(-40, 40).map(lambda i: i / 8)
LARGEST = np.finfo(np.float64).max
TINY = np.nextafter(0.0, 1.0)
COLUMNS = st.lists(
    st.tuples(st.one_of(FINITE, NEAR, MISSING), st.integers(1, 5), st.integers(0, 4)), max_size=60
)
TYPES = ["f8", "f4", "i8", "i4", "u4", "i2", "i1", "u1"]


def native(column, times, max_bins, limit):
    """What local binning finds."""
    order = np.arange(len(column))
    found = _native.bin_thresholds(column[:, None], order, times, max_bins, 1, limit)
    return found[0], found[2] > 0, found[3][0]


def native_sparse(column, times, max_bins, limit):
    """What it finds in a sparse column."""
    X = sparse.csr_array(column[:, None])
    found = _native.bin_sparse_rows(
        X.data[:, None], X.indices.astype(np.int32), X.indptr.astype(np.int64), 1,
        np.arange(len(column)), times, max_bins, 1, limit,
    )  # fmt: skip
    return found[4], found[6] > 0, found[7][0]


def merged(column, times, part, order, limit):
    """Merge the tables of the parts in some order."""
    tables = [ValueCounts.of(column[part == p], times[part == p], limit) for p in order]
    while len(tables) > 1:  # as a tree, so that merged tables are merged too
        tables = [a.merge(b, limit) for a, b in zip(tables[::2], tables[1::2], strict=False)] + (
            tables[-1:] if len(tables) % 2 else []
        )
    return tables[0]


def assert_same_table(a, b):
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.counts, b.counts)
    assert (a.shift, a.below, a.above) == (b.shift, b.below, b.above)


def by_definition(column, times, limit):
    """Drop a bit at a time from Python's integers, until there are few enough."""
    bits = (column + 0.0).view(np.uint64).tolist()
    keys = [2**64 - 1 - b if b >> 63 else b | 2**63 for b in bits]
    shift = 0
    while len({key >> shift for key in keys}) > limit:
        shift += 1
    counts = {}
    for key, n in zip(keys, times.tolist(), strict=True):
        counts[key >> shift] = counts.get(key >> shift, 0) + n
    return shift, [counts[group] for group in sorted(counts)]


@given(
    COLUMNS,
    st.permutations(range(5)),
    st.sampled_from([2, 3, 8, 20, MOST_VALUES]),
    st.integers(2, 40),
)
@example([(LARGEST, 1, 0), (-LARGEST, 2, 1), (0.0, 1, 2), (-0.0, 1, 3)], [0, 1, 2, 3, 4], 2, 2)
@example([(-LARGEST, 1, 0), (-LARGEST / 2, 2, 1), (-1.0, 1, 2), (1.0, 1, 3)], [4, 3, 2, 1, 0], 3, 3)
@example([(TINY, 1, 0), (-TINY, 2, 1), (0.0, 1, 2), (2 * TINY, 1, 3)], [4, 3, 2, 1, 0], 2, 3)
def test_any_parts_in_any_order_give_the_thresholds_of_the_whole(rows, order, limit, max_bins):
    column = np.array([row[0] for row in rows], dtype=np.float64)
    times = np.array([row[1] for row in rows], dtype=np.int32)
    part = np.array([row[2] for row in rows], dtype=np.int64)
    table = merged(column, times, part, order, limit)
    assert_same_table(table, ValueCounts.of(column, times, limit))
    numbers = np.isfinite(column)
    shift, counts = by_definition(column[numbers], times[numbers], limit)
    assert table.below == times[column == -np.inf].sum()
    assert table.above == times[column == np.inf].sum()
    assert table.shift == shift
    assert table.counts.tolist() == counts
    assert len(table.values) <= limit
    assert np.isfinite(table.values).all()
    assert (np.diff(table.values) > 0).all()
    cuts = table.cuts(max_bins)
    for binned in (native, native_sparse):
        whole, whole_capped, median = binned(column, times, max_bins, limit)
        np.testing.assert_array_equal(cuts.thresholds, whole)
        assert cuts.capped == whole_capped
        assert cuts.median == median
    if table.shift == 0 and numbers.any():
        every = np.sort(np.repeat(column[numbers], times[numbers]))
        assert cuts.median == every[(len(every) - 1) // 2]
    # What is missing has a bin for itself, and the numbers are cut as without it.
    parted = cuts.thresholds[np.abs(cuts.thresholds) < LARGEST]
    alone = ValueCounts(table.values, table.counts, table.shift)
    left = max(max_bins - (table.below > 0) - (table.above > 0), 2)
    of_numbers = alone.cuts(left).thresholds
    np.testing.assert_array_equal(parted, of_numbers[np.abs(of_numbers) < LARGEST])
    if numbers.any():
        assert (-LARGEST in cuts.thresholds) or not table.below
        assert (LARGEST in cuts.thresholds) or not table.above


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("limit", [2, 7, 30, 100, MOST_VALUES])
@pytest.mark.parametrize("counted", [False, True])
def test_every_type_is_made_coarse_alike(dtype, limit, counted):
    rng = np.random.default_rng(0)
    low, high = (-120, 120) if np.dtype(dtype).kind != "u" else (0, 250)
    column = rng.integers(low, high, 400)
    column = (column / 7 if dtype[0] == "f" else column).astype(dtype)
    times = rng.integers(1, 9, 400).astype(np.int32) if counted else None
    for max_bins in (5, 60, 255):
        cuts = ValueCounts.of(column, times, limit).cuts(max_bins)
        whole, whole_capped, median = native(column, times, max_bins, limit)
        np.testing.assert_array_equal(cuts.thresholds, whole)
        assert cuts.capped == whole_capped
        assert cuts.median == median


def test_very_long_columns_are_made_coarse_by_default():
    rng = np.random.default_rng(0)
    column = rng.normal(size=MOST_VALUES + 200_000)
    table = ValueCounts.of(column)
    assert table.shift > 0
    assert MOST_VALUES / 2 < len(table.values) <= MOST_VALUES
    halves = ValueCounts.of(column[::2]).merge(ValueCounts.of(column[1::2]))
    assert_same_table(table, halves)
    binned = bin_matrix(column[:, None], order=np.arange(len(column)), max_bins=255)
    np.testing.assert_array_equal(table.cuts(255).thresholds, binned.thresholds[0])
    assert np.ptp(np.bincount(binned.bins[0])) < 0.01 * len(column) / 255
    # A table that nobody made coarse gives the same.
    values, counts = np.unique(column, return_counts=True)
    np.testing.assert_array_equal(
        _native.column_thresholds(values, counts, 255)[0], binned.thresholds[0]
    )


def test_as_many_values_as_are_told_apart_stay_as_they_are():
    values = np.arange(8.0) - 3
    table = ValueCounts.of(np.repeat(values, 2), limit=8)
    np.testing.assert_array_equal(table.values, values)
    np.testing.assert_array_equal(table.counts, 2)
    assert table.shift == 0


def test_what_is_no_column_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        ValueCounts.of([1.0, np.nan])
    with pytest.raises(ValueError, match="2 or more"):
        ValueCounts.of([1.0], limit=1)
    ones = np.ones(2, dtype=np.int64)
    for values in ([1.0, 1.0], [2.0, 1.0], [0.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(ValueError, match="ascend"):
            _native.column_thresholds(np.array(values), ones, 10)
    ascending = np.array([1.0, 2.0])
    for counts in (ones - 1, np.array([1, -1]), np.array([1, 2**62])):
        with pytest.raises(ValueError, match="counts"):
            _native.column_thresholds(ascending, counts, 10)
    with pytest.raises(ValueError, match="length"):
        _native.column_thresholds(ascending, ones[:1], 10)
    with pytest.raises(ValueError, match="max_bins"):
        _native.column_thresholds(ascending, ones, 1)
    with pytest.raises(ValueError, match="most_values"):
        native(ascending, None, 10, 1)
