"""Constraints: what they cost in accuracy and time, and whether they are kept.

    MARGINBOOST_DATA=... python -m benchmarks.decisions.constraints [interactions] [monotonic]

Each set is split at random three times into rows to train on (half of them, at most 2,000 for
interactions and 1,000 for monotone columns) and rows to test on (at most 3,000), the same for all fits.
All fits have the defaults. The monotone rules are what one would expect of the columns; none was chosen
by results. Violations are counted exactly: in 100 test rows a column takes, one after the other, a value
in every cell that the trees tell apart. Times are ratios of processor time, on one thread, to the fit
without constraints on the same rows, in the same process; the number of rounds, which the fit chooses,
differs.
"""

import json
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.unfamiliar import catalogue
from marginboost import MarginBoostClassifier

SPLITS = 3
MOST_TRAIN = {"interactions": 2_000, "monotonic": 1_000}
MOST_TEST, MOVED_ROWS = 3_000, 100
LEAST_ROWS = 20  # of a class
INTERACTION_SETS = (
    *("vehicle", "segment", "satimage", "waveform", "wine_quality_white", "yeast"),
    *("contraceptive", "student_dropout"),
)


def ladder(*labels):
    """Return pairs of each class and the one below it; the lowest comes first."""
    return {(high, low): 1 for low, high in pairwise(labels)}


def signs(pairs, sign):
    return {pair: sign * value for pair, value in pairs.items()}


_WINE = ladder(3, 4, 5, 6, 7, 8)
_AGE = ladder("young", "grown", "old")
_UNITS = "Curricular units {} sem (approved)"
MONOTONIC = {
    "heart_c": {"age": 1, "oldpeak": 1, "ca": 1, "trestbps": 1, "thalach": -1},
    "good_wine": {"alcohol": 1, "volatile_acidity": -1, "chlorides": -1},
    "wine_quality_white": {
        "alcohol": signs(_WINE, 1),
        "volatile_acidity": signs(_WINE, -1),
        "chlorides": signs(_WINE, -1),
    },
    "abalone_age": {"shell_weight": _AGE, "length": _AGE, "height": _AGE},
    "balance_scale": {
        "left-weight": {("L", "R"): 1, ("L", "B"): 1, ("B", "R"): 1},
        "left-distance": {("L", "R"): 1, ("L", "B"): 1, ("B", "R"): 1},
        "right-weight": {("L", "R"): -1, ("L", "B"): -1, ("B", "R"): -1},
        "right-distance": {("L", "R"): -1, ("L", "B"): -1, ("B", "R"): -1},
    },
    "student_dropout": {
        _UNITS.format("1st"): {("Graduate", "Dropout"): 1},
        _UNITS.format("2nd"): {("Graduate", "Dropout"): 1},
        "Tuition fees up to date": {("Graduate", "Dropout"): 1},
    },
}


def main(parts: list[str]) -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore")
    for part in parts:
        found = {"commit": _commit(), "splits": SPLITS, "sets": {}}
        for name in INTERACTION_SETS if part == "interactions" else MONOTONIC:
            fits = {kind: {"interaction_cst": kind} for kind in ("no_interactions", "pairwise")}
            if part == "monotonic":
                fits = {part: {"monotonic_cst": MONOTONIC[name]}}
            found["sets"][name] = measure(name, fits, MOST_TRAIN[part])
            print(part, name, json.dumps(found["sets"][name]), flush=True)
            path = Path(__file__).parent / "results" / f"{part}.json"
            path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def read(name):
    """Return a set with classes of enough rows."""
    source = {"good_wine": "wine_quality_white", "abalone_age": "abalone_rings"}.get(name, name)
    X, y = catalogue.read(source)
    X.columns = [str(column).strip() for column in X.columns]
    if name == "good_wine":
        y = (y >= 6).astype(int)
    if name == "abalone_age":
        y = pd.Series(np.array(["young", "grown", "old"])[np.digitize(y, [8.5, 10.5])])
    kept = y.map(y.value_counts()) >= LEAST_ROWS
    X = X[kept].reset_index(drop=True)
    for column in X.select_dtypes(exclude="number"):
        X[column] = X[column].astype("category")
    return X, y[kept].to_numpy()


def measure(name, fits, most_train):
    """Return means over splits, without constraints and with each."""
    X, y = read(name)
    records = {"free": [], **{kind: [] for kind in fits}}
    peers = {"free": [], "constrained": []}
    for split in range(SPLITS):
        n_train = min(len(y) // 2, most_train)
        n_test = min(len(y) - n_train, MOST_TEST)
        parts = train_test_split(
            X, y, train_size=n_train, test_size=n_test, random_state=split, stratify=y
        )
        for kind, parameters in {"free": {}, **fits}.items():
            records[kind].append(one_fit(parts, parameters, split))
        rules = fits.get("monotonic", {}).get("monotonic_cst")
        if rules and len(np.unique(y)) == 2:
            for kind, given in (("free", None), ("constrained", rules)):
                peers[kind].append(peer_loss(parts, given))
    free = np.mean([record["seconds"] for record in records["free"]])
    found = {"rows": min(len(y) // 2, most_train), "classes": len(np.unique(y))}
    for kind, of_kind in records.items():
        means = {key: float(np.mean([one[key] for one in of_kind])) for key in ("error", "loss")}
        seconds = float(np.mean([record["seconds"] for record in of_kind]))
        found[kind] = means | {"time": seconds / free}
        for key in ("violations", "comparisons", "broken_paths"):
            found[kind][key] = sum(one[key] for one in of_kind)
    if peers["free"]:
        found["hist_gradient_boosting"] = {k: float(np.mean(v)) for k, v in peers.items()}
    return found


def one_fit(parts, parameters, seed):
    """Fit, and return error, log loss, seconds, and how often the constraints are broken."""
    X, X_test, y, y_test = parts
    model = MarginBoostClassifier(random_state=seed, n_jobs=1, **parameters)
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    p = model.predict_proba(X_test)
    loss = log_loss(y_test, p, labels=model.classes_)
    error = float(np.mean(model.classes_[p.argmax(axis=1)] != y_test))
    rules = parameters.get("monotonic_cst") or {}
    broken = [count_violations(model, X_test[:MOVED_ROWS], *rule) for rule in rules.items()]
    return {
        "error": error,
        "loss": float(loss),
        "seconds": seconds,
        "violations": sum(one for one, _ in broken),
        "comparisons": sum(all_ for _, all_ in broken),
        "broken_paths": broken_paths(model, parameters.get("interaction_cst")),
    }


def count_violations(model, X, column, wanted):
    """Count neighbouring cells in which a difference moves the wrong way, and all of them."""
    place = list(model.feature_names_in_).index(column)
    ensemble = model.ensemble_
    cuts = np.unique(ensemble.threshold[model.encoding_.source[ensemble.feature] == place])
    cuts = cuts[np.abs(cuts) < 1e300]
    if not len(cuts):
        return 0, 0
    F = []
    for value in [*cuts, cuts[-1] + 1.0]:
        moved = X.copy()
        moved[column] = float(value)
        F.append(ensemble.decision_function(model._checked(moved)))
    F = np.stack(F)
    labels = model.classes_.tolist()
    pairs = wanted if isinstance(wanted, dict) else {(labels[1], labels[0]): wanted}
    steps = [
        sign * np.diff(F[:, :, labels.index(a)] - F[:, :, labels.index(b)], axis=0)
        for (a, b), sign in pairs.items()
    ]
    return int(sum((one < 0.0).sum() for one in steps)), sum(one.size for one in steps)


def broken_paths(model, kind):
    """Count nodes below more columns than may interact."""
    if kind is None:
        return 0
    most = {"no_interactions": 1, "pairwise": 2}[kind]
    ensemble, source, broken = model.ensemble_, model.encoding_.source, 0
    for first, last in pairwise(ensemble.node_offsets.tolist()):
        above = {0: frozenset()}
        for node in range(last - first):
            path = above[node] | {int(source[ensemble.feature[first + node]])}
            broken += len(path) > most
            above[int(ensemble.left[first + node])] = path
            above[int(ensemble.right[first + node])] = path
    return broken


def peer_loss(parts, rules):
    X, X_test, y, y_test = parts
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", monotonic_cst=rules, early_stopping=True, random_state=0
    ).fit(X, y)
    return log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)


def _commit():
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main(sys.argv[1:] or list(MOST_TRAIN))
