"""Prediction sets: how often they hold the right class, and how large they are.

    MARGINBOOST_DATA=... python -m benchmarks.decisions.sets [OUT.json]

On ten sets, each split at random into rows to train on (half of them, at most 4,000) and all other rows
to test on: a hundred times, or twenty times where 3,000 rows or more are trained on, so that the mean
coverage is known to some tenths of a point. The rule of the sets was chosen on other sets (CHOSEN_ON). On
the first fifth or quarter of the splits there are also split-conformal sets from LightGBM with its
defaults, for their sizes: fitted without a fifth of the training rows, which is what each of our trials
holds out, and calibrated on that fifth, once by our rule and once by MAPIE's "lac", whose sets may be
empty.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.model_selection import train_test_split

from benchmarks.unfamiliar import problems
from marginboost import MarginBoostClassifier
from marginboost.evaluation.sets import set_coverage, set_sizes
from marginboost.model.calibration_rows import CalibrationRows
from marginboost.model.set_rule import SetRule

CHOSEN_ON = (
    *("contraceptive", "led7digit", "cardiotocography10", "wine_quality_white", "waveform"),
    *("fars", "krkopt"),
)
SETS = (
    *("vehicle", "yeast", "abalone_rings", "student_dropout", "satimage"),
    *("splice", "covtype", "sleep", "connect_4", "diabetes130"),
)
COVERAGES = (0.8, 0.9, 0.95)
MANY_ROWS = 3_000  # from which on fewer splits are made
SPLITS, FEWER_SPLITS = 100, 20
PEER_SPLITS, FEWER_PEER_SPLITS = 20, 5  # in which LightGBM is fitted too, and sizes are compared
MOST_TRAIN = 4_000
NEAR = 0.01  # a mean coverage is to be this near
ENOUGH = 200  # held-out rows of a class whose coverage is reported
LEAST_ROWS = 20  # of a class of a set, so that all parts have some


def main(path: Path) -> None:
    """Measure, print and write."""
    results = {"chosen_on": CHOSEN_ON, "sets": {}}
    if path.is_file():  # a run that was interrupted goes on
        results = json.loads(path.read_text())
    for name in SETS:
        if name in results["sets"]:
            continue
        results["sets"][name] = found = {"commit": commit(), **measure(name)}
        lines = ",\n".join(
            f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in results["sets"].items()
        )
        head = json.dumps(results["chosen_on"])
        path.write_text(f'{{"chosen_on": {head},\n "sets": {{\n{lines}\n}}}}\n')
        for coverage in COVERAGES:
            print(
                f"{name:16} {coverage}", *(_shown(found, coverage, by) for by in METHODS), sep="  "
            )
        print(f"{'':16} per class {found['class_gaps']}", flush=True)
    print(summary(results))


OURS = ("marginal", "class", "randomized")
PEERS = ("lightgbm", "lightgbm_class", "mapie")
METHODS = (*OURS, *PEERS)


def measure(name: str) -> dict:
    """Return the means over the splits of a set."""
    problem = problems.load(name)
    frequent = np.flatnonzero(np.bincount(problem.y) >= LEAST_ROWS)
    kept = np.flatnonzero(np.isin(problem.y, frequent))
    X, y = problem.X.iloc[kept], np.searchsorted(frequent, problem.y[kept])
    many = min(len(y) // 2, MOST_TRAIN) >= MANY_ROWS
    splits, peers = (FEWER_SPLITS, FEWER_PEER_SPLITS) if many else (SPLITS, PEER_SPLITS)
    runs = [measure_split(X, y, split, peers=split < peers) for split in range(splits)]
    return {
        **{method: _means(runs, method, peers) for method in METHODS},
        "splits": splits,
        "peer_splits": peers,
        "train_rows": runs[0]["train_rows"],
        "held_out_rows": float(np.mean([run["held_out_rows"] for run in runs])),
        "classes": len(frequent),
        "accuracy": float(np.mean([run["accuracy"] for run in runs])),
        "lightgbm_accuracy": float(np.mean([run["lightgbm_accuracy"] for run in runs[:peers]])),
        "class_gaps": {str(coverage): _class_gaps(runs, coverage) for coverage in COVERAGES},
    }


def _means(runs, method: str, peers: int) -> dict:
    """Return the mean coverage, its standard error, each split's, and the mean size in the first."""
    found = {}
    for coverage in COVERAGES:
        parts = [run[method][coverage] for run in runs if coverage in run.get(method, {})]
        if not parts:
            continue
        covered = [part["coverage"] for part in parts]
        found[str(coverage)] = {
            "coverage": float(np.mean(covered)),
            "error": float(np.std(covered, ddof=1) / np.sqrt(len(covered))),
            "size": float(np.mean([part["size"] for part in parts[:peers]])),
            "splits": [round(one, 5) for one in covered],
        }
    return found


def measure_split(X, y, split: int, *, peers: bool) -> dict:
    """Fit, with or without the other library, and measure the sets of test rows."""
    n_train = min(len(y) // 2, MOST_TRAIN)
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_train, stratify=y, random_state=split
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MarginBoostClassifier(random_state=split, n_jobs=1).fit(X.iloc[train], y[train])
    ours = model._set_rule()
    shares = model.predict_proba(X.iloc[test])
    u = np.random.default_rng(split).random(len(test))
    counts = ours.rows.count()
    by_class = {}
    for coverage in COVERAGES:
        sets = ours.sets(shares, coverage, "class")
        covered = set_coverage(sets, y[test])[1]
        by_class[coverage] = {k: covered[k] for k in np.flatnonzero(counts >= ENOUGH).tolist()}
    found = {
        "marginal": _all(lambda coverage: ours.sets(shares, coverage, "marginal"), y[test]),
        "class": _all(lambda coverage: ours.sets(shares, coverage, "class"), y[test]),
        "randomized": _all(
            lambda coverage: ours.randomized_sets(shares, coverage, "marginal", u), y[test]
        ),
        "by_class": by_class,
        "train_rows": len(train),
        "held_out_rows": int(counts.sum()),
        "accuracy": float(np.mean(shares.argmax(axis=1) == y[test])),
    }
    return found | _peers(X, y, train, test, split) if peers else found


def _peers(X, y, train, test, split: int) -> dict:
    """Return the same for sets from LightGBM's probabilities."""
    fit, held_out = train_test_split(train, test_size=0.2, stratify=y[train], random_state=split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LGBMClassifier(random_state=split, verbose=-1, n_jobs=1)
        peer.fit(X.iloc[fit], y[fit])
        known = peer.predict_proba(X.iloc[held_out])
        theirs = peer.predict_proba(X.iloc[test])
    ones = np.ones(len(held_out))
    logits = np.log(np.maximum(known, 1e-27))
    rows = CalibrationRows.of_logits(logits, y[held_out], ones, ones.astype(np.int64))
    rule = SetRule(rows, peer.classes_)
    return {
        "lightgbm": _all(lambda coverage: rule.sets(theirs, coverage, "marginal"), y[test]),
        "lightgbm_class": _all(lambda coverage: rule.sets(theirs, coverage, "class"), y[test]),
        "mapie": _mapie(peer, X.iloc[held_out], y[held_out], X.iloc[test], y[test]),
        "lightgbm_accuracy": float(np.mean(theirs.argmax(axis=1) == y[test])),
    }


def _all(sets_at, y) -> dict:
    found = {}
    for coverage in COVERAGES:
        sets = sets_at(coverage)
        found[coverage] = {
            "coverage": set_coverage(sets, y)[0],
            "size": float(set_sizes(sets).mean()),
        }
    return found


def _mapie(peer, X, y, X_test, y_test) -> dict:
    """Return the same for MAPIE's sets; nothing where it is not installed."""
    try:
        from mapie.classification import SplitConformalClassifier  # noqa: PLC0415
    except ImportError:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        conformal = SplitConformalClassifier(
            peer, confidence_level=list(COVERAGES), conformity_score="lac", prefit=True
        )
        conformal.conformalize(X, y)
        sets = conformal.predict_set(X_test)[1]
    return _all(lambda coverage: sets[:, :, COVERAGES.index(coverage)], y_test)


def _class_gaps(runs, coverage: float) -> dict:
    """Return how far the coverage of classes is from what was asked for: the mean over the splits."""
    classes = set.intersection(*(set(run["by_class"][coverage]) for run in runs))
    means = [np.mean([run["by_class"][coverage][k] for run in runs]) - coverage for k in classes]
    if not means:
        return {"classes": 0}
    return {"classes": len(means), "least": float(min(means)), "largest": float(max(means))}


def _shown(found: dict, coverage: float, method: str) -> str:
    entry = found[method].get(str(coverage))
    if entry is None:
        return f"{method} -"
    return f"{method} {entry['coverage']:.3f}±{entry['error']:.3f} {entry['size']:.2f}"


def summary(results: dict) -> str:
    """Say how many mean coverages are as near as they should be, and which are not."""
    lines = []
    for method in ("marginal", "randomized"):
        cases = [
            (name, coverage, found[method][str(coverage)]["coverage"] - coverage)
            for name, found in results["sets"].items()
            for coverage in COVERAGES
            if method == "randomized" or found["accuracy"] <= coverage
        ]
        far = [case for case in cases if abs(case[2]) > NEAR]
        named = "; ".join(f"{name} at {coverage}: {100 * gap:+.1f}" for name, coverage, gap in far)
        lines.append(f"{method}: {len(cases) - len(far)} of {len(cases)} within 1 point. {named}")
    return "\n".join(lines)


def commit() -> str:
    """Return the commit of the checkout."""
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/decisions/results/sets.json"))
