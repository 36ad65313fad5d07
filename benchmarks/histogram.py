"""The histogram kernel against a bare vector add.

A histogram costs one vector add (load, add, store) over the classes per row and feature. It is
compared with code that does only these adds: the same number of vectors of the same width, the
direction g read in the same blocks, no bins, and sums that stay in the first-level cache. There are
two such codes:

- `run_histograms(bare=True)`, the library's own, with the library's threads;
- `bare_add.cpp`, `a[j] += b[j]` in plain C++, compiled here, on one thread. It checks the first
one: the bound is on the faster of the two.

Both read g once per feature, since an add has two operands; the kernel reads it once for a few
features, which is its advantage.

255 bins at random spread the adds over all of the first-level cache. Features with two bins are the
other extreme: an add waits for the one before it on the same cell. A bare add does not have that
wait, which comes from the data, so this case has no bound.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import data
import numpy as np
from report import Claim, Report
from timing import interleaved, loaded_engine

from marginboost import _native
from marginboost.data.binning import BinnedMatrix
from marginboost.data.training_set import TrainingSet, make_training_set
from marginboost.engine.stumps.native import ROW_BLOCK

LIMIT = 1.5
TRIALS = 3
ROWS, FEATURES = 16384, 16
CLASSES = (8, 16, 32, 112)


def run(quick: bool) -> Report:
    report = Report(
        f"Histogram kernel and bare vector add ({_native.kernels()})",
        ("bins", "classes", "threads", "ns/(row, feature)", "1e9 adds/s", "bare", "plain", "ratio"),
    )
    add = _compiled()
    if add is None:
        report.notes.append("no C++ compiler: the bound is on the library's own bare add alone.")
    seconds = 0.15 if quick else 0.6
    worst = dict.fromkeys(CLASSES, 0.0)
    threads = (1,) if os.cpu_count() == 1 else (1, 2)
    for name, n_bins in (("255 random", 255), ("2 random", 2)):
        for classes in CLASSES:
            case = (name, _random(classes, n_bins))
            ratios = [_measure(report, case, t, seconds=seconds, add=add) for t in threads]
            if n_bins == 255:
                worst[classes] = max(ratios)
    real = 0.0
    for name in ("letter", "pendigits"):
        split = data.load(name)
        report.notes += split.notes
        case = (name, _binned(split))
        ratios = [_measure(report, case, t, seconds=seconds, add=add) for t in threads]
        real = max(real, *ratios)
    report.claims = [
        Claim(f"times a bare add, 255 random bins, {k} classes", r, LIMIT) for k, r in worst.items()
    ]
    report.claims.append(Claim("times a bare add, letter and pendigits", real, LIMIT))
    return report


def _measure(report, case, threads, *, seconds, add):
    """Add a row to the report; return the ratio to the faster bare add."""
    name, data_set = case
    features, rows, classes = data_set.binned.n_features, data_set.n_rows, data_set.n_classes
    ns = {}
    for _ in range(TRIALS):  # new arrays: their addresses matter a little
        run_histograms = loaded_engine(data_set, threads)._shard.run_histograms
        actions = {
            "kernel": partial(run_histograms, False),
            "bare": partial(run_histograms, True),
        }
        if add is not None and threads == 1:
            actions["plain"] = _plain_add(add, rows, features, classes)
        for action, taken in interleaved(actions, seconds=seconds / TRIALS).items():
            ns[action] = min(ns.get(action, np.inf), 1e9 * taken / (rows * features))
    ratio = ns["kernel"] / min(ns["bare"], ns.get("plain", np.inf))
    adds = classes / ns["kernel"]
    report.rows.append(
        (name, classes, threads, ns["kernel"], adds, ns["bare"], ns.get("plain"), ratio)
    )
    return ratio


def _random(classes, n_bins):
    bins = np.random.default_rng(0).integers(0, n_bins, (FEATURES, ROWS), dtype=np.uint8)
    thresholds = (np.arange(n_bins - 1.0),) * FEATURES
    offsets = np.linspace(0, ROWS, classes + 1).astype(np.int64)
    mass = np.diff(offsets).astype(np.float64)
    return TrainingSet(BinnedMatrix(bins, thresholds), offsets, None, None, mass)


def _binned(split):
    classes, codes = np.unique(split.y, return_inverse=True)
    return make_training_set(
        split.X, codes, len(classes),
        sample_weight=None, class_weight=None, max_bins=None, n_threads=1,
    )  # fmt: skip


def _plain_add(add, rows, features, classes):
    lanes = next((lanes for lanes in (4, 8) if classes <= lanes), 16)
    tiles = -(-classes // lanes)
    g, sums = _aligned(tiles * rows * lanes), _aligned(features * 256)
    return lambda: add(sums.ctypes, g.ctypes, tiles, rows, lanes, ROW_BLOCK, features)


def _aligned(size):
    """Return int32 ones that start on a cache line, as the library's arrays do."""
    ones = np.ones(size + 16, dtype=np.int32)
    start = -ones.ctypes.data % 64 // 4
    return ones[start : start + size]


def _compiled():
    """Return bare_add of bare_add.cpp, or None if it cannot be compiled."""
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        return None
    source = Path(__file__).with_name("bare_add.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "bare_add.so"
        # 256 bits, unrolled: the fastest of what was tried on a CPU with AVX-512.
        vectors = ["-mavx2"] if _native.kernels().startswith("avx") else []
        command = [compiler, "-O3", "-funroll-loops", *vectors, "-std=c++20", "-shared", "-fPIC"]
        try:
            subprocess.run(
                [*command, source, "-o", library], check=True, capture_output=True, timeout=60
            )
            add = ctypes.CDLL(str(library)).bare_add
        except (OSError, subprocess.SubprocessError):
            return None
    add.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 5
    add.restype = None
    return add
