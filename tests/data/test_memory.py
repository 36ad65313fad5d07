"""The estimate of a fit's memory, against what a fit takes."""

import json
import subprocess
import sys

import pytest

from marginboost.data import memory
from marginboost.data.memory import (
    available_bytes,
    check_memory,
    fit_bytes,
    tree_fit_bytes,
)

GIB = 1 << 30


def test_available_memory_is_that_of_a_computer():
    found = available_bytes()
    if found is None:
        pytest.skip("this system does not say")
    assert 0 < found < 1 << 50


@pytest.mark.parametrize("needed", [0, 5 * GIB])
def test_enough_memory_passes(monkeypatch, needed):
    monkeypatch.setattr(memory, "available_bytes", lambda: 5 * GIB)
    check_memory(needed, lambda: "a fit")
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    check_memory(1 << 60, lambda: "a fit")


def test_too_little_memory_says_both_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 3 * GIB)
    with pytest.raises(ValueError, match=r"about 5\.0 GiB .*\(ten rows\).* 3\.0 GiB is available"):
        check_memory(5 * GIB, lambda: "ten rows")


def test_a_control_group_limits_what_is_available(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_system_available", lambda: 8 * GIB)
    monkeypatch.setattr(memory, "_control_group_available", lambda: 2 * GIB)
    assert available_bytes() == 2 * GIB
    monkeypatch.setattr(memory, "_control_group_available", lambda: None)
    assert available_bytes() == 8 * GIB


def test_more_of_anything_needs_more():
    base = fit_bytes(1000, 10, 5, 5, wide=False, trees=False)
    assert fit_bytes(2000, 10, 5, 5, wide=False, trees=False) > base
    assert fit_bytes(1000, 20, 5, 5, wide=False, trees=False) == base + 10_000
    assert fit_bytes(1000, 10, 6, 5, wide=False, trees=False) > base
    assert fit_bytes(1000, 10, 5, 6, wide=False, trees=False) > base
    assert fit_bytes(1000, 10, 5, 5, wide=True, trees=False) == base + 10_000
    assert fit_bytes(1000, 10, 5, 5, wide=False, trees=True) > base


def test_more_of_anything_sparse_needs_more():
    shape = {"lanes": 16, "wide": False, "sparse": True, "n_fits": 1}
    base = tree_fit_bytes(1000, 10, 100, **shape)
    assert tree_fit_bytes(2000, 10, 100, **shape) > base
    assert tree_fit_bytes(1000, 20, 100, **shape) > base
    assert tree_fit_bytes(1000, 10, 200, **shape) == base + 500
    assert tree_fit_bytes(1000, 10, 100, **shape | {"lanes": 32}) > base
    assert tree_fit_bytes(1000, 10, 100, **shape | {"wide": True}) == base + 100
    assert tree_fit_bytes(1000, 10, 100, **shape | {"n_fits": 2}) > base
    # Many entries and few weights: the peak is where the thresholds are found.
    many = tree_fit_bytes(1000, 10, 10_000_000, **shape)
    assert tree_fit_bytes(1000, 10, 10_000_000, **shape | {"lanes": 32}) == many
    assert tree_fit_bytes(1000, 10, 10_000, **shape | {"sparse": False}) > 20_000


# Each case is a process of its own, for its own peak, forked from one that has imported the package.
SCRIPT = """
import json, os, re, sys
from pathlib import Path
import numpy as np
from scipy import sparse
from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.data.memory import fit_bytes, tree_fit_bytes
from marginboost.data.training_set import make_training_set

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

def bin_rows(X, y):
    return make_training_set(
        X, y, 2, sample_weight=None, class_weight=None, max_bins=255, n_threads=1
    )

def binning(rows, features, per_row, values):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, features - per_row, (rows, per_row), dtype=np.int32)
    columns.sort(axis=1)
    columns += np.arange(per_row, dtype=np.int32)
    data = rng.integers(1, values, rows * per_row, dtype=np.int32)
    ends = per_row * np.arange(rows + 1, dtype=np.int32)
    X = sparse.csr_array((data, columns.ravel(), ends), (rows, features))
    y = rng.integers(0, 2, rows)
    assert X.has_canonical_format
    bin_rows(X[:100, :100], y[:100])
    before = peak()
    bin_rows(X, y)
    needed = tree_fit_bytes(
        rows, features, X.nnz, lanes=16, wide=False, sparse=True, n_fits=1
    )
    return (peak() - before) / needed

def fit(rows, features, classes, depth):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (rows, features), dtype=np.uint8)
    y = rng.integers(0, classes, rows)
    MCBoostClassifier(1, max_bins=255, n_jobs=1).fit(X[:1000], y[:1000] % 2)
    before = peak()
    MCBoostClassifier(2, max_bins=255, max_depth=depth, n_jobs=1).fit(X, y)
    needed = fit_bytes(rows, features, classes, classes, wide=False, trees=depth > 1)
    return (peak() - before) / needed

def many_classes(rows, classes, calibrate, n_jobs):
    rng = np.random.default_rng(0)
    y = np.arange(rows) % classes
    X = rng.normal(size=(rows, 10)).astype(np.float32)
    X[:, 0] += 8 * y / classes
    model = MarginBoostClassifier(3, calibrate=calibrate, n_jobs=n_jobs, random_state=0)
    MarginBoostClassifier(1, calibrate=calibrate, n_jobs=n_jobs).fit(X[:1000], y[:1000] % 3)
    before = peak()
    model.fit(X, y)
    return (peak() - before) / model.estimate_memory(X, y)

for what, *sizes in json.loads(sys.argv[1]):
    if (child := os.fork()) == 0:
        print(json.dumps([what, *sizes]), globals()[what](*sizes), sep="\\t", flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
BINNINGS = [(100_000, 3_000, 60, 5), (100_000, 100, 60, 2_000), (20_000, 300_000, 100, 5)]
FITS = [(400_000, 5, 10, 1), (400_000, 5, 10, 2), (200_000, 100, 3, 1), (3_000, 4, 1500, 1)]
MANY = [(20_000, 1_000, False, 1), (20_000, 1_000, True, 1), (20_000, 1_000, True, 2)]
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def shares():
    """Return the share of its estimate that each case takes beside an import and the data."""
    kinds = {"binning": BINNINGS, "fit": FITS, "many_classes": MANY}
    cases = [[kind, *sizes] for kind, every in kinds.items() for sizes in every]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(cases)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = (line.split("\t") for line in run.stdout.splitlines())
    return {tuple(json.loads(case)): float(share) for case, share in found}


@needs_proc
@pytest.mark.parametrize("sizes", BINNINGS)
def test_the_sparse_estimate_is_about_what_binning_takes(shares, sizes):
    assert 0.3 < shares["binning", *sizes] < 1.35


@needs_proc
@pytest.mark.parametrize("sizes", FITS)
def test_the_estimate_is_about_what_a_fit_takes(shares, sizes):
    assert 0.3 < shares["fit", *sizes] < 1.35


@needs_proc
@pytest.mark.parametrize("sizes", MANY)
def test_the_estimate_for_many_classes_is_what_a_fit_takes(shares, sizes):
    # On a busy machine the second of two fits side by side may begin where the first ends.
    least = 0.85 if sizes[-1] == 1 else 0.45
    assert least < shares["many_classes", *sizes] < 1.15


def test_leaves_and_calibration_count():
    shape = {"lanes": 16, "wide": False, "sparse": False, "n_fits": 1}
    base = tree_fit_bytes(1000, 10, 10_000, **shape)
    assert tree_fit_bytes(1000, 10, 10_000, **shape, model_size=255_000) == base + 16 * 255_000
    assert tree_fit_bytes(1000, 10, 10_000, **shape, held_out_size=2e6) == base + 112_000_000
