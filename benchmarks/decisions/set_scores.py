"""Which conformity gives the smallest prediction sets: chosen on sets that sets.py leaves out.

    MARGINBOOST_DATA=... python -m benchmarks.decisions.set_scores [OUT.json]

Each conformity is a number per row and class, the larger the better; a set holds the classes that reach
a threshold, and the most probable one.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.decisions.sets import CHOSEN_ON, COVERAGES, commit
from benchmarks.unfamiliar import problems
from marginboost import MarginBoostClassifier

SPLITS = 3


def main(path: Path) -> None:
    """Measure, print and write."""
    sizes = {name: measure(name) for name in CHOSEN_ON}
    means = {
        score: float(np.exp(np.mean([np.log(sizes[name][score]) for name in CHOSEN_ON])))
        for score in SCORES
    }
    print(means)
    found = {"commit": commit(), "geometric_mean_size": means, "sizes": sizes}
    path.write_text(json.dumps(found, indent=1) + "\n")


def measure(name: str) -> dict[str, float]:
    """Return the mean size of sets, over coverages (in the geometric mean) and splits."""
    problem = problems.load(name)
    n_rows = len(problem.y)
    sizes: dict[str, list] = {score: [] for score in SCORES}
    for split in range(SPLITS):
        parts = {"train_size": min(n_rows // 2, 3_000), "test_size": min(n_rows // 2, 5_000)}
        train, test = train_test_split(
            np.arange(n_rows), **parts, stratify=problem.y, random_state=split
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MarginBoostClassifier(random_state=split)
            model.fit(problem.X.iloc[train], problem.y[train])
        rows = model.calibration_rows_
        labels = np.repeat(rows.labels, rows.copies)
        known = np.repeat(rows.probabilities(), rows.copies, axis=0)
        new = model.predict_proba(problem.X.iloc[test])
        for score, conformity in SCORES.items():
            own = conformity(known)[np.arange(len(labels)), labels]
            reached = conformity(new)
            best = new.argmax(axis=1)
            for coverage in COVERAGES:
                sets = reached >= np.sort(own)[::-1][int(np.ceil(coverage * (len(own) + 1))) - 1]
                sets[np.arange(len(sets)), best] = True
                sizes[score].append(sets.sum(axis=1).mean())
    found = {score: float(np.exp(np.log(values).mean())) for score, values in sizes.items()}
    print(name, found, flush=True)
    return found


def least_ambiguous(shares):
    """Return the probability."""
    return shares.copy()


def least_ambiguous_with_top(shares):
    """Return the probability; infinity for the most probable class."""
    return _with_top(shares.copy(), shares)


def mass_before(shares, penalty=0.0):
    """Return minus the probability of all more probable classes; infinity for the most probable one."""
    order, ranked = _ranked(shares)
    before = np.cumsum(ranked, axis=1) - ranked
    before += penalty * np.maximum(np.arange(shares.shape[1]) - 1, 0)
    return _with_top(_unranked(order, -before), shares)


def penalised_mass_before(shares):
    """Return the same with a penalty of 0.1 on each class from the third on."""
    return mass_before(shares, 0.1)


def cumulative(shares):
    """Return minus the probability of the class and all more probable ones."""
    order, ranked = _ranked(shares)
    return _unranked(order, -np.cumsum(ranked, axis=1))


def randomised_cumulative(shares):
    """Return the same, with a random part of the probability of the class itself."""
    order, ranked = _ranked(shares)
    part = np.random.default_rng(len(shares)).random(len(shares))[:, None]
    return _unranked(order, part * ranked - np.cumsum(ranked, axis=1))


def _ranked(shares):
    order = np.argsort(-shares, axis=1, kind="stable")
    return order, np.take_along_axis(shares, order, 1)


def _unranked(order, values):
    found = np.empty_like(values)
    np.put_along_axis(found, order, values, 1)
    return found


def _with_top(values, shares):
    values[np.arange(len(values)), shares.argmax(axis=1)] = np.inf
    return values


SCORES = {
    "least ambiguous, with the most probable class": least_ambiguous_with_top,
    "least ambiguous": least_ambiguous,
    "mass before (APS)": mass_before,
    "penalised mass before (RAPS)": penalised_mass_before,
    "randomised APS": randomised_cumulative,
    "APS": cumulative,
}

if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/decisions/results/set_scores.json"))
