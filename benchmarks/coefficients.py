"""Time to compute coefficients: totally corrective against stage-wise, on letter, 50 rows per class.

The paper's Table IV has the stage-wise method 52 to 74 times faster there; both solve step 4 of
Algorithm 1 with the weak classifiers that they find. Measured inside the methods' own `solve`, so
the stage-wise time includes its pass over the rows as well as the k x k problem.
"""

from time import perf_counter

import data
import numpy as np
from report import Claim, Report

from marginboost import MCBoostClassifier, MultiBoostClassifier
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.methods.multiboost import MultiBoost

FASTER = 1000.0


def timed_fit(model, method, X, y) -> float:
    """Fit, and return the seconds spent in the method's `solve`."""
    spent = 0.0
    solve = method.solve

    def timed(self, found):
        nonlocal spent
        start = perf_counter()
        try:
            return solve(self, found)
        finally:
            spent += perf_counter() - start

    method.solve = timed
    try:
        model.fit(X, y)
    finally:
        method.solve = solve
    return spent


def run(quick: bool) -> Report:
    split = data.load("letter")
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(split.y == c))[:50] for c in np.unique(split.y)]
    )
    X, y = split.X[rows], split.y[rows]
    rounds = 60 if quick else 500
    report = Report(
        f"Time to compute coefficients, letter, 50 rows per class, {rounds} rounds",
        ("method", "seconds in solve", "ms/round", "test error %", "times MCBoost exponential"),
        notes=[*split.notes, "the paper has 52 (logistic) to 74 (exponential) times."],
    )
    cases = {
        "MCBoost, exponential": (MCBoostClassifier(rounds), MCBoost),
        "MCBoost, logistic": (MCBoostClassifier(rounds, loss="logistic"), MCBoost),
        "MultiBoost, logistic": (
            # A thousandth beside the mean loss of a row.
            MultiBoostClassifier(rounds, stopping="optimum", regularization=1e-3 * len(y)),
            MultiBoost,
        ),
    }
    seconds = {}
    for name, (model, method) in cases.items():
        seconds[name] = timed_fit(model, method, X, y)
        error = 100 * (1 - float(model.score(split.X_test, split.y_test)))
        ratio = seconds[name] / seconds["MCBoost, exponential"]
        per_round = 1e3 * seconds[name] / model.n_iter_
        report.rows.append((name, seconds[name], per_round, error, ratio))
    if not quick:  # the ratio grows with the rounds; the claim is about 500
        faster = seconds["MultiBoost, logistic"] / seconds["MCBoost, exponential"]
        report.claims.append(
            Claim("MultiBoost's coefficient time, of MCBoost's", faster, FASTER, at_least=True)
        )
    return report
