"""The passes over all rows, one by one: how close each is to the limit of the device."""

import numpy as np
from clock import Clock

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends.gpu import Gpu
from marginboost.data.row_view import RowView
from marginboost.engine.gpu.device import cuda_device
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

REPEATS = 20


def passes(X, y, limits) -> list[dict]:
    """Time each kernel of a pass by itself, beside its bytes or its adds."""
    return stump_passes(X, y, limits) + tree_passes(X, y, limits)


def stump_passes(X, y, limits) -> list[dict]:
    rows, k = taken_in(MCBoostClassifier(max_bins=255), X, y)
    lanes = 8 if k <= 8 else 16 * -(-k // 16)
    one = np.ones((2, k))
    with Clock() as clock:
        engine = GpuStumpEngine(cuda_device())
        engine.load(rows, Weighting(LOSSES["exponential"]))
        for _ in range(REPEATS):
            engine.advance(one, one, 10)
            feature, bin_, _, _ = engine.best_stump()
            engine.place_stump(feature, bin_, True)
            engine.sums(20)
        table = clock.table()
    n, d = X.shape
    # e read and written, g written; e and sides read. Adds: every lane of every row and feature, though
    # the commonest bin of each feature is left out.
    work = {"advance": n * (16 * k + 4 * lanes), "sums": n * (8 * k + 1)}
    return [described("stumps", row, work, n * d * lanes, limits) for row in table]


def tree_passes(X, y, limits) -> list[dict]:
    rows, k = taken_in(MarginBoostClassifier(100), X, y)  # with the bins of the fits
    slots = Slots(k)
    lanes = slots.lanes
    one = np.ones((1, k), dtype=np.float32)
    features = np.arange(X.shape[1], dtype=np.int32)
    with Clock() as clock:
        engine = GpuTreeEngine(cuda_device())
        engine.load(rows, LOSSES["exponential"], slots, RowView())
        for _ in range(REPEATS):
            engine.advance(one, one, one[0], 10, 10)
            engine.start_tree(features, RowSample(), 5, 1.0)
            engine.finish_tree(np.zeros(1, dtype=np.int32), 10)
        table = clock.table()
    n, d = X.shape
    work = {"advance": n * (8 * k + 4 * lanes), "sum_leaves": n * (4 * k + 8)}
    return [described("trees, the root", row, work, n * d * lanes, limits) for row in table]


def taken_in(classifier, X, y):
    rows, classes, _ = Gpu(cuda_device(), None).prepare(classifier._requirements(), X, y, None)
    return rows, len(classes)


def described(of, row, work, adds, limits) -> dict:
    """Return the share of the limit that a kernel reaches, if its work is known."""
    name, took = row["kernel"], row["median_us"] / 1e6
    found = {"of": of, "kernel": name, "median_us": row["median_us"]}
    bytes_moved = next((n for key, n in work.items() if name.startswith(key)), None)
    if bytes_moved is not None:
        found["bytes"] = bytes_moved
        found["share_of_copy_rate"] = bytes_moved / took / limits["copy_bytes_per_s"]
    if name.startswith(("add_rows", "fill_shared")):
        found["adds"] = adds
        found["share_of_add_rate"] = adds / took / limits["shared_adds_per_s"]
    return found
