"""Predicted probabilities against how often the predictions are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.probabilities import reliability
from marginboost.plot.canvas import COLOURS, GREY, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def calibration(model: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Draw how often the predicted class is right, against its probability.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Rows, preferably ones that the model was not fitted to.
    y : array-like of shape (n_samples,)
        Their labels.
    n_bins : int
        Number of points to draw, each for the same number of rows.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    rows = evaluate(model, X, y)
    found = reliability(rows.probabilities, rows.y, n_bins)
    ax = axes(ax, (4.8, 4.6))
    low = 0.98 * min(found.confidence.min(), found.accuracy.min())
    ax.plot(
        [low, 1], [low, 1], color=GREY, linewidth=1, linestyle="--", label="perfectly calibrated"
    )
    ax.plot(found.confidence, found.accuracy, "o-", color=COLOURS[0], label="this model")
    ax.set_xlim(low, 1.01)
    ax.set_ylim(low, 1.01)
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="upper left")
    title = f"Calibration: off by {found.error:.1%} on average"
    return tidy(ax, title, "probability of the predicted class", "share of rows that are right")
