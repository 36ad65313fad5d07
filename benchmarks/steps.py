"""How a round on letter spends its time.

The coefficient step is matrix balancing, a k x k problem: the bound is on the solver. The pass over
the rows that computes its sums grows with the rows, like the search; it is shown separately, and
added to the solver in the last column. The logistic loss needs several such passes.
"""

import data
import numpy as np
from report import Claim, Report
from timing import NativeClock, StopwatchClassifier

LIMIT = 5.0
STEPS = {
    "search": ("best_stump",),
    "place": ("place_stump",),
    "sums": ("sums", "sums_and_curvature"),
    "solve": ("balance", "newton_step"),
    "advance": ("advance", "mass_after"),
}


def run(quick: bool) -> Report:
    split = data.load("letter")
    report = Report(
        "Shares of a round on letter, %",
        ("loss", "threads", "us/round", *STEPS, "Python", "sums + solve"),
        notes=split.notes,
    )
    report.notes.append("Python: everything outside native code.")
    rounds, repeats = (50, 10) if quick else (200, 20)
    for loss in ("exponential", "logistic"):
        for threads in (1, 2):
            model = StopwatchClassifier(rounds, loss=loss, n_jobs=threads)
            total, native = _measure(model, split, repeats)
            spent = {
                step: sum(native.get(name, 0.0) for name in names) for step, names in STEPS.items()
            }
            shares = {step: 100 * seconds / total for step, seconds in spent.items()}
            rest = 100 - sum(shares.values())
            both = shares["sums"] + shares["solve"]
            per_round = 1e6 * total / rounds
            report.rows.append((loss, threads, per_round, *shares.values(), rest, both))
            if loss == "exponential":
                text = f"solving for the coefficients, % of a round, {threads} threads"
                report.claims.append(Claim(text, shares["solve"], LIMIT))
    return report


def _measure(model, split, repeats):
    """Return the time of all rounds and the time inside each native function, from the same fits."""
    clock = NativeClock()
    best = np.inf
    for _ in range(repeats):
        with clock.watching():
            best = np.minimum(best, model.round_seconds(split.X, split.y))
    return best.mean() * model.n_estimators, clock.seconds()
