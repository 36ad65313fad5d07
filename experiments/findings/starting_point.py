"""Where MultiBoost's solver starts decides its error, if hardly anything else regularises it.

Run: python -m experiments.findings.starting_point

The paper gives each round of MultiBoost at most 100 iterations of L-BFGS-B and does not say where they
start. From the last round's coefficients they add up, round by round, to a solution that the smallest
nu of the paper's grid hardly regularises; from zero they stop short of it, like early stopping. With a
larger nu, of the size that cross-validation often chooses, both are about equally accurate.
"""

from __future__ import annotations

import numpy as np

from experiments.draws import draw
from marginboost import MultiBoostClassifier

SMALLEST, USUAL = 1e-8, 5e-3  # of nu: the smallest of the paper's grid, and its largest


def main(
    data: str = "digits", draws: int = 3, rounds: int = 200
) -> dict[tuple[float, bool], float]:
    """Fit on some draws; return the mean errors in %, by nu and whether rounds start from zero."""
    splits = [draw(data, repeat, 50) for repeat in range(draws)]
    found = {}
    for nu in (SMALLEST, USUAL):
        for from_zero in (False, True):
            model = MultiBoostClassifier(rounds, regularization=nu, from_zero=from_zero)
            errors = [
                100 * np.mean(model.fit(split.X, split.y).predict(split.X_test) != split.y_test)
                for split in splits
            ]
            found[nu, from_zero] = float(np.mean(errors))
            start = "zero" if from_zero else "the last round"
            print(
                f"nu = {nu:g}, from {start:14s} test error {found[nu, from_zero]:4.1f} %, mean of "
                f"{draws} draws of {data}"
            )
    return found


if __name__ == "__main__":
    main()
