"""How long a fit of rows on a GPU takes before its first round, step by step, and in all.

    python benchmarks/gpu/prepare.py OUT.json [--rows 10000000] [--features 30] [--classes 10]
        [--trees 100] [--repeats 3] [--calibrate] [--no-steps] [--xgboost] [--commit HASH]

Rows are drawn on the device. Each step is timed with the device at rest before and after it, in a fit of
its own; the seconds of whole fits are of others, without that. Needs CuPy and a CUDA device; XGBoost is
timed beside it where it is asked for and installed, on the same rows.
"""

import argparse
import contextlib
import importlib
import json
import platform
import time
from pathlib import Path

import cupy as cp
import numpy as np
from source_commit import source_commit

from marginboost import MarginBoostClassifier

TEST_ROWS = 200_000
ROWS_AT_ONCE = 1 << 22
CLUSTERS = 4
SPREAD = 0.7

# What is timed: module, class or "", function.
STEPS = (
    ("backends.gpu", "Gpu", "prepare"),
    ("backends.gpu", "Gpu", "_encoded"),
    ("engine.gpu.device_matrix", "DeviceMatrix", "missing"),
    ("backends.gpu", "", "group_rows"),
    ("engine.gpu.value_tables", "", "_sorted_keys"),
    ("engine.gpu.value_tables", "", "_survey"),
    ("engine.gpu.value_tables", "", "_table"),
    ("engine.gpu.binning", "", "cut_tables"),
    ("engine.gpu.binning", "", "_thresholds"),
    ("engine.gpu.device_matrix", "DeviceColumns", "keys"),
    ("engine.gpu.device_matrix", "DeviceColumns", "bins"),
    ("backends.gpu", "", "rows_on_device"),
    ("data.training_set", "TrainingSet", "hashes"),
    ("data.training_set", "", "row_hashes"),
    ("data.training_set", "", "copy_numbers"),
    ("data.training_set", "TrainingSet", "hash_bounds"),
    ("data.training_set", "TrainingSet", "seen"),
    ("data.training_set", "TrainingSet", "sample_rows"),
    ("engine.gpu.trees.engine", "GpuTreeEngine", "load"),
    ("engine.gpu.trees.engine", "", "RowBins"),
    ("engine.gpu.trees.engine", "", "RowMargins"),
    ("engine.gpu.trees.engine", "", "RowLists"),
    ("engine.gpu.trees.engine", "", "NodeSearch"),
    ("engine.gpu.trees.engine", "GpuTreeEngine", "grow_tree"),
    ("engine.gpu.trees.engine", "GpuTreeEngine", "finish_tree"),
    ("engine.gpu.trees.engine", "GpuTreeEngine", "advance"),
    ("boosting.train", "", "boost_model"),
    ("boosting.train", "", "covered"),
    ("estimators.base", "", "feature_importances"),
)


def synchronize() -> None:
    cp.cuda.Device().synchronize()


class Stopwatch:
    """Adds up the seconds of functions, those that they call included."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    @contextlib.contextmanager
    def around(self, steps):
        with contextlib.ExitStack() as stack:
            for module, of, name in steps:
                owner = importlib.import_module(f"marginboost.{module}")
                owner = getattr(owner, of) if of else owner
                plain = getattr(owner, name)
                stack.callback(setattr, owner, name, plain)
                setattr(owner, name, self._timed(plain, f"{of}.{name}" if of else name))
            yield self

    def _timed(self, plain, label):
        def timed(*args, **options):
            synchronize()
            began = time.perf_counter()
            found = plain(*args, **options)
            synchronize()
            took = time.perf_counter() - began
            self.seconds[label] = self.seconds.get(label, 0.0) + took
            self.calls[label] = self.calls.get(label, 0) + 1
            return found

        return timed

    def table(self) -> list[dict]:
        return [
            {"step": step, "seconds": seconds, "calls": self.calls[step]}
            for step, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])
        ]


def problem(n_rows, n_features, n_classes, seed):
    """Draw rows of clusters, some per class, on the device."""
    rng = cp.random.default_rng(0)
    centres = rng.standard_normal((n_classes * CLUSTERS, n_features), dtype=cp.float32)
    rng = cp.random.default_rng(seed)
    cluster = rng.integers(0, n_classes * CLUSTERS, n_rows)
    X = cp.empty((n_rows, n_features), dtype=cp.float32)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        rows = slice(first, min(first + ROWS_AT_ONCE, n_rows))
        X[rows] = rng.standard_normal((rows.stop - first, n_features), dtype=cp.float32)
        X[rows] += SPREAD * centres[cluster[rows]]
    return X, (cluster // CLUSTERS).astype(cp.int32)


def limits(n, d, k) -> list[dict]:
    """Return the bytes that each step must at least read and write."""
    x, bins = 4 * n * d, n * d
    steps = {
        "missing values: X read": x,
        "labels: y read twice, codes written": 9 * n,
        "grouping: codes sorted, the order written": 10 * n,
        "keys: X read, keys written": 2 * x,
        "sort of 32-bit keys: four passes, and one to count": 9 * x,
        "survey and marks: keys read twice, marks written": 2 * x + bins,
        "values marked: marks scanned and gathered": 3 * bins,
        "bins: X and the order read, bins written": x + 8 * n + bins,
        "hashes: bins read, hashes written": bins + 8 * n,
        "copies: 64-bit hashes sorted": 17 * 8 * n,
        "bins by row: read, written": 2 * bins,
        "margins: e and the direction written": 4 * n * k + 4 * n * (8 if k <= 6 else 16),
    }
    return [{"step": step, "bytes": size} for step, size in steps.items()]


def copy_rate() -> float:
    """Return the bytes per second, read and written, of a copy on the device."""
    source, target = (cp.zeros(1 << 30, dtype=cp.uint8) for _ in range(2))
    best = float("inf")
    for _ in range(5):
        synchronize()
        began = time.perf_counter()
        cp.copyto(target, source)
        synchronize()
        best = min(best, time.perf_counter() - began)
    return 2 * source.nbytes / best


def fitted(arguments, X, y):
    model = MarginBoostClassifier(
        arguments.trees, random_state=0, calibrate=arguments.calibrate, device="cuda"
    )
    return model.fit(X, y)


def timed_fits(arguments, X, y) -> tuple[dict, MarginBoostClassifier]:
    whole, prepared = [], []
    for _ in range(arguments.repeats + 1):
        watch = Stopwatch()
        with watch.around((("backends.gpu", "Gpu", "prepare"),)):
            synchronize()
            began = time.perf_counter()
            model = fitted(arguments, X, y)
            synchronize()
            whole.append(time.perf_counter() - began)
        prepared.append(watch.seconds["Gpu.prepare"])
        print(f"fit: {whole[-1]:.3f} s, of which preparation {prepared[-1]:.3f} s", flush=True)
    rounds = np.diff(model.fit_seconds_)
    return {
        "first_fit_s": whole[0],
        "fit_s": whole[1:],
        "prepare_s": prepared[1:],
        "round_s": float(np.median(rounds)) if len(rounds) else None,
        "first_round_at_s": float(model.fit_seconds_[0]),
        "last_round_at_s": float(model.fit_seconds_[-1]),
        "training_error": float(model.train_errors_[-1]),
    }, model


def xgboost_fits(arguments, X, y, X_test, y_test) -> dict:
    try:
        xgboost = importlib.import_module("xgboost")
    except ImportError:
        return {"left_out": "XGBoost is not installed"}
    found = {"version": xgboost.__version__, "fit_s": []}
    settings = {
        "objective": "multi:softprob", "num_class": arguments.classes, "device": "cuda",
        "tree_method": "hist", "max_bin": 255,
    }  # fmt: skip
    for _ in range(arguments.repeats + 1):
        synchronize()
        began = time.perf_counter()
        rows = xgboost.QuantileDMatrix(X, y, max_bin=255)
        model = xgboost.train(settings, rows, arguments.trees)
        synchronize()
        found["fit_s"].append(time.perf_counter() - began)
        print(f"XGBoost: {found['fit_s'][-1]:.3f} s", flush=True)
    found["fit_s"] = found["fit_s"][1:]
    scores = cp.asarray(model.inplace_predict(X_test))
    found["test_error"] = float((scores.argmax(axis=1) != y_test).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--no-steps", action="store_true")
    parser.add_argument("--xgboost", action="store_true")
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    n, d, k = arguments.rows, arguments.features, arguments.classes
    properties = cp.cuda.runtime.getDeviceProperties(0)
    result = {
        "gpu": properties["name"].decode(), "cupy": cp.__version__,
        "python": platform.python_version(), "commit": source_commit(arguments.commit),
        "rows": n, "features": d, "classes": k, "trees": arguments.trees,
        "calibrate": arguments.calibrate, "copy_bytes_per_s": copy_rate(),
    }  # fmt: skip
    cp.get_default_memory_pool().free_all_blocks()
    result["limits"] = limits(n, d, k)
    for row in result["limits"]:
        row["seconds"] = row["bytes"] / result["copy_bytes_per_s"]
    X, y = problem(n, d, k, seed=1)
    X_test, y_test = problem(TEST_ROWS, d, k, seed=2)
    result["marginboost"], model = timed_fits(arguments, X, y)
    predicted = model.predict(X_test)
    result["marginboost"]["test_error"] = float((predicted != y_test).mean())
    print(json.dumps(result["marginboost"]), flush=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if not arguments.no_steps:
        with Stopwatch().around(STEPS) as watch:
            fitted(arguments, X, y)
        result["steps"] = watch.table()
        for row in result["steps"]:
            print(f"{row['seconds']:9.4f} s {row['calls']:6d} x  {row['step']}", flush=True)
    result["peak_pool_gib"] = cp.get_default_memory_pool().total_bytes() / 2**30
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.xgboost:
        del model
        cp.get_default_memory_pool().free_all_blocks()
        result["xgboost"] = xgboost_fits(arguments, X, y, X_test, y_test)
        print(json.dumps(result["xgboost"]), flush=True)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
