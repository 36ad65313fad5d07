"""The cost of a cluster: measured with local workers, then simulated for more of them.

    python benchmarks/cluster/run.py OUT.json [--figure scaling.png]

Two worker processes of one thread each against one process of two threads, all rows of covtype (from
MARGINBOOST_DATA; synthetic data of its shape if that is missing); messages and bytes per round,
counted on the
loopback device; and the simulation's costs, which are CPU times of the same run.
"""

import argparse
import json
import logging
import os
import sys
import time
from pathlib import Path

import numpy as np
import psutil

sys.path.append(str(Path(__file__).parents[1]))

import dask.array as da
import data
from distributed import Client, LocalCluster
from simulation import Costs, Problem, round_seconds

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends.cluster import Cluster
from marginboost.backends.host import Host
from marginboost.boosting.loop import boost
from marginboost.data.row_view import RowView
from marginboost.engine.cluster.requests import Sum
from marginboost.model.builder import EnsembleBuilder

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
ROUNDS = 40


def covtype():
    if data.path_of("covtype").is_file():
        X, y, _ = data.read("covtype")
        return X, y, "covtype"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 581012)
    X = rng.normal(size=(len(y), 54)) + rng.normal(size=(7, 54))[y]
    X[:, 10:] = X[:, 10:] > 1
    return X.astype(np.float32), y, "made up"


def make_stumps(engine, rows):
    return MCBoostClassifier(max_bins=255)._make_method(engine, rows)


def make_trees(engine, rows):
    classifier = MarginBoostClassifier(calibrate=False)
    return classifier._method(engine, rows, RowView(0), np.random.default_rng(0))


def timed_rounds(method, rows, n_rounds):
    """Return the seconds of each round, and the model."""
    times = [time.perf_counter()]
    builder = EnsembleBuilder(rows.binned.n_features, rows.n_classes)
    boost(method, n_rounds, builder, [lambda _: times.append(time.perf_counter())])
    return np.diff(times)[3:], builder.build()  # the first ones warm up


def loopback():
    counters = psutil.net_io_counters(pernic=True)["lo"]
    return np.array([counters.bytes_sent, counters.packets_sent])


def compared(X, y, chunks, make, classifier, n_rounds, kind):
    """Time rounds in this process and on the workers, and count the workers' bytes."""
    host = Host("native", 2)
    rows, *_ = host.prepare(classifier._requirements(), X, y, None)
    alone_engine = host.make_stump_engine() if kind == "stumps" else host.make_tree_engine(2)
    alone, alone_model = timed_rounds(make(alone_engine, rows), rows, n_rounds)
    del alone_engine, rows
    home = Cluster("cpu", "native")
    start = time.perf_counter()
    rows, *_ = home.prepare(
        classifier._requirements(),
        da.from_array(X, chunks=(chunks, -1)),
        da.from_array(y, chunks=chunks),
        None,
    )
    took_in = time.perf_counter() - start
    engine = home.make_stump_engine() if kind == "stumps" else home.make_tree_engine(1)
    timed_rounds(make(engine, rows), rows, 4)
    before = loopback()
    spread, model = timed_rounds(make(engine, rows), rows, n_rounds)
    sent, packets = (loopback() - before) / n_rounds
    same = all(
        np.array_equal(getattr(model, name), getattr(alone_model, name))
        for name in ("feature", "threshold", "vectors")
    )
    home.close()
    return {
        "kind": kind,
        "one_process_ms": 1e3 * float(np.median(alone)),
        "two_workers_ms": 1e3 * float(np.median(spread)),
        "ratio": float(np.median(spread) / np.median(alone)),
        "bytes_a_round": float(sent),
        "packets_a_round": float(packets),
        "take_in_s": took_in,
        "same_model": same,
    }


def cpu_of_workers(client):
    return sum(client.run(lambda: time.process_time()).values())  # noqa: PLW0108 - runs there


def message_costs(client, n_workers) -> dict:
    """Measure the cost of messages with few rows and bins."""
    X = np.random.default_rng(0).integers(0, 3, (40, 8 * n_workers)).astype(float)
    y = np.arange(40) % 2
    home = Cluster("cpu", "native")
    classifier = MCBoostClassifier()
    parts = da.from_array(X, chunks=(40 // n_workers, -1)), da.from_array(y, chunks=40 // n_workers)
    rows, *_ = home.prepare(classifier._requirements(), *parts, None)
    engine = home.make_stump_engine()
    method = make_stumps(engine, rows)
    method.start()
    n = 300

    def cost(ask):
        ask()
        workers, mine, start = cpu_of_workers(client), time.process_time(), time.perf_counter()
        for _ in range(n):
            ask()
        took, mine = time.perf_counter() - start, time.process_time() - mine
        return took / n, mine / n, (cpu_of_workers(client) - workers) / n

    request = Sum("edges")
    trip, mine, theirs = cost(lambda: engine._session.send(request))
    search_trip, _, with_slices = cost(engine.best_stump)
    home.close()
    slices = n_workers * (n_workers - 1)
    return {
        "workers": n_workers,
        "trip_ms": 1e3 * trip,
        "search_trip_ms": 1e3 * search_trip,
        "client_message_ms": 1e3 * mine / n_workers,
        "worker_answer_ms": 1e3 * theirs / n_workers,
        # A slice is sent by one worker and received by another; half of the cost each.
        "worker_message_ms": 1e3 * max(0.0, with_slices - theirs) / max(slices, 1) / 2,
    }


def row_costs(X, y) -> dict:
    """Measure one thread's time for a row and feature, and for a row and class."""
    host = Host("native", 1)
    rows, classes, _ = host.prepare(MCBoostClassifier(max_bins=255)._requirements(), X, y, None)
    engine = host.make_stump_engine()
    method = make_stumps(engine, rows)
    method.start()

    def seconds(work):
        took = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            took.append(time.perf_counter() - start)
        return min(took)

    k = len(classes)
    one = np.ones((2, k))
    n, d = X.shape
    moving = seconds(lambda: engine.advance(one, one, 10)) + seconds(lambda: engine.sums(10))
    return {"add": seconds(engine.best_stump) / (n * d), "move": moving / (n * k)}


def simulated(costs) -> dict:
    problem = Problem(1e10, 50, 255, 10)
    return {
        "problem": {"rows": 1e10, "features": 50, "bins": 255, "classes": 10, "threads": 16},
        "rounds": [
            {"workers": n, "levels": levels, **round_seconds(costs, problem, n, 16, levels=levels)}
            for n in WORKERS
            for levels in (1, 2)
        ],
    }


def draw(result, path) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only where a figure is asked for

    figure, axes = plt.subplots(figsize=(7, 4.2), constrained_layout=True)
    labels = {1: "all with all, as built", 2: "two levels, as planned"}
    for levels, label in labels.items():
        rounds = [row for row in result["simulation"]["rounds"] if row["levels"] == levels]
        whole = [row["rows"] + row["exchange"] + row["client"] for row in rounds]
        axes.loglog([row["workers"] for row in rounds], whole, "o-", label=label)
    axes.loglog(
        [row["workers"] for row in rounds],
        [row["rows"] for row in rounds],
        "k:",
        label="rows alone",
    )
    axes.set_xlabel("workers of 16 threads")
    axes.set_ylabel("seconds per round")
    axes.set_title("A round of stumps, 10$^{10}$ rows x 50 features, 10 classes (simulated)")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    X, y, source = covtype()
    result = {"data": source, "cpus": os.cpu_count(), "row_costs": row_costs(X, y), "messages": []}
    for n_workers in (1, 2, 4):
        with start(n_workers) as cluster, Client(cluster) as client:
            result["messages"].append(message_costs(client, n_workers))
            print(json.dumps(result["messages"][-1]), flush=True)
    with start(2) as cluster, Client(cluster):
        half = len(y) // 2 + 1
        stumps, trees = MCBoostClassifier(max_bins=255), MarginBoostClassifier()
        result["fits"] = [
            compared(X, y, half, make_stumps, stumps, ROUNDS, "stumps"),
            compared(X, y, half, make_trees, trees, 10, "trees"),
        ]
    for fit in result["fits"]:
        print(json.dumps(fit), flush=True)
    most = result["messages"][-1]
    costs = Costs(
        **result["row_costs"],
        client_message=most["client_message_ms"] / 1e3,
        worker_message=most["worker_message_ms"] / 1e3,
        latency=result["messages"][0]["trip_ms"] / 2e3,
    )
    result["simulation"] = simulated(costs)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.figure is not None:
        draw(result, arguments.figure)


def start(n_workers):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )  # fmt: skip


if __name__ == "__main__":
    main()
