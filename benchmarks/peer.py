"""SAMME of scikit-learn with the same weak classifiers, on letter: time per round, and test error.

Both search every threshold. scikit-learn's can use only one thread; ours uses all, as it does by
default, and is also shown with one. The peer gets float32, the type that
it would otherwise convert to. Times are those of whole fits.
"""

import data
import numpy as np
from report import Claim, Report
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from timing import interleaved

from marginboost import MCBoostClassifier

FASTER, ERROR = 20.0, 0.5


def run(quick: bool) -> Report:
    split = data.load("letter")
    X, X_test = (part.astype(np.float32) for part in (split.X, split.X_test))
    report = Report(
        "SAMME of scikit-learn and MCBoost on letter, stumps",
        ("classifier", "rounds", "seconds", "ms/round", "test error %"),
        notes=split.notes,
    )
    rounds, more = (200, 400) if quick else (500, 1000)
    samme = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds)
    models = {
        "SAMME": samme,
        "MCBoost, one thread": MCBoostClassifier(rounds, n_jobs=1),
        "MCBoost": MCBoostClassifier(rounds),
        "MCBoost, more rounds": MCBoostClassifier(more),
    }
    fits = {name: lambda m=model: m.fit(X, split.y) for name, model in models.items()}
    seconds = interleaved(fits, repeats=1 if quick else 3)
    per_round, error = {}, {}
    for name, model in models.items():
        done = len(model.estimators_) if model is samme else model.n_iter_
        per_round[name] = 1e3 * seconds[name] / done
        error[name] = 100 * (1 - float(model.score(X_test, split.y_test)))
        report.rows.append((name, done, seconds[name], per_round[name], error[name]))
    faster = per_round["SAMME"] / per_round["MCBoost"]
    fewer = error["MCBoost"] / error["SAMME"]
    report.claims = [
        Claim("times as fast per round as SAMME", faster, FASTER, at_least=True),
        Claim(f"test error after {rounds} rounds, of SAMME's", fewer, ERROR),
    ]
    return report
