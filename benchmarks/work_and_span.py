"""Work and span: what more threads would bring, predicted on one.

    python benchmarks/work_and_span.py OUT.json [--sets covtype letter] [--trees 50] [--repeats 3]
        [--threads 1 2 4 8 16 64] [--real 1 2]

A fit is run on one thread with its parallel work cut as for N threads, and the CPU time of every task
is recorded (`_native.start_trace`). What is not a task is serial, Python included. The prediction for N
threads is the serial time, and for every parallel call the time of the last of N threads that take
the tasks in their order, each as soon as it is free, and what it costs to hand out tasks, which is
measured with two threads. Not predicted: threads that share caches and the bandwidth of the memory, and
clocks that are slower where all cores are busy.

The prediction for two threads is compared with real times, of one and two threads in turn (`--real` names
others, where there are more cores). CPU times are not disturbed much by other programs; real ones are.
"""

import argparse
import heapq
import os
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from time import thread_time

import data
import numpy as np
from report import Claim, Report
from sklearn.model_selection import train_test_split
from timing import interleaved

from marginboost import MarginBoostClassifier, _native

THREADS = (1, 2, 4, 8, 16, 64)
# The least speed-up with 16 threads.
GOALS = {"covtype": 10.0, "letter": 6.0}


def covtype():
    """Return four fifths of the rows: 464,809."""
    X, y, _ = data.read("covtype")
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    return np.ascontiguousarray(X, dtype=np.float32), y


def letter():
    split = data.load("letter")
    return np.ascontiguousarray(split.X, dtype=np.float32), split.y


def mnist():
    X, y, test = data.read("mnist")
    return np.ascontiguousarray(X[~test].reshape(-1, 784), dtype=np.float32), y[~test]


def two_values():
    """Twenty columns of two values each."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200_000, 20)).astype(np.float32)
    noise = rng.random(len(X)) < 0.2
    return X, np.where(noise, rng.integers(0, 5, len(X)), X[:, :4].sum(axis=1)).astype(np.int64)


def one_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 1), dtype=np.float32)
    return X, (np.sin(5 * X[:, 0]) + 0.3 * rng.standard_normal(len(X)) > 0).astype(np.int64)


def many_classes():
    """Ten thousand classes of two rows each."""
    return data.blobs(20_000, 10, 10_000)


SETS = {f.__name__: f for f in (covtype, letter, mnist, two_values, one_feature, many_classes)}


def makespan(tasks, n_threads: int) -> int:
    """Return when the last of some threads is done, each taking the next task as soon as it is free."""
    if len(tasks) <= n_threads:
        return int(max(tasks, default=0))
    free = [0] * n_threads
    for task in tasks:
        heapq.heapreplace(free, free[0] + int(task))
    return max(free)


def traced_fit(fit, dispatch: float) -> dict:
    """Fit once; return the seconds of serial work, of tasks, and of the longest way through them."""
    _native.start_trace()
    try:
        began = _native.trace_nanoseconds()
        fit()
        ended = _native.trace_nanoseconds()
    finally:
        calls, tasks = _native.stop_trace()
    parts: dict[str, dict] = defaultdict(lambda: {"calls": 0, "tasks": 0, "work": 0.0, "span": 0.0})
    gaps: dict[str, float] = defaultdict(float)
    last, before = began, "start"
    for name, n_threads, begin, end, first, n_tasks in calls:
        part = parts[name]
        part["calls"] += 1
        part["tasks"] += n_tasks
        part["work"] += 1e-9 * (end - begin)
        part["span"] += 1e-9 * makespan(tasks[first : first + n_tasks], n_threads)
        gaps[f"{before} > {name}"] += 1e-9 * (begin - last)
        last, before = end, name
    gaps[f"{before} > end"] += 1e-9 * (ended - last)
    work = sum(part["work"] for part in parts.values())
    return {
        "serial": 1e-9 * (ended - began) - work,
        "work": work,
        "span": sum(part["span"] for part in parts.values()),
        "dispatch": dispatch * len(calls),
        "calls": len(calls),
        "parts": dict(sorted(parts.items(), key=lambda item: -item[1]["work"])),
        "serial_between": dict(sorted(gaps.items(), key=lambda item: -item[1])[:12]),
    }


def predicted(found: dict) -> float:
    """Return the predicted seconds of a fit."""
    return found["serial"] + found["span"] + found["dispatch"]


def dispatch_seconds() -> float:
    """Return what it costs to give two threads a task each, beyond the time of the task."""
    task = 20_000  # nanoseconds
    if (os.cpu_count() or 1) < 2:
        return 5e-6
    return 1e-9 * max(_native.time_threads(2, task, 5000) - task, 0)


def measure(report: Report, name: str, options: argparse.Namespace) -> dict:
    """Add the rows of a set to the report; return the details."""
    X, y = SETS[name]()
    dispatch = dispatch_seconds()
    n_trees, repeats = options.trees, options.repeats

    def fit(threads: int):
        return MarginBoostClassifier(n_trees, calibrate=False, random_state=0, n_jobs=threads).fit(
            X, y
        )

    fit(1)
    best: dict[int, dict] = {}
    for _ in range(repeats):
        for threads in options.threads:  # in turn: other load on the machine affects all alike
            found = traced_fit(partial(fit, threads), 0.0 if threads == 1 else dispatch)
            if threads not in best or predicted(found) < predicted(best[threads]):
                best[threads] = found
    alone = predicted(best[1])
    real: dict[str, float] = {}
    if options.real:
        actions = {str(threads): partial(fit, threads) for threads in options.real}
        real = interleaved(actions, repeats=repeats)
    for threads, found in best.items():
        measured = real["1"] / real[str(threads)] if str(threads) in real else None
        seconds = predicted(found)
        all_work = found["serial"] + found["work"]
        report.rows.append(
            (name, threads, seconds, alone / seconds, found["serial"], all_work, measured)
        )
    if name in GOALS and 16 in best:
        speedup = alone / predicted(best[16])
        text = f"{name}, predicted speed-up with 16 threads"
        report.claims.append(Claim(text, speedup, GOALS[name], at_least=True))
    return {
        "rows": len(X),
        "features": X.shape[1],
        "trees": n_trees,
        "dispatch_us": 1e6 * dispatch,
        "threads": best,
        "real_seconds": real,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["covtype", "letter"])
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=list(THREADS))
    parser.add_argument(
        "--real", type=int, nargs="*", default=[1, 2], help="real times: of 1 and others"
    )
    options = parser.parse_args()
    options.threads = sorted({1, *options.threads})
    columns = ("set", "threads", "seconds", "speed-up", "serial", "all work", "real speed-up")
    report = Report(f"Predicted times of {options.trees} trees", columns)
    report.notes.append(
        "seconds of CPU time; all work: of serial parts and tasks, cut for the threads."
    )
    began = thread_time()
    details = {name: measure(report, name, options) for name in options.sets}
    report.show()
    report.write(options.out, thread_time() - began, False, {"details": details})
    return 0 if all(claim.holds for claim in report.claims) else 1


if __name__ == "__main__":
    sys.exit(main())
