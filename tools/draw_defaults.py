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
from marginboost.boosting.calibration import best_step, mean_log_loss, scale_of

COLOURS = {"margin": "#1f5fa8", "large": "#c2571a", "small": "#3a7d44"}
LINE = "#7a4fa3"


def curves(X: np.ndarray, y: np.ndarray) -> tuple[MarginBoostClassifier, dict[str, tuple]]:
    """Fit with defaults; return the model, and the rounds and losses of each candidate's first trial."""
    found: dict[str, tuple] = {}
    best_rounds, fit_linear = choose._best_rounds, choose.fit_linear

    def watched(trials, last, *least):
        if not least:  # else the data are clean, and it was asked before
            found[list(COLOURS)[len(found)]] = (trials[0].n_rounds, trials[0].losses)
        return best_rounds(trials, last, *least)

    def watched_line(run, candidate, first):
        fit = fit_linear(run, candidate, first)
        if fit is None:  # it makes more errors than trees, on clean data
            return None
        step = best_step(fit.scores.logs, fit.scores.weight, fit.n_rows)
        found["linear"] = mean_log_loss(fit.scores.logs * scale_of(step), fit.scores.weight)
        return fit

    choose._best_rounds, choose.fit_linear = watched, watched_line
    try:
        model = MarginBoostClassifier(random_state=0).fit(X, y)
    finally:
        choose._best_rounds, choose.fit_linear = best_rounds, fit_linear
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


def described(name: str, parts: dict[str, dict]) -> str:
    """Return the name of a candidate and its share."""
    return f"{name}: {parts[name]['share']:.0%}" if name in parts else f"{name}: not used"


def main(path: str) -> None:
    """Draw noisy data on the left, clean data on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    titles = {0.3: "30 % of the labels random", 0.0: "clean labels"}
    for axis, (noise, title) in zip(axes, titles.items(), strict=True):
        model, found = curves(*problem(noise))
        parts = {part["name"]: part for part in model.chosen_["parts"]}
        line = found.pop("linear", None)
        for name, (rounds, losses) in found.items():
            used = name in parts
            label = described(name, parts)
            axis.plot(
                rounds, losses, color=COLOURS[name], lw=1.8, alpha=1 if used else 0.4, label=label
            )
            if used:
                at = parts[name]["n_estimators"]
                axis.plot(at, np.interp(at, rounds, losses), "o", color=COLOURS[name])
        if line is not None:
            alpha = 1 if "linear" in parts else 0.4
            axis.axhline(line, color=LINE, lw=1.2, alpha=alpha, label=described("linear", parts))
        axis.set_xscale("log")
        axis.set_xlabel("rounds")
        axis.set_title(title, loc="left")
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("log loss of held-out rows")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1])
