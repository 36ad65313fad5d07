"""A busy machine: fits of five libraries alone, and beside two other programs.

    python benchmarks/busy.py OUT.json [--sets pendigits covtype] [--rounds 30] [--loops 2] [--repeats 3]

Every library fits in a process of its own, with two threads and as many rounds. Its fits alone and
beside the busy loops take turns; medians count. A fit that takes longer than the limit is ended, and its
time counts as the limit. Set MARGINBOOST_DATA, and install the peers (`make .venv/.bench`).
"""

import argparse
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import data
import numpy as np
from report import Report

sys.path.append(str(Path(__file__).parent / "peers"))
from libraries import LIBRARIES, OURS, THREADS

ROUNDS = {"pendigits": 30, "letter": 20, "covtype": 10}
COVTYPE_ROWS = 50_000
LOADING = 120.0
LOOP = "while True: pass"


def rows_of(name: str):
    if name == "covtype":
        X, y, _ = data.read(name)
        chosen = np.random.default_rng(0).choice(len(X), COVTYPE_ROWS, replace=False)
        X, y = X[chosen], y[chosen]
    else:
        split = data.load(name)
        X, y = split.X, split.y
    return np.ascontiguousarray(X, dtype=np.float32), np.unique(y, return_inverse=True)[1]


def serve(library: str, name: str, rounds: str) -> None:
    """Fit whenever a line comes; answer with the seconds."""
    X, y = rows_of(name)
    model = LIBRARIES[library].make(int(rounds))
    if library == OURS:
        model.set_params(calibrate=False)
    model.fit(X, y)  # imports, threads
    print(json.dumps(0.0), flush=True)
    for _ in sys.stdin:
        start = perf_counter()
        model.fit(X, y)
        print(json.dumps(perf_counter() - start), flush=True)


class Fitter:
    """A process that fits when it is asked to."""

    def __init__(self, library: str, name: str, rounds: int) -> None:
        variables = os.environ | {"OMP_NUM_THREADS": str(THREADS)}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", library, name, str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=variables,
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self.answer(LOADING)

    def answer(self, limit: float) -> float | None:
        """Return the next answer; None where it takes too long."""
        if not self._selector.select(limit):
            return None
        return float(json.loads(self._process.stdout.readline()))

    def fit(self, limit: float) -> float | None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self.answer(limit)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def measured(library: str, name: str, options: argparse.Namespace) -> dict:
    """Return the seconds of all fits, alone and beside the loops."""
    seconds: dict[str, list[float]] = {"alone": [], "beside": []}
    rounds = options.rounds or ROUNDS[name]
    fitter = Fitter(library, name, rounds)
    try:
        for _ in range(options.repeats):
            for way, taken in seconds.items():
                if options.limit in taken:
                    continue
                n_loops = options.loops if way == "beside" else 0
                loops = [
                    subprocess.Popen([sys.executable, "-S", "-c", LOOP]) for _ in range(n_loops)
                ]
                try:
                    found = fitter.fit(options.limit)
                finally:
                    for loop in loops:
                        loop.kill()
                        loop.wait()
                taken.append(options.limit if found is None else found)
                if found is None:
                    fitter.end()
                    fitter = Fitter(library, name, rounds)
    finally:
        fitter.end()
    return seconds


def main() -> int:
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", choices=ROUNDS, default=["pendigits", "covtype"])
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES)
    parser.add_argument("--rounds", type=int, help="of every set; fewer where fits take too long")
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    chosen = options.libraries or [
        name for name in LIBRARIES if LIBRARIES[name].is_installed() and name != "xgboost-vector"
    ]
    began = perf_counter()
    columns = ("set", "rounds", "library", "alone, s", f"{options.loops} loops beside, s", "slower")
    report = Report("Fits with two threads on a busy machine", columns)
    details = {}
    versions = {name: LIBRARIES[name].version() for name in chosen}
    for name in options.sets:
        for library in chosen:
            found = measured(library, name, options)
            details[f"{name} {library}"] = found
            alone, beside = (median(found[way]) for way in ("alone", "beside"))
            title = LIBRARIES[library].title
            rounds = options.rounds or ROUNDS[name]
            report.rows.append((name, rounds, title, alone, beside, beside / alone))
            print(report.rows[-1], flush=True)
            more = {
                "fits": details,
                "libraries": versions,
                "threads": THREADS,
                "limit": options.limit,
            }
            report.write(options.out, perf_counter() - began, False, more)  # in case it is ended
    report.show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
