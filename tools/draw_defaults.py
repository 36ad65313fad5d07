"""Draw how a fit with defaults decides: held-out log loss of the candidates, round by round.

Usage: ``python tools/draw_defaults.py docs/defaults.png``
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from marginboost import MarginBoostClassifier
from marginboost.boosting import choose

COLOURS = {"margin": "#1f5fa8", "large": "#c2571a", "small": "#3a7d44"}


def curves(X: np.ndarray, y: np.ndarray) -> tuple[MarginBoostClassifier, dict[str, tuple]]:
    """Fit with defaults; return the model, and the rounds and losses of each candidate's first trial."""
    found: dict[str, tuple] = {}
    best_rounds = choose._best_rounds

    def watched(trials, last):
        found[list(COLOURS)[len(found)]] = (trials[0].n_rounds, trials[0].losses)
        return best_rounds(trials, last)

    choose._best_rounds = watched
    try:
        model = MarginBoostClassifier(random_state=0).fit(X, y)
    finally:
        choose._best_rounds = best_rounds
    return model, found


def problem(noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return 1,500 rows of four classes; a share of the labels is drawn at random."""
    return make_classification(
        1500,
        12,
        n_informative=8,
        n_classes=4,
        n_clusters_per_class=1,
        class_sep=1.6,
        flip_y=noise,
        random_state=2,
    )


def main(path: str) -> None:
    """Draw noisy data on the left, clean data on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    titles = {0.3: "30 % of the labels random", 0.0: "clean labels"}
    for axis, (noise, title) in zip(axes, titles.items(), strict=True):
        model, found = curves(*problem(noise))
        parts = {part["name"]: part for part in model.chosen_["parts"]}
        for name, (rounds, losses) in found.items():
            used = name in parts
            label = f"{name}: {parts[name]['share']:.0%}" if used else f"{name}: not used"
            axis.plot(
                rounds, losses, color=COLOURS[name], lw=1.8, alpha=1 if used else 0.4, label=label
            )
            if used:
                at = parts[name]["n_estimators"]
                axis.plot(at, np.interp(at, rounds, losses), "o", color=COLOURS[name])
        axis.set_xscale("log")
        axis.set_xlabel("rounds")
        axis.set_title(title, loc="left")
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("log loss of held-out rows")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1])
