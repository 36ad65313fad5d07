"""Two versions of the package in turn: fits, predictions and files, and their ratios.

    python benchmarks/versions.py OUT.json --before FOLDER --now FOLDER [--runs 3]

A folder is what ``pip install --target FOLDER --no-deps CHECKOUT`` fills. Every run is a process of its
own, one version after the other; the figure of a case is the best of all runs. Two threads. Sets are read
from MARGINBOOST_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

REPEATS = 3


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield names and what is timed; only names and parameters that both versions know."""
    import data  # noqa: PLC0415 - not needed by the process that compares
    from scipy import sparse  # noqa: PLC0415

    import marginboost as mb  # noqa: PLC0415

    letter = data.load("letter")
    X, y = np.ascontiguousarray(letter.X, dtype=np.float32), letter.y
    stumps = mb.MCBoostClassifier(500, n_jobs=2)
    yield "letter, 500 stumps of MCBoost", lambda: stumps.fit(X, y)
    logistic = mb.MCBoostClassifier(300, loss="logistic", n_jobs=2)
    yield "letter, 300 stumps, logistic", lambda: logistic.fit(X, y)
    deep = mb.MCBoostClassifier(50, max_depth=3, n_jobs=2)
    yield "letter, 50 trees of depth 3 of MCBoost", lambda: deep.fit(X, y)
    samme = mb.SAMMEClassifier(200, n_jobs=2)
    yield "letter, 200 stumps of SAMME", lambda: samme.fit(X, y)
    trees = mb.MarginBoostClassifier(100, random_state=0, n_jobs=2)
    yield "letter, 100 trees, calibrated", lambda: trees.fit(X, y)
    yield "letter, probabilities by them", lambda: trees.predict_proba(X)
    one = X[:1]
    yield "letter, 2000 single rows", lambda: [trees.predict(one) for _ in range(2000)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        yield "letter, model saved and loaded", lambda: mb.load(trees.save(file) or file)
    X_large, y_large, _ = data.read("covtype")
    X_large, y_large = np.ascontiguousarray(X_large[:200_000], dtype=np.float32), y_large[:200_000]
    large = mb.MarginBoostClassifier(30, calibrate=False, random_state=0, n_jobs=2)
    yield "covtype, 200,000 rows, 30 trees", lambda: large.fit(X_large, y_large)
    yield (
        "covtype, 200,000 rows, 30 stumps",
        lambda: stumps.set_params(n_estimators=30).fit(X_large, y_large),
    )
    rng = np.random.default_rng(0)
    S = sparse.random(5000, 20_000, density=0.003, format="csr", dtype=np.float32, rng=rng)
    labels = np.asarray(S[:, :7].toarray() @ rng.normal(size=(7, 5))).argmax(axis=1)
    yield (
        "sparse, 5,000 x 20,000, 50 trees",
        lambda: mb.MarginBoostClassifier(50, calibrate=False, random_state=0, n_jobs=2).fit(
            S, labels
        ),
    )


def child() -> None:
    """Print the best seconds of every case, and the versions."""
    found = {}
    for name, action in cases():
        times = []
        for _ in range(REPEATS):
            start = perf_counter()
            action()
            times.append(perf_counter() - start)
        found[name] = min(times)
    print(json.dumps(found))


def measured(folder: Path) -> dict[str, float]:
    """Run all cases with the package in a folder."""
    paths = [str(folder), str(Path(__file__).parent)]
    done = subprocess.run(
        [sys.executable, __file__, "--child"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--now", type=Path)
    parser.add_argument("--commits", nargs=2, default=["", ""], metavar="HASH")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    runs: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
    for _ in range(options.runs):
        runs["before"].append(measured(options.before))
        runs["now"].append(measured(options.now))
    print(f"{'':45} {'before, s':>10} {'now, s':>10} {'ratio':>7}")
    for name in runs["now"][0]:
        before, now = (min(run[name] for run in runs[version]) for version in ("before", "now"))
        print(f"{name:45} {before:10.4f} {now:10.4f} {now / before:7.2f}")
    result = {"commits": dict(zip(runs, options.commits, strict=True)), "runs": runs}
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
