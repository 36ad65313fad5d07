"""The time of Python itself in a round, on data so small that it matters: iris.

The time inside native functions is subtracted from the time of a whole fit (including checks and
building the ensemble); the rest is Python, including small calls of NumPy.
"""

from report import Claim, Report
from sklearn.datasets import load_iris
from timing import NativeClock, interleaved

from marginboost import MCBoostClassifier

LIMIT = 60.0


def run(quick: bool) -> Report:
    report = Report("Python's time on iris", ("loss", "rounds", "us/round", "native", "Python"))
    X, y = load_iris(return_X_y=True)
    repeats = 10 if quick else 40
    for loss in ("exponential", "logistic"):
        model = MCBoostClassifier(loss=loss, n_jobs=1)
        clock = NativeClock()

        def watched(model=model, clock=clock):
            with clock.watching():
                model.fit(X, y)

        fits = {"plain": lambda m=model: m.fit(X, y), "watched": watched}
        total = interleaved(fits, repeats=repeats)["plain"]
        native = sum(clock.seconds().values())
        whole, inside = (1e6 * t / model.n_iter_ for t in (total, native))
        report.rows.append((loss, model.n_iter_, whole, inside, whole - inside))
    report.claims = [Claim("us of Python per round, exponential", report.rows[0][-1], LIMIT)]
    return report
