"""Binning against NumPy: np.unique says which bins there are, np.searchsorted which one it is."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginboost import _native
from marginboost.data import binning
from marginboost.data.binning import bin_matrix

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">i4"]


def matrix(dtype, n_rows=150, n_columns=11, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(-40, 40, size=(n_rows, n_columns))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return values > 0
    if kind == "u":
        return np.abs(values).astype(dtype)
    return (values / 3 if kind == "f" else values).astype(dtype)


def layouts(X):
    """Arrays equal to X that lie in memory in different ways."""
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    odd = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape)
    odd[...] = X
    packed = np.zeros(X.shape, dtype=[("byte", "u1"), ("value", X.dtype)])
    packed["value"] = X
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "broadcast": np.broadcast_to(X[:, :1], X.shape),
        "unaligned": odd,
        "field": packed["value"],
    }


def everything(X):
    return np.arange(len(X))


def assert_exact(binned, X, order):
    kept = np.asarray(X)[order].astype(np.float64)
    assert binned.bins.shape == (X.shape[1], len(order))
    assert binned.bins.flags.c_contiguous
    for f in range(X.shape[1]):
        distinct, place = np.unique(kept[:, f], return_inverse=True)
        np.testing.assert_array_equal(binned.bins[f], place)
        np.testing.assert_array_equal(
            binned.bins[f], np.searchsorted(binned.thresholds[f], kept[:, f], side="left")
        )
        assert binned.n_bins[f] == len(distinct)
        expected = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
        np.testing.assert_array_equal(binned.thresholds[f], expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "layout", ["C", "F", "strided", "backwards", "broadcast", "unaligned", "field"]
)
def test_every_type_and_layout_gets_a_bin_a_value(dtype, layout):
    X = layouts(matrix(dtype))[layout]
    X.flags.writeable = False
    order = np.random.default_rng(1).permutation(len(X))[:100]
    assert_exact(bin_matrix(X, order=order, max_bins=None), X, order)
    np.testing.assert_array_equal(
        bin_matrix(X, order=order, max_bins=5).bins,
        bin_matrix(X.astype(np.float64), order=order, max_bins=5).bins,
    )


def test_rows_left_out_make_no_threshold():
    X = np.array([[1.0], [2.0], [3.0], [100.0]])
    binned = bin_matrix(X, order=[2, 0], max_bins=None)
    np.testing.assert_array_equal(binned.thresholds[0], [2.0])
    np.testing.assert_array_equal(binned.bins, [[1, 0]])


def test_a_row_may_come_twice():
    X = np.array([[1.0], [2.0]])
    np.testing.assert_array_equal(bin_matrix(X, order=[1, 0, 1], max_bins=None).bins, [[1, 0, 1]])


@pytest.mark.parametrize("dtype", ["u1", "i8", "f8"])
def test_constant_column_has_one_bin(dtype):
    binned = bin_matrix(np.full((5, 2), 7, dtype=dtype), order=range(5), max_bins=None)
    assert [t.size for t in binned.thresholds] == [0, 0]
    assert binned.n_bins.tolist() == [1, 1]
    assert not binned.bins.any()


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
@pytest.mark.parametrize("dtype", ["u1", "f4", "f2"])
def test_nothing_to_bin(shape, dtype):
    binned = bin_matrix(np.zeros(shape, dtype=dtype), order=np.arange(shape[0]), max_bins=None)
    assert binned.bins.shape == shape[::-1]
    assert binned.n_bins.tolist() == [1] * shape[1]
    assert (binned.n_features, binned.n_rows) == shape[::-1]


def test_order_of_no_rows():
    binned = bin_matrix(np.ones((3, 2)), order=[], max_bins=None)
    assert binned.bins.shape == (2, 0)


def test_both_zeros_share_a_bin():
    X = np.array([[0.0], [-0.0], [1.0], [-0.0], [-1.0]])
    binned = bin_matrix(X, order=range(5), max_bins=None)
    np.testing.assert_array_equal(binned.bins, [[1, 1, 2, 1, 0]])
    np.testing.assert_array_equal(binned.thresholds[0], [-0.5, 0.5])


def test_large_integers_are_compared_as_doubles():
    X = np.array([[2**53], [2**53 + 1], [2**53 + 2], [2**62], [-(2**63)]], dtype=np.int64)
    assert_exact(bin_matrix(X, order=range(5), max_bins=None), X, np.arange(5))
    unsigned = np.array([[2**64 - 1], [2**63], [0]], dtype=np.uint64)
    assert bin_matrix(unsigned, order=range(3), max_bins=None).bins.tolist() == [[2, 1, 0]]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40),
    st.sampled_from([np.float64, np.float32]),
)
def test_thresholds_lie_between_neighbours(values, dtype):
    # Denormals, neighbours one bit apart and the largest doubles included.
    column = np.clip(values, np.finfo(dtype).min, np.finfo(dtype).max).astype(dtype)
    column = np.concatenate([column, np.nextafter(column, dtype(0))])
    binned = bin_matrix(column[:, None], order=everything(column), max_bins=None)
    distinct, place = np.unique(column.astype(np.float64), return_inverse=True)
    thresholds = binned.thresholds[0]
    assert (distinct[:-1] <= thresholds).all()
    assert (thresholds < distinct[1:]).all()
    np.testing.assert_array_equal(binned.bins[0], place)


def test_midpoints_do_not_overflow_and_never_round_up():
    big = np.finfo(np.float64).max
    tiny = np.nextafter(0.0, 1.0)
    odd = np.nextafter(1.0, 2.0)  # the middle of odd and its successor rounds up, to even
    even = np.nextafter(odd, 2.0)
    X = np.array([[-big, 0.0, odd], [big, tiny, even]])
    binned = bin_matrix(X, order=[0, 1], max_bins=None)
    np.testing.assert_array_equal(np.concatenate(binned.thresholds), [0.0, 0.0, odd])
    np.testing.assert_array_equal(binned.bins, [[0, 1]] * 3)


def test_many_rows_of_every_magnitude():
    # Long columns are sorted by their bits.
    rng = np.random.default_rng(0)
    column = rng.standard_normal(9000) * 2.0 ** rng.integers(-1060, 1000, size=9000)
    column[::9] = rng.integers(-50, 50, size=1000)
    column[:30] = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0] * 5
    X = np.stack([column, -column, np.abs(column), np.full(9000, -2.0)], axis=1)
    binned = bin_matrix(X, order=everything(X), max_bins=None)
    for f in range(4):
        distinct, place = np.unique(X[:, f], return_inverse=True)
        np.testing.assert_array_equal(binned.bins[f], place)
        assert binned.n_bins[f] == len(distinct)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
@pytest.mark.parametrize("max_bins", [2, 7, 300, None])
def test_the_table_of_values_alone_decides(dtype, max_bins):
    X = matrix(dtype, n_rows=3000, n_columns=5)
    rng = np.random.default_rng(2)
    times = rng.integers(1, 5, size=len(X))
    binned = bin_matrix(X, order=everything(X), max_bins=max_bins, multiplicity=times)

    shuffle = rng.permutation(len(X))
    shuffled = bin_matrix(X, order=shuffle, max_bins=max_bins, multiplicity=times[shuffle])
    repeated = bin_matrix(np.repeat(X, times, 0), order=range(times.sum()), max_bins=max_bins)
    doubled = bin_matrix(X, order=everything(X), max_bins=max_bins, multiplicity=2 * times)
    for f, thresholds in enumerate(binned.thresholds):
        np.testing.assert_array_equal(shuffled.thresholds[f], thresholds)
        np.testing.assert_array_equal(repeated.thresholds[f], thresholds)
        np.testing.assert_array_equal(doubled.thresholds[f], thresholds)
    np.testing.assert_array_equal(shuffled.bins, binned.bins[:, shuffle])
    np.testing.assert_array_equal(repeated.bins, np.repeat(binned.bins, times, 1))


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_threads_change_nothing(dtype, layout):
    X = layouts(matrix(dtype, n_rows=6000, n_columns=70))[layout]
    order = np.random.default_rng(0).permutation(len(X))
    one = bin_matrix(X, order=order, max_bins=20)
    three = bin_matrix(X, order=order, max_bins=20, n_threads=3)
    np.testing.assert_array_equal(one.bins, three.bins)
    for a, b in zip(one.thresholds, three.thresholds, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("threads", [1, 16])
def test_columns_of_few_and_of_many_values(dtype, counted, threads):
    # Up to 8192 values are counted in tables; 8193 are sorted, and so are columns beside them.
    rng = np.random.default_rng(0)
    n = 30_000
    X = np.column_stack([rng.integers(0, k, n) for k in (1, 2, 300, 8192, 8193, 30_000)])
    X[:8193, 3:5] = np.arange(8193)[:, None] % [8192, 8193]
    X = (X - 100).astype(dtype)
    times = rng.integers(1, 4, n).astype(np.int32) if counted else None
    order = rng.permutation(n)
    for max_bins in (None, 50):
        binned = bin_matrix(
            X, order=order, max_bins=max_bins, multiplicity=times, n_threads=threads
        )
        for column, thresholds, bins in zip(X.T, binned.thresholds, binned.bins, strict=True):
            values, place = np.unique(column[order], return_inverse=True)
            counts = np.bincount(place, weights=times).astype(np.int64)
            expected = _native.column_thresholds(
                values.astype(np.float64), counts, max_bins or _native.MAX_BINS
            )[0]
            np.testing.assert_array_equal(thresholds, expected)
            np.testing.assert_array_equal(bins, np.searchsorted(thresholds, column[order]))


@pytest.mark.parametrize(("n_values", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_smallest_type_that_holds_the_bins(n_values, dtype):
    X = np.zeros((n_values, 2))
    X[:, 1] = np.arange(n_values)
    binned = bin_matrix(X, order=everything(X), max_bins=None)
    assert binned.bins.dtype == dtype
    assert binned.bins[1].tolist() == list(range(n_values))
    assert bin_matrix(X, order=everything(X), max_bins=256).bins.dtype == np.uint8


def test_a_bin_a_value_up_to_the_limit():
    X = np.random.default_rng(0).permutation(65535)[:, None] / 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_exact(bin_matrix(X, order=everything(X), max_bins=None), X, everything(X))


def test_too_many_values_for_exact_bins_warns_once():
    X = np.zeros((70000, 3))
    X[:, 0] = np.random.default_rng(0).standard_normal(70000)
    X[:, 2] = np.arange(70000)
    with pytest.warns(UserWarning, match=r"2 of 3 columns .* 65535 .* Pass max_bins") as caught:
        binned = bin_matrix(X, order=everything(X), max_bins=None)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert binned.n_bins.tolist() == [65535, 1, 65535]
    assert set(np.bincount(binned.bins[2])) == {1, 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = bin_matrix(X, order=everything(X), max_bins=65535)
    np.testing.assert_array_equal(binned.bins, again.bins)


@pytest.mark.parametrize(
    ("n_bytes", "sizes"), [(0, [8, 8, 3]), (1 << 30, [19])], ids=["many rows", "few rows"]
)
@pytest.mark.parametrize(("layout", "dtype"), [("other type", "f8"), ("unaligned", "i2")])
def test_what_cannot_be_read_is_converted_a_few_columns_at_a_time(
    monkeypatch, n_bytes, sizes, layout, dtype
):
    monkeypatch.setattr(binning, "_BYTES_AT_ONCE", n_bytes)
    X = matrix("f2", n_columns=19)
    if layout == "unaligned":  # as rows are that Dask hands over
        whole = matrix("i2", n_columns=19)
        X = np.ndarray(whole.shape, whole.dtype, bytearray(whole.nbytes + 1), 1)
        X[:] = whole
    parts = []
    native = binning._native.bin_rows
    monkeypatch.setattr(
        binning._native, "bin_rows", lambda part, *rest: (parts.append(part), native(part, *rest))
    )
    assert_exact(bin_matrix(X, order=everything(X), max_bins=None), X, everything(X))
    assert [part.shape[1] for part in parts] == sizes
    assert {part.dtype for part in parts} == {np.dtype(dtype)}


def test_result_is_read_only_and_pickles():
    X = matrix("f8")
    binned = bin_matrix(X, order=everything(X), max_bins=None)
    assert not binned.bins.flags.writeable
    assert not binned.thresholds[0].flags.writeable
    assert binned.nbytes == binned.bins.nbytes + 8 * (binned.n_bins - 1).sum()
    copy = pickle.loads(pickle.dumps(binned))
    np.testing.assert_array_equal(copy.bins, binned.bins)
    np.testing.assert_array_equal(copy.thresholds[3], binned.thresholds[3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"X": np.zeros(3)},
            "X must be a two-dimensional NumPy array of real numbers, got float64",
        ),
        ({"X": [[1.0]]}, "got list"),
        ({"X": np.zeros((3, 1), dtype=complex)}, "got complex128"),
        ({"max_bins": 1}, "max_bins must be None or an integer from 2 to 65535, got 1"),
        ({"max_bins": 65536}, "got 65536"),
        ({"max_bins": 10.0}, "got 10.0"),
        ({"order": [0, 3]}, "order must hold row numbers of X, below 3, got 3"),
        ({"order": [-1]}, "got -1"),
        ({"order": [0.0]}, "order must be one-dimensional and hold integers, got float64"),
        ({"order": [[0]]}, r"of shape \(1, 1\)"),
        ({"order": np.array([2**63], dtype=np.uint64)}, "order must fit int64"),
        ({"multiplicity": [1, 1]}, "multiplicity must have one entry per row of order"),
        ({"multiplicity": []}, "multiplicity must have one entry per row of order"),
        ({"multiplicity": [1, 0, 1]}, "multiplicity must be at least 1, got 0"),
        ({"multiplicity": [1, 2**31, 1]}, "multiplicity must fit int32"),
        ({"n_threads": 0}, "n_threads must be from 1 to 1024"),
        ({"n_threads": 1025}, "n_threads must be from 1 to 1024"),
    ],
)
def test_wrong_arguments(arguments, message):
    good = {"X": np.zeros((3, 1)), "order": [0, 1, 2], "max_bins": None}
    merged = good | arguments
    with pytest.raises(ValueError, match=message):
        bin_matrix(merged.pop("X"), **merged)


@pytest.mark.parametrize(
    ("thresholds", "offsets", "message"),
    [
        (np.zeros(256), [0, 256], "at most 255 thresholds for bins of this type, got 256"),
        (np.zeros(2), [0, 1], "offsets must have one entry per column"),
        (np.zeros(2), [0, 1, 2], "offsets must have one entry per column"),
        (np.zeros(2), [1, 2], "offsets must have one entry per column"),
    ],
)
def test_native_code_checks_thresholds(thresholds, offsets, message):
    out = np.zeros((1, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match=message):
        binning._native.bin_rows(
            np.zeros((3, 1)), np.arange(3), thresholds, np.array(offsets), out, 1
        )


def test_native_code_checks_the_shape_of_its_output():
    X, order = np.zeros((3, 1)), np.arange(3)
    offsets = np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="out must have a row"):
        binning._native.bin_rows(X, order, np.zeros(0), offsets, np.zeros((1, 2), np.uint8), 1)
