"""Mean absolute errors on five sets of ordered classes, beside LightGBM.

    MARGINBOOST_DATA=... MARGINBOOST_PACKAGES=... python -m benchmarks.decisions.orders

The three sets after the first two are from `benchmarks.unfamiliar.fresh`, on which nothing was chosen;
wine_quality_white and abalone_rings are study sets.
"""

import lightgbm
import numpy as np

from benchmarks.decisions.rows import folds, geometric_mean, load, write
from marginboost import MarginBoostClassifier

CUTS = ["Fair", "Good", "Very Good", "Premium", "Ideal"]
SETS = {
    "wine_quality_white": None,
    "abalone_rings": None,
    "marketing": None,
    "diamonds": CUTS,
    "cirrhosis_stage": None,
}
MOST_ROWS = 4000
OURS = "marginboost, ordered"
OTHERS = {
    "unordered": "marginboost, without an order",
    "regression": "LightGBM, regression rounded",
    "Frank and Hall": "LightGBM, Frank and Hall",
    "median": "LightGBM, median of its probabilities",
}


def measure(name: str) -> dict[str, float]:
    """Return the mean absolute error of each way, in steps from class to class."""
    X, y = load(name, MOST_ROWS, SETS[name])
    k = int(y.max()) + 1
    total: dict[str, float] = {}
    for fold in folds(X, y):
        ours = {"random_state": 0, "n_jobs": 1}
        ordered = MarginBoostClassifier(cost_matrix="ordinal", **ours).fit(fold.X, fold.y)
        plain = MarginBoostClassifier(**ours).fit(fold.X, fold.y)
        line = _peer(lightgbm.LGBMRegressor).fit(fold.X, fold.y).predict(fold.X_test)
        shares = _peer(lightgbm.LGBMClassifier).fit(fold.X, fold.y).predict_proba(fold.X_test)
        above = _above(fold, k)
        within = np.column_stack([1.0 - above[:, :1], above[:, :-1] - above[:, 1:], above[:, -1:]])
        decided = {
            OURS: ordered.predict(fold.X_test),
            "unordered": plain.predict(fold.X_test),
            "regression": np.clip(np.rint(line), 0, k - 1),
            "Frank and Hall": within.argmax(axis=1),
            "median": (shares.cumsum(axis=1) < 0.5).sum(axis=1),
        }
        for way, predicted in decided.items():
            off = float(np.abs(predicted - fold.y_test).sum()) / len(y)
            total[way] = total.get(way, 0.0) + off
    return total


def _above(fold, k: int) -> np.ndarray:
    """Return the probability that the class is above each of the first k - 1."""
    shares = [
        _peer(lightgbm.LGBMClassifier).fit(fold.X, fold.y > place).predict_proba(fold.X_test)[:, 1]
        for place in range(k - 1)
    ]
    return np.column_stack(shares)


def _peer(kind):
    return kind(n_jobs=1, verbosity=-1, random_state=0)


def main() -> None:
    sets = {}
    for name in SETS:
        sets[name] = measure(name)
        print(name, {way: round(off, 4) for way, off in sets[name].items()}, flush=True)
    summary = {}
    for way, words in OTHERS.items():
        ratios = [row[OURS] / row[way] for row in sets.values()]
        higher = sum(ratio > 1.0 for ratio in ratios)
        summary[words] = {"ratio": round(geometric_mean(ratios), 4), "not higher": 5 - higher}
        print(f"{words}: {geometric_mean(ratios):.3f} times, not higher in {5 - higher} of 5")
    write("orders", {"lightgbm": lightgbm.__version__, "ours": summary}, sets)


if __name__ == "__main__":
    main()
