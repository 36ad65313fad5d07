"""The study by which the defaults of MarginBoostClassifier were chosen.

    python benchmarks/defaults.py [--variants NAME ...] [--sets NAME ...] [--out FILE]

Every variant changes one of the defaults. Only training parts are used (of the first split of
`peers/sets.py`): they are split again, 3:1, stratified, several times where they are small, at most
4,000 rows (covtype 20,000). A variant is compared with the defaults set by set: error is the
geometric mean of (error + 0.2 %) over the same of the defaults, log loss and time are geometric
means of plain ratios; below 1 is better than the defaults. Measurements stay in the JSON file, so a
second run only adds what is missing; `defaults.md` has the tables of the last study and our
conclusions.
"""

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from marginboost import MarginBoostClassifier

sys.path.append(str(Path(__file__).parent / "peers"))
import sets

SETS = tuple(sets.SETS)
VARIANTS = {
    "defaults": {},
    "logistic loss": {"loss": "logistic"},
    "100 rounds": {"n_estimators": 100},
    "400 rounds, rate 0.05": {"n_estimators": 400, "learning_rate": 0.05},
    "100 rounds, rate 0.2": {"n_estimators": 100, "learning_rate": 0.2},
    "31 leaves": {"max_leaf_nodes": 31},
    "127 leaves": {"max_leaf_nodes": 127},
    "255 leaves": {"max_leaf_nodes": 255},
    "least 3 rows": {"min_samples_leaf": 3},
    "least 10 rows": {"min_samples_leaf": 10},
    "lambda 0.1": {"l2_regularization": 0.1},
    "lambda 1": {"l2_regularization": 1.0},
    "features 0.25": {"max_features": 0.25},
    "features 0.7": {"max_features": 0.7},
    "all features": {"max_features": 1.0},
    "rows 0.35": {"subsample": 0.35},
    "rows 0.7": {"subsample": 0.7},
    "all rows": {"subsample": 1.0},
    "32 bins": {"max_bins": 32},
    "255 bins": {"max_bins": 255},
    "not calibrated": {"calibrate": False},
}


def cases(name):
    """Yield training and test rows of the splits of a set's training part."""
    problem = sets.load(name, 0)
    X, y = problem.X, problem.y
    most = 20_000 if name == "covtype" else 4_000
    if len(y) > most:
        rows = np.sort(np.random.default_rng(1).permutation(len(y))[:most])
        X, y = X[rows], y[rows]
    counts = np.bincount(y)
    keep = np.flatnonzero(counts[y] >= 4)  # so that every part has rows of each class
    X, y = X[keep], np.unique(y[keep], return_inverse=True)[1]
    repeats = 6 if len(y) < 1500 else 3 if X.shape[1] < 200 else 1
    splitter = StratifiedShuffleSplit(repeats, test_size=0.25, random_state=0)
    for train, test in splitter.split(np.zeros(len(y)), y):
        yield X[train], y[train], X[test], y[test]


def measure(name, settings):
    """Return mean error, log loss and fit time of a variant on a set."""
    found = []
    for seed, (X, y, X_test, y_test) in enumerate(cases(name)):
        model = MarginBoostClassifier(random_state=seed, **settings)
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        p = model.predict_proba(X_test)
        error = float(np.mean(model.classes_[p.argmax(axis=1)] != y_test))
        loss = log_loss(y_test, np.clip(p, 1e-15, 1), labels=model.classes_)
        found.append((error, loss, seconds, model.probability_scale_))
    return [float(v) for v in np.mean(found, axis=0)]


def geometric(ratios):
    return float(np.exp(np.mean(np.log(ratios))))


def table(results, variants, names):
    """Return the comparison as Markdown."""
    lines = [
        "| variant | error | log loss | fit time | " + " | ".join(names) + " |",
        "|---|" + "---|" * (3 + len(names)),
    ]
    for variant in variants:
        have = [n for n in names if n in results.get(variant, {}) and n in results["defaults"]]
        if not have:
            continue
        ours = np.array([results[variant][n] for n in have])
        base = np.array([results["defaults"][n] for n in have])
        ratios = [
            geometric((ours[:, 0] + 0.002) / (base[:, 0] + 0.002)),
            geometric(ours[:, 1] / base[:, 1]),
            geometric(ours[:, 2] / base[:, 2]),
        ]
        cells = [f"{100 * results[variant][n][0]:.2f}" if n in have else "" for n in names]
        lines.append(f"| {variant} | " + " | ".join([f"{r:.3f}" for r in ratios] + cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--out", type=Path, default=Path("out/defaults.json"))
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.is_file() else {}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for variant in dict.fromkeys(["defaults", *options.variants]):
        for name in options.sets:
            if name in results.get(variant, {}):
                continue
            results.setdefault(variant, {})[name] = measure(name, VARIANTS[variant])
            options.out.write_text(json.dumps(results, indent=1) + "\n")
        print(table(results, [variant], options.sets).splitlines()[-1], flush=True)
    print(table(results, VARIANTS, options.sets))


if __name__ == "__main__":
    main()
