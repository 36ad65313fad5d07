"""Preparing rows: fits of a single tree on a million rows, ours and LightGBM's.

    python benchmarks/preparation.py OUT.json [--rows 1000000] [--columns 30] [--repeats 5]

Rows are float32, normal, nearly all values distinct, three classes; two threads. Fits take turns. Besides
the median seconds the CPU seconds are shown, which other programs disturb less; LightGBM's include what
its threads spend waiting for each other.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import lightgbm
import numpy as np
from report import Report

from marginboost import MarginBoostClassifier

CLASSES, THREADS = 3, 2


def rows(n_rows: int, n_columns: int):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    noise = rng.standard_normal((n_rows, CLASSES), dtype=np.float32)
    return X, (X[:, :CLASSES] + 0.5 * noise).argmax(axis=1)


def timed(fit: Callable[[], object]) -> tuple[float, float]:
    start, cpu = perf_counter(), process_time()
    fit()
    return perf_counter() - start, process_time() - cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    began = perf_counter()
    X, y = rows(options.rows, options.columns)
    models = {
        "marginboost": MarginBoostClassifier(1, calibrate=False, n_jobs=THREADS, random_state=0),
        "LightGBM": lightgbm.LGBMClassifier(n_estimators=1, n_jobs=THREADS, verbosity=-1),
    }
    for model in models.values():
        model.fit(X[:1000], y[:1000])
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(options.repeats):
        for name, model in models.items():
            found[name].append(timed(lambda m=model: m.fit(X, y)))
    columns = ("library", "rows", "columns", "seconds, median", "least", "CPU seconds, median")
    report = Report("Fits of one tree, two threads", columns)
    for name, times in found.items():
        wall, cpu = zip(*times, strict=True)
        cells = (median(wall), min(wall), median(cpu))
        report.rows.append((name, options.rows, options.columns, *cells))
    report.show()
    more = {"fits": found, "lightgbm": lightgbm.__version__}
    report.write(options.out, perf_counter() - began, False, more)
    return 0


if __name__ == "__main__":
    sys.exit(main())
