"""Whole fits by number of threads, ours and LightGBM's, where there are many cores.

    python benchmarks/many_cores.py OUT.json [--threads 1 2 4 8 16] [--repeats 2]

covtype with 50 trees and letter with 100, not calibrated, the best of the repeats; LightGBM with as many
rounds, with two threads and the most, once each, where it is installed. About half a minute on 16 cores.
Set MARGINBOOST_DATA. `work_and_span.py OUT.json --real 1 2 4 8 16` predicts the same.
"""

import argparse
import json
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import work_and_span
from report import machine

from marginboost import MarginBoostClassifier

TREES = {"covtype": 50, "letter": 100}


def seconds(fit) -> float:
    start = perf_counter()
    fit()
    return perf_counter() - start


def ours(X, y, trees: int, threads: int, repeats: int) -> float:
    model = MarginBoostClassifier(trees, calibrate=False, random_state=0, n_jobs=threads)
    return min(seconds(lambda: model.fit(X, y)) for _ in range(repeats))


def lightgbm(X, y, trees: int, threads: int) -> float:
    model = import_module("lightgbm").LGBMClassifier(
        n_estimators=trees, n_jobs=threads, verbosity=-1
    )
    return seconds(lambda: model.fit(X, y))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for name, trees in TREES.items():
        X, y = work_and_span.SETS[name]()
        ours(X[:2000], y[:2000], 2, max(options.threads), 1)
        for threads in options.threads:
            times = found[f"{name}-{threads}"] = {
                "ours": ours(X, y, trees, threads, options.repeats)
            }
            if threads in (2, max(options.threads)) and find_spec("lightgbm"):
                times["lightgbm"] = lightgbm(X, y, trees, threads)
            print(name, threads, times, flush=True)
    result = {"machine": machine(), "cpus": len(os.sched_getaffinity(0)), "seconds": found}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
