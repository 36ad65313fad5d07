"""Whole fits on a cluster, preparation included, against one process.

    python benchmarks/cluster/whole_fits.py OUT.json [--rows 400000] [--repeats 3] [--only trees]

Two worker processes of one thread each against one process of two threads, in alternating order, on
rows of covtype that the workers hold. Besides seconds, which need an idle machine: CPU seconds of the
client, the scheduler and the workers, bytes and packets on the loopback device, and Dask's tasks.
"""

import argparse
import json
import logging
import sys
import time
from pathlib import Path

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait
from run import covtype, loopback

from marginboost import MarginBoostClassifier, MCBoostClassifier

sys.path.append(str(Path(__file__).parents[1]))
from report import machine

FITS = {
    "one stump": lambda: MCBoostClassifier(1, max_bins=255),
    "100 stumps": lambda: MCBoostClassifier(100, max_bins=255),
    "one tree": lambda: MarginBoostClassifier(1, calibrate=False, random_state=0),
    "30 trees": lambda: MarginBoostClassifier(30, calibrate=False, random_state=0),
    "30 trees, calibrated": lambda: MarginBoostClassifier(30, random_state=0),
}


class Counts:
    """What the processes of a cluster have used so far; `since` returns the differences."""

    def __init__(self, client, cluster):
        self._client = client
        self._workers = [psutil.Process(w.pid) for w in cluster.workers.values()]

    def now(self) -> dict[str, float]:
        mine = psutil.Process().cpu_times()  # the scheduler is a thread of this process
        workers = [process.cpu_times() for process in self._workers]
        sent, packets = loopback()
        return {
            "client_cpu_s": mine.user + mine.system,
            "worker_cpu_s": sum(times.user + times.system for times in workers),
            "bytes": float(sent),
            "packets": float(packets),
        }

    def since(self, before: dict[str, float]) -> dict[str, float]:
        return {name: value - before[name] for name, value in self.now().items()}


def timed(fit, counts):
    before, start = counts.now(), time.perf_counter()
    model = fit()
    took = time.perf_counter() - start
    return model, {"seconds": took, **counts.since(before)}


def is_same(one, other) -> bool:
    names = ("feature", "threshold", "vectors")
    mine, theirs = one.ensemble_, other.ensemble_
    return all(np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in names)


def compared(name, make, here, there, counts, repeats) -> dict:
    """Fit in this process and on the workers, in turn; the first pair warms up."""
    runs: dict[str, list[dict[str, float]]] = {"process": [], "cluster": []}
    same = True
    for number in range(repeats + 1):
        models = {}
        for kind in ("process", "cluster") if number % 2 else ("cluster", "process"):
            X, y = here if kind == "process" else there
            model, used = timed(lambda X=X, y=y: make().set_params(n_jobs=2).fit(X, y), counts)
            models[kind] = model
            if number:
                runs[kind].append(used)
        same = same and is_same(models["process"], models["cluster"])
    ratios = [
        c["seconds"] / p["seconds"] for c, p in zip(runs["cluster"], runs["process"], strict=True)
    ]
    return {"fit": name, "ratio": float(np.median(ratios)), "same_model": same, **runs}


def median_of(runs, what) -> float:
    return float(np.median([run[what] for run in runs]))


def show(row) -> None:
    alone, spread = row["process"], row["cluster"]
    print(
        f"{row['fit']:22} process {median_of(alone, 'seconds'):6.2f} s "
        f"({median_of(alone, 'client_cpu_s'):.2f} CPU)  cluster {median_of(spread, 'seconds'):6.2f} s "
        f"(client {median_of(spread, 'client_cpu_s'):.2f} CPU, workers "
        f"{median_of(spread, 'worker_cpu_s'):.2f})  {median_of(spread, 'bytes') / 1e6:.1f} MB in "
        f"{median_of(spread, 'packets'):.0f} packets  ratio {row['ratio']:.2f}  "
        f"{'same' if row['same_model'] else 'OTHER'} model",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", help="names of fits; all by default")
    arguments = parser.parse_args()
    X, y, source = covtype()
    chosen = np.random.default_rng(0).permutation(len(y))[: arguments.rows]
    X, y = X[chosen], y[chosen]
    result = {
        "machine": machine(),
        "data": source,
        "rows": len(y),
        "parts": arguments.parts,
        "fits": [],
    }
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as cluster, Client(cluster) as client:  # fmt: skip
        rows = -(-len(y) // arguments.parts)
        there = [da.from_array(a, chunks=(rows, -1)[: a.ndim]).persist() for a in (X, y)]
        wait(there)
        counts = Counts(client, cluster)
        for name, make in FITS.items():
            if arguments.only is None or name in arguments.only:
                row = compared(name, make, (X, y), there, counts, arguments.repeats)
                show(row)
                result["fits"].append(row)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
