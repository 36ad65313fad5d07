"""Binning on a device: the host's thresholds, medians and bins, to the bit."""

from itertools import pairwise

import numpy as np
import pytest
from cuda_on_host import named_device

from marginboost import _native
from marginboost.data.binning import bin_by_thresholds
from marginboost.engine.gpu import value_tables
from marginboost.engine.gpu.binning import bin_on_device
from marginboost.engine.gpu.device_matrix import DeviceColumns, DeviceMatrix

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "f2"]


@pytest.fixture(params=["emulated", "cuda"])
def device(request):
    return named_device(request.param)


def on_device(device, X, order, max_bins, multiplicity=None, source=None, fill=None):
    source = np.arange(X.shape[1], dtype=np.int32) if source is None else source
    fill = np.zeros(len(source)) if fill is None else fill
    there = device.xp.asarray(X)
    if not X.flags.c_contiguous:
        there = device.xp.asarray(X.T).T
    columns = DeviceColumns(device, DeviceMatrix(device, there), source, fill)
    times = None if multiplicity is None else device.put(multiplicity)
    return bin_on_device(columns, order=device.put(order), max_bins=max_bins, multiplicity=times)


def check(device, X, order, max_bins, multiplicity=None, most_values=1 << 20, **selection):
    found = on_device(device, X, order, max_bins, multiplicity, **selection)
    if selection:
        X = X[:, selection["source"]]
        X = np.where(np.isnan(X), selection["fill"].astype(X.dtype), X)
    X = X.astype(np.float64)
    times = None if multiplicity is None else multiplicity.astype(np.int32)
    values, offsets, _, medians = _native.bin_thresholds(
        X, order, times, max_bins, 1, most_values=most_values
    )
    thresholds = [values[a:b] for a, b in pairwise(offsets)]
    for ours, theirs in zip(found.thresholds, thresholds, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(found.medians, medians)
    bins = device.fetch(found.bins)
    expected = bin_by_thresholds(X, thresholds, order=order).bins
    assert bins.dtype == expected.dtype
    np.testing.assert_array_equal(bins, expected)


def numbers(dtype, n=700, n_columns=10):
    """Return columns of many values, few values, and one that dominates."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_columns)) * 40
    X[:, 1] = rng.integers(-3, 4, n)
    X[:, 2] = np.where(rng.random(n) < 0.7, 5, X[:, 2])
    X[:, 3] = 1
    if dtype[0] in "u?":
        X = np.abs(X)
    return (X > 20) if dtype == "?" else X.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["C", "F"])
def test_types_and_layouts(device, dtype, layout):
    X = np.asarray(numbers(dtype), order=layout)
    check(device, X, np.random.default_rng(1).permutation(len(X)), 9)


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 300])
@pytest.mark.parametrize("counted", [False, True])
def test_numbers_of_bins(device, max_bins, counted):
    X = numbers("f4", n_columns=4)
    rng = np.random.default_rng(2)
    order = rng.permutation(len(X))[:600]
    check(device, X, order, max_bins, rng.integers(1, 5, 600, dtype=np.int32) if counted else None)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("way", ["together", "one by one", "blocks"])
def test_very_many_values(device, monkeypatch, dtype, counted, way):
    monkeypatch.setattr(value_tables, "MOST_VALUES", 50)
    if way == "one by one":
        monkeypatch.setattr(value_tables, "_LONG_COLUMN", 1)
    if way == "blocks":
        monkeypatch.setattr(value_tables, "_VALUES_AT_ONCE", 2100)
    X = numbers(dtype, n_columns=5)
    times = np.random.default_rng(3).integers(1, 4, len(X), dtype=np.int32) if counted else None
    check(device, X, np.arange(len(X)), 7, times, most_values=50)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("counted", [False, True])
def test_infinities_and_missing_values(device, monkeypatch, dtype, counted):
    monkeypatch.setattr(value_tables, "MOST_VALUES", 60)
    X = numbers(dtype, n=400, n_columns=6)
    X[::3, 0], X[1::3, 0] = np.inf, -np.inf
    X[::2, 1] = np.nan
    X[:, 2] = np.where(np.arange(400) % 2, np.inf, -np.inf)
    X[:, 3] = np.inf
    X[::5, 4], X[0, 4] = -np.inf, np.finfo(dtype).min
    X[:, 5] = np.nan
    source = np.array([0, 1, 1, 2, 3, 4, 5, 5], dtype=np.int32)
    fill = np.array([0, -np.inf, np.inf, 0, 0, np.inf, np.inf, -np.inf])
    times = np.random.default_rng(3).integers(1, 4, 400, dtype=np.int32) if counted else None
    for max_bins in (2, 3, 20):
        check(
            device, X, np.arange(400), max_bins, times, most_values=60, source=source, fill=fill
        )  # fmt: skip


def test_negative_zero_and_the_largest_numbers(device):
    largest, smallest = np.finfo(np.float64).max, np.finfo(np.float64).smallest_subnormal
    column = np.array([-0.0, 0.0, smallest, -smallest, largest, -largest, largest / 2, 1.0])
    X = np.column_stack([column, column[::-1]])
    for max_bins in (3, 8):
        check(device, X, np.arange(8), max_bins)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_where_values_are_missing(device, weighted, layout):
    X = np.asarray(numbers("f4", n=90), order=layout)
    X[7, 2] = X[9, 4] = np.nan
    weight = np.ones(90)
    weight[9] = 0.0
    there = device.xp.asarray(X) if layout == "C" else device.xp.asarray(X.T).T
    missing = DeviceMatrix(device, there).missing(device.put(weight) if weighted else None)
    assert np.flatnonzero(missing).tolist() == ([2] if weighted else [2, 4])
