"""How important the features are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from marginboost.estimators.explanations import names_of
from marginboost.plot.canvas import COLOURS, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def importances(model: Any, *, n: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the features' shares in how far splits move the scores.

    Parameters
    ----------
    model : classifier
        Fitted.
    n : int
        How many features to draw, the most important first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(model)
    shares = model.feature_importances_
    order = np.argsort(-shares, kind="stable")[:n]
    order = order[shares[order] > 0] if shares.any() else order[:0]
    names = names_of(model)
    ax = axes(ax, (6.0, 0.6 + 0.24 * max(3, len(order))))
    ax.barh(np.arange(len(order)), shares[order], color=COLOURS[0])
    ax.set_yticks(np.arange(len(order)), [names[j] for j in order])
    ax.invert_yaxis()
    used = int((shares > 0).sum())
    title = f"Importance of features: {len(order)} of {len(shares)}"
    if len(order) < used < len(shares):
        title += f" ({used} used)"
    tidy(ax, title, "share in how far splits move the scores", "")
    ax.tick_params(axis="y", length=0)
    return ax
