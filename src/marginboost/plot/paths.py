"""Coefficient paths, as in the paper's first figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from marginboost.model.ensemble import Ensemble
from marginboost.plot.canvas import COLOURS, LIGHT, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURED = len(COLOURS)


def paths(model: Any, label: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how the coefficients of one class grow during boosting.

    Each line is a weak classifier. Rounds that choose it again add to its coefficient. The x axis is
    the l1 norm of all coefficients of all classes. The largest coefficients are coloured.

    Parameters
    ----------
    model : classifier
        Fitted, with a `coef_`, as MCBoostClassifier has.
    label : object, optional
        The class; the first if None.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(model)
    if getattr(model, "coef_", None) is None:
        raise ValueError(
            "The model must have one row of coefficients per round, as MCBoostClassifier has; "
            f"got {type(model).__name__}."
        )
    label = model.classes_[0] if label is None else label
    places = np.flatnonzero(model.classes_ == label)
    if not len(places):
        raise ValueError(f"label must be a class of the model, got {label!r}.")
    W = np.asarray(model.coef_)
    norm = np.concatenate([[0.0], np.abs(W).sum(axis=1).cumsum()])
    which = _weak_classifiers(model.ensemble_)
    curves = np.zeros((which.max(initial=-1) + 1, len(W) + 1))
    curves[which, np.arange(1, len(W) + 1)] = W[:, places[0]]
    curves = curves.cumsum(axis=1)
    ax = axes(ax)
    order = np.argsort(curves[:, -1], kind="stable")
    for rank, curve in enumerate(curves[order][curves[order][:, -1] > 0][::-1]):
        coloured = rank < _COLOURED
        colour = COLOURS[rank] if coloured else LIGHT
        ax.plot(norm, curve, color=colour, linewidth=1.4 if coloured else 0.8, zorder=2 + coloured)
    ax.margins(x=0)
    ax.set_ylim(bottom=0)
    title = f"Coefficient paths of class {label}: {(curves[:, -1] > 0).sum()} weak classifiers"
    return tidy(ax, title, "l1 norm of all coefficients", "coefficient")


def _weak_classifiers(ensemble: Ensemble) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return a number for each tree, the same for equal trees."""
    numbers: dict[bytes, int] = {}
    found = []
    for j in range(ensemble.n_trees):
        nodes = slice(*ensemble.node_offsets[j : j + 2])
        leaves = slice(*ensemble.leaf_offsets[j : j + 2])
        parts = (ensemble.feature[nodes], ensemble.threshold[nodes], ensemble.left[nodes],
                 ensemble.right[nodes], ensemble.leaf_value[leaves])  # fmt: skip
        key = b"|".join(part.tobytes() for part in parts)
        found.append(numbers.setdefault(key, len(numbers)))
    return np.array(found, dtype=np.intp)
