"""Mean costs on five sets, with random and structured cost matrices, beside LightGBM.

    MARGINBOOST_DATA=... python -m benchmarks.decisions.costs

The sets and the matrices were fixed before the first run. Nothing about costs was chosen on these sets.
"""

import lightgbm
import numpy as np

from benchmarks.decisions.rows import folds, geometric_mean, load, write
from marginboost import MarginBoostClassifier

SETS = ("vehicle", "vowel", "segment", "satimage", "dna")
MOST_ROWS = 3000
OURS = "marginboost, costs"
OTHERS = {
    "uncosted": "marginboost, most probable class",
    "weights": "LightGBM, class weights from the costs",
    "least cost": "LightGBM, least expected cost",
}


def matrices(y: np.ndarray) -> dict[str, np.ndarray]:
    """Return cost matrices of any kind for these classes; the mean mistake costs 1."""
    frequency = np.bincount(y) / len(y)
    k = len(frequency)
    rng = np.random.default_rng(k)
    off, place = 1.0 - np.eye(k), np.arange(k)
    rare = np.where(place == frequency.argmin(), 10.0, 1.0)
    found = {
        "uniform": rng.uniform(1, 10, (k, k)),
        "log-normal": np.exp(rng.normal(0, 1.2, (k, k))),
        "rare class": np.repeat(rare[:, None], k, axis=1),
        "two groups": np.where(place[:, None] % 2 == place[None, :] % 2, 1.0, 6.0),
        "too low": np.where(place[:, None] > place[None, :], 5.0, 1.0),
    }
    return {name: costs * off / (costs * off).sum() * (k * k - k) for name, costs in found.items()}


def decide(probabilities: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return (probabilities @ costs).argmin(axis=1)


def measure(name: str) -> dict[str, dict[str, float]]:
    """Return the mean cost of each way, by matrix."""
    X, y = load(name, MOST_ROWS)
    total: dict[str, dict[str, float]] = {}
    for fold in folds(X, y):
        model = MarginBoostClassifier(random_state=0, n_jobs=1).fit(fold.X, fold.y)
        peer = _lightgbm().fit(fold.X, fold.y)
        shares = peer.predict_proba(fold.X_test)
        for kind, costs in matrices(y).items():
            weight = dict(enumerate(costs.sum(axis=1) / (len(costs) - 1)))
            decided = {
                OURS: model.with_costs(costs).predict(fold.X_test),
                "uncosted": model.predict(fold.X_test),
                "weights": _lightgbm(class_weight=weight).fit(fold.X, fold.y).predict(fold.X_test),
                "least cost": decide(shares, costs),
            }
            row = total.setdefault(kind, dict.fromkeys(decided, 0.0))
            for way, predicted in decided.items():
                row[way] += float(costs[fold.y_test, predicted].sum()) / len(y)
    return total


def _lightgbm(**settings):
    return lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0, **settings)


def main() -> None:
    sets = {}
    for name in SETS:
        sets[name] = measure(name)
        for kind, row in sets[name].items():
            print(name, kind, {way: round(cost, 4) for way, cost in row.items()}, flush=True)
    cases = [row for by_kind in sets.values() for row in by_kind.values()]
    summary = {}
    for way, words in OTHERS.items():
        ratios = [row[OURS] / row[way] for row in cases]
        lower = sum(ratio < 1.0 for ratio in ratios)
        summary[words] = {"ratio": round(geometric_mean(ratios), 4), "lower": lower}
        print(f"{words}: {geometric_mean(ratios):.3f} times, lower in {lower} of {len(cases)}")
    write("costs", {"lightgbm": lightgbm.__version__, "cases": len(cases), "ours": summary}, sets)


if __name__ == "__main__":
    main()
