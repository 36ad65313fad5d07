"""Steps over long arrays give what NumPy gives."""

import numpy as np
import pytest
from cuda_on_host import named_device

from marginboost.engine.gpu import row_steps


@pytest.fixture(params=["emulated", "cuda"])
def device(request):
    return named_device(request.param)


@pytest.mark.parametrize("n", [0, 1, 255, 2048, 9000])
def test_rows_below(device, n):
    rng = np.random.default_rng(n)
    hashes = rng.integers(2**64, size=n, dtype=np.uint64)
    offsets = np.array([0, n // 3, n // 3, n])  # one class has no rows
    bounds = np.array([1 << 62, 5, 3 << 62], dtype=np.uint64)
    found = row_steps.rows_below(device, device.put(hashes), offsets, bounds)
    expected = np.flatnonzero(hashes < np.repeat(bounds, np.diff(offsets)))
    assert np.array_equal(device.fetch(found), expected)


@pytest.mark.parametrize(("n", "step"), [(1, 1), (6, 3), (1024, 4), (5000, 1000)])
def test_scan_counts(device, n, step):
    counts = np.random.default_rng(n).integers(0, 9, n)
    there = device.put(counts)
    found = row_steps.scan_counts(device, there, step)
    before = np.concatenate([[0], np.cumsum(counts)])
    assert np.array_equal(device.fetch(there), before[:-1])
    assert np.array_equal(found, before[::step])


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("n_codes", [2, 100, 3000])
def test_labels(device, dtype, n_codes):
    rng = np.random.default_rng(0)
    least = -3 if np.dtype(dtype).kind == "i" else 0
    n_codes = min(n_codes, 2 if dtype == "?" else 100 if dtype == "i1" else n_codes)
    labels = (rng.integers(0, n_codes, 5000) + least).astype(dtype)
    there = device.put(labels)
    wide = labels.astype(np.int64)
    assert row_steps.label_ends(device, there) == (wide.min(), wide.max())
    counts = row_steps.label_counts(device, there, least, n_codes)
    assert np.array_equal(counts, np.bincount(wide - least, minlength=n_codes))
    table = rng.permutation(n_codes).astype(np.uint32)
    numbers = device.fetch(row_steps.label_numbers(device, there, least, table))
    assert np.array_equal(numbers, table[wide - least])


def test_repeats(device):
    ordered = np.arange(1000, dtype=np.uint64)
    assert not row_steps.has_repeats(device, device.put(ordered))
    ordered[-1] = ordered[-2]
    assert row_steps.has_repeats(device, device.put(ordered))
