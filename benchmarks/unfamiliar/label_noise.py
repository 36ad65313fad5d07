"""Wrong labels: how much error they add, for each library at its defaults.

    python -m benchmarks.unfamiliar.label_noise run|report [--libraries NAME ...] [--out FILE]

Of the fresh sets with at least three classes and 1,000 rows these are the five on which the peers
have the lowest mean error, a rule that was fixed before anything was measured. In the training rows
a share of the labels is replaced by another class, drawn evenly; the test rows keep theirs. The
folds, and the wrong labels in them, are the same for all libraries.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.unfamiliar import contest, problems
from benchmarks.unfamiliar.libraries import LIBRARIES, OURS, Library, fingerprint

SETS = ("pitches", "flavia", "texture", "optdigits", "storms")
LEVELS = (0.0, 0.1, 0.2, 0.4)
COMPARED = (OURS, "lightgbm", "xgboost", "hgb", "extra-trees", "catboost-100")
FOLDS = 3
FILE = Path(__file__).with_name("label_noise.json")


def with_wrong_labels(y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return labels of which a share is another class."""
    rng = np.random.default_rng(seed)
    classes = int(y.max()) + 1
    wrong = rng.random(len(y)) < share
    shift = rng.integers(1, classes, len(y))
    return np.where(wrong, (y + shift) % classes, y)


def measure(library: Library, name: str, level: float, fold: int) -> dict:
    problem = problems.load(name)
    train, test = problem.fold != fold, problem.fold == fold
    y = with_wrong_labels(problem.y[train], level, seed=1000 * fold + round(100 * level))
    start = time.process_time()
    model = library.fit(problem.X[train], y, threads=1)
    shares = library.predict_proba(model, problem.X[test])
    right = shares[np.arange(test.sum()), problem.y[test]]
    return {
        "error": float((shares.argmax(axis=1) != problem.y[test]).mean()),
        "log_loss": float(-np.log(np.clip(right, 1e-15, None)).mean()),
        "cpu_seconds": round(time.process_time() - start, 2),
    }


def run(libraries: list[str], out: Path) -> None:
    """Measure what is missing, and write after each fit."""
    kept = json.loads(out.read_text()) if out.is_file() else {"sources": {}, "results": {}}
    here = {**contest.source(), "build": fingerprint()}
    for name in SETS:
        for library in (LIBRARIES[key] for key in libraries):
            kept["sources"][library.name] = {
                "versions": library.versions(),
                **(here if library.name == OURS else {}),
            }
            for level in LEVELS:
                for fold in range(FOLDS):
                    key = f"{library.name}/{name}/{level}/{fold}"
                    if key in kept["results"]:
                        continue
                    kept["results"][key] = measure(library, name, level, fold)
                    part = out.with_suffix(".part")
                    part.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
                    part.replace(out)
            print(name, library.title, flush=True)


def mean_errors(results: dict, library: str) -> dict[float, float]:
    """Return the mean error over sets and folds by level."""
    return {
        level: mean(
            results[f"{library}/{name}/{level}/{fold}"]["error"]
            for name in SETS
            for fold in range(FOLDS)
        )
        for level in LEVELS
    }


def table(results: dict) -> str:
    """Return the mean error and, from the second level on, the excess over that without noise."""
    found = [key for key in LIBRARIES if any(one.startswith(f"{key}/") for one in results)]
    head = " | ".join(f"{level:.0%} wrong" for level in LEVELS)
    lines = [f"| library | {head} |", "|---|" + "---:|" * len(LEVELS)]
    for key in found:
        errors = mean_errors(results, key)
        cells = [f"{errors[0.0]:.2%}"]
        cells += [f"{errors[lv]:.2%} (+{errors[lv] - errors[0.0]:.2%})" for lv in LEVELS[1:]]
        lines.append(f"| {LIBRARIES[key].title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "report"))
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=COMPARED)
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    if args.do == "run":
        run(args.libraries, args.out)
    print(table(json.loads(args.out.read_text())["results"]))


if __name__ == "__main__":
    main()
