"""Prediction of many rows: beside the fastest peers, and beside the least that the kernel's work takes.

    python benchmarks/batch_prediction.py OUT.json [--sets vehicle letter] [--models FOLDER] [--fit-only]

Models of 100 rounds are fitted once and kept in the folder. All libraries then predict probabilities of
the same rows in turn, with one thread; the least CPU time of many short calls counts, so that other
programs disturb it little. The rows are the test rows, 20,000 of them, repeated where there are fewer.
Scores of ours are also given in cycles per row and tree, beside the least cycles of docs/speed.md. Set
MARGINBOOST_DATA, and install the peers (`make .venv/.bench`). LightGBM, scikit-learn's HGB and XGBoost's
default trees are left out: they took 6 to 230 times as long as ours on every set (docs/benchmarks.md).
"""

import argparse
import pickle
import re
import sys
from functools import partial
from math import ceil, exp, inf, log, log2
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from report import Report

sys.path.append(str(Path(__file__).parent / "peers"))
from libraries import LIBRARIES, OURS
from sets import SETS, load

PEERS = ("catboost", "xgboost-vector")
DEFAULT = ("vehicle", "vowel", "segment", "dna", "pendigits", "satimage", "letter", "covtype")
ROUNDS = 100
N_ROWS = 20_000
LEAST_TURNS = 6
# docs/speed.md: vector operations per move of 32 rows, operations and loads that a cycle takes, loads
# per row for eight classes.
OPERATIONS_PER_MOVE, ROWS_PER_MOVE, OPERATIONS_PER_CYCLE = 5, 32, 4
LOADS_PER_PANEL, LOADS_PER_CYCLE, CLASSES_PER_PANEL = 3, 2, 8
COMPARISONS_PER_CYCLE = 3.2


def fitted(library: str, name: str, folder: Path):
    """Return the model of a library, fitted now or read from the folder."""
    path = folder / f"{name}-{library}.pickle"
    if path.is_file():
        return pickle.loads(path.read_bytes())
    rows = load(name, 0)
    model = LIBRARIES[library].make(ROUNDS)
    model.fit(rows.X, rows.y)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(model))
    return model


def predictor(library: str, model):
    """Return what predicts probabilities with one thread."""
    if library == "catboost":
        return lambda X: model.predict_proba(X, thread_count=1)
    model.set_params(n_jobs=1)
    if library.startswith("xgboost"):
        model.get_booster().set_param({"nthread": 1})
    return model.predict_proba


def many_rows(name: str):
    X = load(name, 0).X_test
    return np.ascontiguousarray(np.tile(X, (ceil(N_ROWS / len(X)), 1))[:N_ROWS])


def least_seconds(actions: dict, seconds: float) -> dict[str, float]:
    """Return the least CPU seconds of each action; they take turns."""
    best = dict.fromkeys(actions, inf)
    end, turn = perf_counter() + seconds, 0
    while turn < LEAST_TURNS or perf_counter() < end:
        for name, action in actions.items():
            start = process_time()
            action()
            best[name] = min(best[name], process_time() - start)
        turn += 1
    return best


def least_cycles(model, n_classes: int) -> float:
    """Return the least cycles per row and tree: leaves, sums, and a tree's share of the ranks."""
    trees = model.ensemble_
    splits = len(trees.feature) / trees.n_trees
    moves = splits * OPERATIONS_PER_MOVE / ROWS_PER_MOVE / OPERATIONS_PER_CYCLE
    sums = ceil(n_classes / CLASSES_PER_PANEL) * LOADS_PER_PANEL / LOADS_PER_CYCLE
    pairs = np.unique(np.column_stack((trees.feature, trees.threshold)), axis=0)
    thresholds = np.unique(pairs[:, 0], return_counts=True)[1]
    comparisons = sum(ceil(log2(n + 1)) for n in thresholds.tolist())
    return moves + sums + comparisons / COMPARISONS_PER_CYCLE / trees.n_trees


def gigahertz() -> float:
    """Return the clock rate that the system names."""
    words = Path("/proc/cpuinfo").read_text()
    return float(re.search(r"cpu MHz\s*:\s*([\d.]+)", words).group(1)) / 1e3


def measure(name: str, models: dict, report: Report, seconds: float) -> dict:
    X = many_rows(name)
    ours = models[OURS]
    k = len(ours.classes_)
    actions = {library: partial(predictor(library, model), X) for library, model in models.items()}
    actions["scores"] = lambda: ours.ensemble_.decision_function(X, n_threads=1)
    best = least_seconds(actions, seconds)
    per_row = {library: 1e6 * taken / len(X) for library, taken in best.items()}
    peer = min((name for name in models if name != OURS), key=per_row.__getitem__)
    cycles = 1e3 * per_row["scores"] * gigahertz() / ours.ensemble_.n_trees
    least = least_cycles(ours, k)
    ratio = per_row[peer] / per_row[OURS]
    cells = (per_row[OURS], per_row[peer], LIBRARIES[peer].title, ratio, cycles, least)
    report.rows.append((name, len(X), k, *cells, cycles / least))
    print(report.rows[-1], flush=True)
    return {"us_per_row": per_row, "ratio": ratio}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(DEFAULT))
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--models", type=Path, default=Path("out/batch-models"))
    parser.add_argument("--fit-only", action="store_true")
    parser.add_argument("--seconds", type=float, default=5.0, help="per set")
    options = parser.parse_args()
    columns = (
        *("set", "rows", "classes", "us/row", "fastest peer, us/row", "fastest peer", "ratio"),
        *("cycles per row and tree", "least cycles", "of the least"),
    )
    report = Report("Prediction of many rows, one thread", columns)
    began = perf_counter()
    details = {}
    for name in options.sets:
        chosen = (OURS, *options.peers)
        models = {library: fitted(library, name, options.models) for library in chosen}
        if not options.fit_only:
            details[name] = measure(name, models, report, options.seconds)
    if options.fit_only:
        return 0
    mean = exp(sum(log(found["ratio"]) for found in details.values()) / len(details))
    report.notes.append(f"{mean:.3g} times as fast as the fastest peer, geometric mean.")
    report.show()
    versions = {name: LIBRARIES[name].version() for name in (OURS, *options.peers)}
    more = {"sets": details, "libraries": versions, "gigahertz": gigahertz(), "mean_ratio": mean}
    report.write(options.out, perf_counter() - began, False, more)
    return 0


if __name__ == "__main__":
    sys.exit(main())
