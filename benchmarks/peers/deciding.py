"""Fits that decide for themselves, beside 100 rounds and LightGBM, on the sets of this folder.

    python benchmarks/peers/deciding.py OUT.json [--sets SET ...]

For the first split of each set: error and log loss on its test rows, and the seconds of the fastest of
three fits (of one, if it takes more than 10 s) with two threads, all in one process. LightGBM is left
out where a fit of it takes minutes. MARGINBOOST_DATA names the folder of the sets.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from statistics import geometric_mean

import lightgbm
import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share
import sets
from report import machine

from marginboost import MarginBoostClassifier

THREADS, FITS, LONG = 2, 3, 10.0
MINUTES = ("reuters", "mnist", "isolet", "news20", "usps", "leaves100")  # of LightGBM
MODELS = {
    "deciding": lambda: MarginBoostClassifier(random_state=0, n_jobs=THREADS),
    "100 rounds": lambda: MarginBoostClassifier(100, random_state=0, n_jobs=THREADS),
    "LightGBM": lambda: lightgbm.LGBMClassifier(n_jobs=THREADS, verbosity=-1),
}


def measure(make, problem) -> dict:
    """Fit and predict; return error, log loss and seconds."""
    seconds: list[float] = []
    while len(seconds) < FITS and not (seconds and seconds[0] > LONG):
        start = time.perf_counter()
        model = make().fit(problem.X, problem.y)
        seconds.append(time.perf_counter() - start)
    shares = model.predict_proba(problem.X_test)
    own = shares[np.arange(len(problem.y_test)), problem.y_test]
    found = {
        "error": float((model.predict(problem.X_test) != problem.y_test).mean()),
        "log_loss": float(-np.log(np.clip(own, 1e-15, None)).mean()),
        "seconds": round(min(seconds), 4),
    }
    if hasattr(model, "chosen_"):
        found["parts"] = [
            [part["name"], part["share"], part["fits"], part["n_estimators"]]
            for part in model.chosen_["parts"]
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(sets.SETS), choices=sets.SETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, dict] = {}
    head = {"machine": machine(), "threads": THREADS, "lightgbm": lightgbm.__version__}
    for name in options.sets:
        problem = sets.load(name, 0)
        results[name] = {"rows": len(problem.y), "classes": int(problem.y.max()) + 1}
        for model, make in MODELS.items():
            if model != "LightGBM" or name not in MINUTES:
                results[name][model] = measure(make, problem)
                print(name, model, results[name][model], flush=True)
        options.out.write_text(json.dumps({**head, "sets": results}, indent=1) + "\n")
    for model in ("deciding", "100 rounds"):
        ratios = [
            found["LightGBM"]["seconds"] / found[model]["seconds"]
            for found in results.values()
            if "LightGBM" in found
        ]
        if ratios:
            print(f"{model}: {geometric_mean(ratios):.2f} times as fast as LightGBM")


if __name__ == "__main__":
    main()
