"""Error or loss, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from marginboost.plot.canvas import COLOURS, GREY, axes, tidy

# By measure: its name in the title, and how the attributes of a fitted model end.
_MEASURES = {"error": ("Error", "errors_"), "loss": ("Loss", "losses_")}


def learning_curves(model: Any, *, measure: str = "error", ax: Any = None) -> Any:
    """Draw error or loss after each round, on training and validation rows.

    Parameters
    ----------
    model : classifier
        Fitted.
    measure : {"error", "loss"}
        What to draw.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(model)
    if measure not in _MEASURES:
        raise ValueError(f"measure must be 'error' or 'loss', got {measure!r}.")
    word, ending = _MEASURES[measure]
    curves = {
        rows: np.asarray(curve)
        for rows in ("train", "validation")
        if (curve := getattr(model, f"{rows}_{ending}", None)) is not None
        and np.isfinite(curve).any()
    }
    if not curves:
        raise ValueError(
            f"The model must have recorded its {measure} after each round; "
            f"{type(model).__name__} does not."
        )
    ax = axes(ax)
    names = {"train": "training rows", "validation": "validation rows"}
    for colour, (rows, curve) in zip(COLOURS, curves.items(), strict=False):
        rounds = np.arange(1, len(curve) + 1)
        last = curve[np.isfinite(curve)][-1]
        shown = f"{100 * last:.3g} %" if measure == "error" else f"{last:.3g}"
        ax.plot(rounds, curve, color=colour, label=f"{names[rows]}: {shown} at the end")
    longest = max(map(len, curves.values()))
    if model.n_iter_ < longest:
        ax.axvline(model.n_iter_, color=GREY, linewidth=1, linestyle=":")
        ax.annotate(f"kept: {model.n_iter_} rounds", (model.n_iter_, 0.97), xytext=(4, 0),
                    xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
                    color=GREY, fontsize="small")  # fmt: skip
    ax.set_xlim(1, max(2, longest))
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return tidy(ax, f"{word} after each round", "round", measure)
