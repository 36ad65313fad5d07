"""Where MultiBoost's solver starts decides its error.

Run: python -m experiments.findings.starting_point

The paper gives each round of MultiBoost at most 100 iterations of L-BFGS-B and does not say where they
start. From the last round's coefficients they add up, round by round, to a solution that small values
of nu hardly regularise; from zero they stop short of it, like early stopping.
"""

from __future__ import annotations

import numpy as np

from experiments.draws import draw
from marginboost import MCBoostClassifier, MultiBoostClassifier


def main(data: str = "glass", draws: int = 5, rounds: int = 100) -> dict[str, float]:
    """Fit both on some draws; return the mean errors in %."""
    models = {
        "MultiBoost, from the last round": MultiBoostClassifier(rounds, regularization=1e-4),
        "MultiBoost, from zero": MultiBoostClassifier(rounds, regularization=1e-4, from_zero=True),
        "MCBoost": MCBoostClassifier(rounds, loss="logistic", calibrate=False),
    }
    found = {}
    for name, model in models.items():
        errors = []
        for repeat in range(draws):
            split = draw(data, repeat, 50)
            wrong = model.fit(split.X, split.y).predict(split.X_test) != split.y_test
            errors.append(100 * wrong.mean())
        found[name] = float(np.mean(errors))
        print(f"{name:33s} test error {found[name]:4.1f} %, mean of {draws} draws of {data}")
    return found


if __name__ == "__main__":
    main()
