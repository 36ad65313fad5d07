"""Which classes are confused with which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.evaluation.classes import confusion_counts
from marginboost.evaluation.evaluate import evaluate
from marginboost.plot.canvas import SEQUENTIAL, axes, class_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERED = 15


def confusion(model: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """Draw which share of each class's rows is predicted as which class.

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
        With the counts as numbers, where there are at most 15 classes.
    """
    rows = evaluate(model, X, y)
    n_classes = len(model.classes_)
    counts = confusion_counts(rows.y, rows.predicted, n_classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = axes(ax, (6.0, 5.4))
    # The square root makes visible a few rows in a hundred, which are what matters.
    from matplotlib.colors import PowerNorm  # noqa: PLC0415 - an optional dependency

    image = ax.imshow(shares, cmap=SEQUENTIAL, norm=PowerNorm(0.5, vmin=0, vmax=1))
    if n_classes <= _MOST_NUMBERED:
        for (i, j), count in np.ndenumerate(counts):
            if count:
                colour = "white" if shares[i, j] > 0.3 else "black"
                ax.text(
                    j, i, f"{count:,}", ha="center", va="center", color=colour, fontsize="small"
                )
    class_ticks(ax, model.classes_, "x")
    class_ticks(ax, model.classes_, "y")
    ax.set_xlabel("predicted class")
    ax.set_ylabel("class")
    right = float((rows.y == rows.predicted).mean())
    ax.set_title(f"Classes and predictions: {right:.1%} right", loc="left", fontsize="medium")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("share of the class's rows")
    bar.outline.set_visible(False)
    return ax
