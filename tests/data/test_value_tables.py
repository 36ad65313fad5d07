"""Tables of all columns in compiled code: the same as those of `ValueCounts`, column by column."""

import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marginboost import _native
from marginboost.data.value_counts import MOST_VALUES, ValueCounts
from marginboost.data.value_tables import ValueTables

LARGEST = np.finfo(np.float64).max
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-40, 40).map(lambda i: i / 8),
    st.sampled_from([-np.inf, np.inf, -LARGEST, LARGEST, 0.0, -0.0]),
)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 5), st.integers(0, 3)), max_size=50)
TYPES = ["f8", "f4", "i8", "i4", "u4", "i2", "u2", "i1", "u1", "?"]


def assert_same(tables, column, expected):
    found = tables.column(column)
    np.testing.assert_array_equal(found.values, expected.values)
    assert not np.signbit(found.values[found.values == 0.0]).any()
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert (found.shift, found.below, found.above) == (
        expected.shift,
        expected.below,
        expected.above,
    )


@given(ROWS, st.permutations(range(4)), st.sampled_from([2, 3, 8, MOST_VALUES]), st.booleans())
@example([(-LARGEST, 1.0, 1, 0), (-1.0, 2.0, 1, 1), (1.0, 3.0, 1, 2)], [3, 2, 1, 0], 2, True)
def test_merged_in_any_order_they_are_the_tables_of_all_rows(rows, order, limit, counted):
    X = np.array([row[:2] for row in rows], dtype=np.float64).reshape(-1, 2)
    times = np.array([row[2] for row in rows], dtype=np.int32) if counted else None
    part = np.array([row[3] for row in rows], dtype=np.int64)

    tables = []
    for number in order:
        chosen = np.flatnonzero(part == number)
        of_part = None if times is None else times[chosen]
        tables.append(ValueTables.of(X, chosen, of_part, limit=limit))
    merged = reduce(lambda a, b: a.merge(b, n_threads=2, limit=limit), tables)

    for column in range(2):
        assert_same(merged, column, ValueCounts.of(X[:, column], times, limit))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_columns_of_every_type(dtype, layout, n_threads):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.integers(0, 100, (5000, 11)), dtype=dtype, order=layout)
    rows = np.flatnonzero(rng.random(len(X)) < 0.9)
    tables = ValueTables.of(X, rows, n_threads=n_threads)
    for column in range(X.shape[1]):
        assert_same(tables, column, ValueCounts.of(X[rows, column]))


def test_a_type_that_compiled_code_cannot_read_is_converted_in_blocks():
    X = np.random.default_rng(0).normal(size=(300, 19)).astype(np.float16)
    tables = ValueTables.of(X, np.arange(300))
    for column in range(19):
        assert_same(tables, column, ValueCounts.of(X[:, column]))


def test_no_rows_and_no_columns():
    assert ValueTables.of(np.empty((0, 2)), np.arange(0)).offsets.tolist() == [0, 0, 0]
    assert ValueTables.of(np.empty((3, 0)), np.arange(3)).cuts(8) == []
    assert ValueTables.of(np.empty((3, 0), np.float16), np.arange(3)).offsets.tolist() == [0]


def test_they_are_sent_as_five_arrays():
    tables = ValueTables.of(np.random.default_rng(0).normal(size=(50, 40)), np.arange(50))
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(tables, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 5


def test_what_is_no_table_is_refused():
    good = tuple(ValueTables.of(np.arange(6.0).reshape(3, 2), np.arange(3)))
    values, counts, offsets, shifts, infinite = good

    def merge(*tables):
        return _native.merge_tables(good, tables, 1)

    with pytest.raises(ValueError, match="same length"):
        merge(values, counts[:-1], offsets, shifts, infinite)
    with pytest.raises(ValueError, match="one entry more than shifts"):
        merge(values, counts, offsets[:-1], shifts, infinite)
    with pytest.raises(ValueError, match="offsets must ascend"):
        merge(values, counts, offsets[::-1].copy(), shifts, infinite)
    with pytest.raises(ValueError, match="from 0 to 63"):
        merge(values, counts, offsets, shifts + np.int32(64), infinite)
    with pytest.raises(ValueError, match="end with the number of values"):
        merge(values, counts, offsets + 1, shifts, infinite)
    with pytest.raises(ValueError, match="same columns"):
        merge(values[:3], counts[:3], offsets[:2], shifts[:1], infinite[:2])
    with pytest.raises(ValueError, match="most_values"):
        _native.merge_tables(good, good, 1, 1)
