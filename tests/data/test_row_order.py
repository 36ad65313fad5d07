"""Compiled code orders, copies and hashes rows as NumPy does, with any number of threads."""

import numpy as np
import pytest

from marginboost import _native

THREADS = pytest.mark.parametrize("n_threads", [1, 3, 16])
SIZES = pytest.mark.parametrize("n", [0, 1, 7, 8192, 100_003])


@THREADS
@SIZES
@pytest.mark.parametrize("n_classes", [1, 3, 256])
def test_the_order_by_class(n, n_classes, n_threads):
    codes = np.random.default_rng(0).integers(0, n_classes, n).astype(np.uint8)
    order, counts = _native.order_by_class(codes, n_threads)
    assert np.array_equal(counts, np.bincount(codes, minlength=256))
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))


@THREADS
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n", [0, 5, 5000])
def test_copies_of_rows(n, dtype, n_threads):
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 200, (6, 3000)).astype(dtype)
    rows = rng.integers(0, 3000, n)
    taken = _native.take_rows(bins, rows, n_threads)
    assert taken.dtype == dtype
    np.testing.assert_array_equal(taken, bins[:, rows])


@pytest.mark.parametrize("row", [-1, 3])
def test_rows_that_are_not_there(row):
    with pytest.raises(ValueError, match="rows must be below"):
        _native.take_rows(np.zeros((2, 3), dtype=np.uint8), np.array([0, row]), 1)


@THREADS
@SIZES
def test_hashes_begin_with_the_class(n, n_threads):
    rng = np.random.default_rng(0)
    n_bins = np.array([3, 5])
    bins = np.stack([rng.integers(0, size, n) for size in n_bins]).astype(np.uint8)
    begins = np.concatenate(([0], np.cumsum(n_bins)))
    table, of_class = (rng.integers(2**64, size=m, dtype=np.uint64) for m in (8, 4))
    # Of four classes one has no rows.
    offsets = np.array([0, n // 3, n // 3, n // 2, n])
    found = _native.hash_rows(bins, table, begins, of_class, offsets, n_threads)
    expected = np.repeat(of_class, np.diff(offsets)) + table[bins[0]] + table[3 + bins[1]]
    np.testing.assert_array_equal(found, expected)


def test_classes_that_do_not_divide_the_rows():
    bins, begins = np.zeros((1, 3), dtype=np.uint8), np.array([0, 1])
    one = np.ones(1, dtype=np.uint64)
    for offsets in ([0, 2], [1, 3], [0, 3, 3]):
        with pytest.raises(ValueError, match="class_offsets must divide"):
            _native.hash_rows(bins, one, begins, one, np.array(offsets), 1)
