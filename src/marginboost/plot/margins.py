"""The distribution of margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.margins import normalised_margins
from marginboost.plot.canvas import COLOURS, GREY, LIGHT, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def margins(model: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the rows' margins.

    The margin of a row is the score of its class less the largest of the others: positive where the
    row is classified correctly. It is divided by the largest difference between two classes that the
    trees could produce, so it lies between -1 and 1. The curve shows which share of the rows has at
    most this margin.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    rows = evaluate(model, X, y).known()
    values = np.sort(normalised_margins(model.ensemble_, rows.scores, rows.y))
    share = np.arange(1, len(values) + 1) / len(values)
    ax = axes(ax)
    wrong = float((values <= 0).mean())
    ax.axvspan(min(values[0], -0.02) * 1.05, 0, color=LIGHT, alpha=0.5, linewidth=0)
    ax.axvline(0, color=GREY, linewidth=1)
    ax.step(values, share, where="post", color=COLOURS[0])
    ax.annotate(f"wrong: {wrong:.1%} of {len(values):,} rows", (0, 1), xytext=(4, -4),
                xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
                color=GREY, fontsize="small")  # fmt: skip
    ax.margins(x=0)
    ax.set_ylim(0, 1.01)
    return tidy(ax, "Margins of the rows", "normalised margin", "share of rows with at most this")
