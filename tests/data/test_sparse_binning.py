"""Sparse binning against dense: bin_matrix on toarray() says which bins and thresholds are right."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from support import shared_counts

from marginboost.data import sparse_binning
from marginboost.data.binning import bin_matrix
from marginboost.data.dense_bins import dense_bins
from marginboost.data.sparse_binning import bin_sparse_matrix

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "g"]
CLASSES = [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array]


def matrix(dtype, *, density=0.3, n_rows=120, n_columns=9, n_values=40, seed=0):
    """Make a dense matrix of zeros and others, with an empty, a full and a constant column."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-n_values, n_values, size=(n_rows, n_columns))
    values[rng.random(values.shape) >= density] = 0
    values[:, 1] = 0
    values[:, 3] = rng.integers(1, n_values, size=n_rows)
    values[:, 5] = -values[:, 3]
    values[:, 7] = 5
    kind = np.dtype(dtype).kind
    if kind == "b":
        return values != 0
    if kind == "u":
        return np.abs(values).astype(dtype)
    return (values / 3 if kind == "f" else values).astype(dtype)


def selection(n_rows, seed=0):
    """Leave rows out and shuffle the others; say how often each one counts."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_rows)[: 2 * n_rows // 3]
    return order, rng.integers(1, 6, size=len(order))


def assert_as_dense(X, *, order, **settings):
    """Check a sparse matrix against its own dense form; return what it was binned to."""
    found = bin_sparse_matrix(X, order=order, **settings)
    right = bin_matrix(X.toarray(), order=order, **settings)
    assert (found.n_rows, found.n_features) == (right.n_rows, right.n_features)
    assert found.bins.dtype == right.bins.dtype
    np.testing.assert_array_equal(found.n_bins, right.n_bins)
    assert len(found.indptr) == found.n_features + 1
    assert found.n_entries == len(found.rows) == len(found.bins) == found.indptr[-1]
    for f, (start, stop) in enumerate(pairwise(found.indptr.tolist())):
        np.testing.assert_array_equal(found.thresholds[f], right.thresholds[f])
        np.testing.assert_array_equal(dense_bins(found, f), right.bins[f])
        np.testing.assert_array_equal(dense_bins(right, f), right.bins[f])
        assert (np.diff(found.rows[start:stop]) > 0).all()
        assert (found.bins[start:stop] != found.zero_bin[f]).all()
        assert found.zero_bin[f] == np.searchsorted(found.thresholds[f], 0.0)
    return found


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("make", CLASSES)
def test_every_type_and_class(dtype, make):
    X = make(matrix(dtype))
    assert X.dtype == np.dtype(dtype)
    order, times = selection(X.shape[0])
    for max_bins in (2, 16, None):
        assert_as_dense(X, order=order, max_bins=max_bins)
        assert_as_dense(X, order=order, max_bins=max_bins, multiplicity=times)


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, None])
@pytest.mark.parametrize("density", [0.0, 0.01, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("n_values", [3, 60, 5000])
def test_every_density_and_number_of_bins(max_bins, density, n_values):
    for seed in range(3):
        X = matrix("f8", density=density, n_rows=700, n_values=n_values, seed=seed)
        order, times = selection(len(X), seed)
        rows = sparse.csr_array(X)
        assert_as_dense(rows, order=np.arange(len(X)), max_bins=max_bins)
        assert_as_dense(rows, order=order, max_bins=max_bins)
        assert_as_dense(rows, order=order, max_bins=max_bins, multiplicity=times)


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "f4", "f8", "g"])
def test_entries_of_a_cell_add_up_in_any_order(make, index, dtype):
    # Many a cell, so that the order of the additions shows in the last bits and small types wrap.
    rng = np.random.default_rng(0)
    lines, n_entries, n_places = 30, 2000, 12
    data = rng.standard_normal(n_entries) * 10.0 ** rng.integers(-3, 2, n_entries)
    if np.dtype(dtype).kind != "f":
        data = rng.integers(0, 90, n_entries)
    indptr = np.sort(rng.integers(0, n_entries, lines + 1))
    indptr[[0, -1]] = 0, n_entries
    indices = rng.integers(0, n_places, n_entries)
    shape = (lines, n_places) if "csr" in make.__name__ else (n_places, lines)
    X = make((data.astype(dtype), indices.astype(index), indptr.astype(index)), shape=shape)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    before = {name: getattr(X, name).copy() for name in ("data", "indices", "indptr")}
    for max_bins in (4, None):
        assert_as_dense(X, order=np.arange(shape[0])[::-1], max_bins=max_bins)
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(X, name), array)
        assert getattr(X, name).dtype == array.dtype


def test_explicit_zeros_are_zeros():
    data = np.array([0.0, -0.0, 2.0, 3.0, -3.0, -1.0])
    X = sparse.csr_array((data, [0, 1, 0, 1, 1, 0], [0, 2, 5, 6]), shape=(3, 2))
    found = assert_as_dense(X, order=[0, 1, 2], max_bins=None)
    np.testing.assert_array_equal(found.indptr, [0, 2, 2])
    np.testing.assert_array_equal(found.rows, [1, 2])
    np.testing.assert_array_equal(found.bins, [2, 0])
    np.testing.assert_array_equal(found.zero_bin, [1, 0])


def test_entries_in_the_bin_of_zero_are_dropped():
    column = np.concatenate([np.zeros(50), [0.1, -0.1], np.full(60, 1.0), np.full(60, -1.0)])
    found = assert_as_dense(sparse.csr_array(column[:, None]), order=range(172), max_bins=3)
    assert found.zero_bin[0] == 1
    assert found.n_entries == 120


def test_a_row_may_come_twice():
    X = sparse.csr_array(matrix("f8"))
    assert_as_dense(X, order=[5, 0, 5, 7, 0, 0], max_bins=None)


def test_large_integers_are_compared_as_doubles():
    X = np.array([[2**53], [2**53 + 1], [0], [2**62], [-(2**63)]], dtype=np.int64)
    assert_as_dense(sparse.csr_array(X), order=range(5), max_bins=None)
    unsigned = np.array([[2**64 - 1], [2**63], [0]], dtype=np.uint64)
    assert_as_dense(sparse.csr_array(unsigned), order=range(3), max_bins=None)


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0), (1, 1)])
def test_nothing_to_bin(make, shape):
    found = assert_as_dense(make(shape), order=np.arange(shape[0]), max_bins=None)
    assert found.n_entries == 0


def test_order_of_no_rows():
    found = assert_as_dense(sparse.csr_array(np.ones((3, 2))), order=[], max_bins=None)
    assert (found.n_rows, found.n_entries) == (0, 0)


def test_threads_change_nothing():
    X = sparse.random_array((4000, 500), density=0.1, rng=np.random.default_rng(0), format="csr")
    order, times = selection(X.shape[0])
    for max_bins in (20, None):
        settings = {"order": order, "max_bins": max_bins, "multiplicity": times}
        one = bin_sparse_matrix(X, **settings)
        three = bin_sparse_matrix(X, n_threads=3, **settings)
        for name in ("indptr", "rows", "bins", "zero_bin"):
            np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
        for a, b in zip(one.thresholds, three.thresholds, strict=True):
            np.testing.assert_array_equal(a, b)


def test_zeros_may_count_more_often_than_an_int32_holds():
    X = sparse.csr_array(np.array([[0.0], [0.0], [1.0], [2.0]]))
    times = [2**31 - 1, 2**31 - 1, 7, 2**31 - 1]
    found = assert_as_dense(X, order=range(4), max_bins=2, multiplicity=times)
    np.testing.assert_array_equal(found.thresholds[0], [0.5])


@pytest.mark.parametrize(("n_values", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_smallest_type_that_holds_the_bins(n_values, dtype):
    X = np.zeros((n_values + 5, 2))
    X[:n_values, 1] = np.arange(n_values) + 1.0  # and zero
    found = assert_as_dense(sparse.csc_array(X), order=range(len(X)), max_bins=None)
    assert found.bins.dtype == dtype


def test_too_many_values_for_exact_bins_warns_once():
    X = np.zeros((70000, 3))
    X[:, 2] = np.arange(70000) - 30000.0
    with pytest.warns(UserWarning, match=r"1 of 3 columns .* 65535 .* Pass max_bins") as caught:
        found = bin_sparse_matrix(sparse.csr_array(X), order=range(70000), max_bins=None)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = bin_matrix(X, order=range(70000), max_bins=65535)
    np.testing.assert_array_equal(dense_bins(found, 2), right.bins[2])


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("name", ["news20_bydate_noheader_counts", "reuters_r52_counts"])
def test_words_of_texts(name, make):
    X, _ = shared_counts(name)
    columns = np.random.default_rng(0).permutation(X.shape[1])[:400]
    common = np.argsort(np.diff(X.tocsc().indptr))[-40:]
    part = make(X[:, np.concatenate([columns, common])])
    order, times = selection(X.shape[0])
    for max_bins in (2, 16, None):
        assert_as_dense(part, order=order, max_bins=max_bins, multiplicity=times)
    # Frequencies have many distinct values, and most of them share a bin.
    length = np.maximum(np.asarray(X.sum(axis=1)).reshape(-1, 1), 1)
    assert_as_dense(make(part.multiply(1 / length)), order=order, max_bins=255)


def test_result_is_read_only_and_pickles():
    found = bin_sparse_matrix(sparse.csr_array(matrix("f8")), order=range(120), max_bins=None)
    arrays = ("indptr", "rows", "bins", "zero_bin")
    for array in (*(getattr(found, name) for name in arrays), *found.thresholds):
        assert not array.flags.writeable
    types = [getattr(found, name).dtype for name in arrays]
    assert types == [np.int64, np.int32, np.uint8, np.int32]
    entries = sum(getattr(found, name).nbytes for name in arrays)
    assert found.nbytes == entries + 8 * (found.n_bins - 1).sum()
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.rows, found.rows)
    np.testing.assert_array_equal(copy.thresholds[4], found.thresholds[4])


@pytest.mark.parametrize("feature", [-1, 9])
def test_dense_bins_of_no_feature(feature):
    found = bin_sparse_matrix(sparse.csr_array(matrix("f8")), order=range(120), max_bins=None)
    with pytest.raises(IndexError, match=f"feature must be from 0 to 8, got {feature}"):
        dense_bins(found, feature)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros((3, 1))}, "X must be a two-dimensional SciPy matrix .*, got ndarray"),
        (
            {"X": sparse.coo_array((3, 1))},
            r"CSR or CSC format, got float64 of shape \(3, 1\) in COO",
        ),
        ({"X": sparse.csr_array((3, 1), dtype=complex)}, "got complex128"),
        ({"max_bins": 1}, "max_bins must be None or an integer from 2 to 65535, got 1"),
        ({"order": [0, 3]}, "order must hold row numbers of X, below 3, got 3"),
        ({"order": [-1]}, "got -1"),
        ({"order": [0.0]}, "order must be one-dimensional and hold integers, got float64"),
        ({"multiplicity": [1, 1]}, "multiplicity must have one entry per row of order"),
        ({"multiplicity": [1, 0, 1]}, "multiplicity must be at least 1, got 0"),
        ({"n_threads": 0}, "n_threads must be from 1 to 1024"),
    ],
)
def test_wrong_arguments(arguments, message):
    good = {"X": sparse.csr_array((3, 1)), "order": [0, 1, 2], "max_bins": None}
    merged = good | arguments
    with pytest.raises(ValueError, match=message):
        bin_sparse_matrix(merged.pop("X"), **merged)


@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 2], [0, 1, 2], "X must have entries in columns 0 to 1, got one in column 2"),
        ([0, -1], [0, 1, 2], "got one in column -1"),
        ([0, 1], [0, 1, 3], "row pointers of X must ascend from 0"),
        ([0, 1], [1, 1, 2], "row pointers of X must ascend from 0"),
        ([0, 1], [0, 2, 1], "row pointers of X must ascend from 0"),
        ([1, 1], [0, 2, 2], "X must have at most one entry a cell, got two in column 1"),
    ],
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_native_code_checks_its_input(indices, indptr, message, index):
    with pytest.raises(ValueError, match=message):
        sparse_binning._native.bin_sparse_rows(
            np.ones((2, 1)), np.array(indices, index), np.array(indptr), 2, np.arange(2), None, 9, 1
        )
