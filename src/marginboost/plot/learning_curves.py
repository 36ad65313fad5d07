"""Error or loss, round by round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from marginboost.plot.canvas import COLOURS, GREY, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What is measured: the attribute's ending, and its name on an axis, for training and validation rows.
_MEASURES = {
    "error": ("errors_", {"train": "error", "validation": "error"}),
    "loss": ("losses_", {"train": "training loss", "validation": "validation log loss"}),
}


def learning_curves(
    model: Any, *, measure: Literal["error", "loss"] = "error", ax: Axes | None = None
) -> Axes:
    """Draw error or loss after each round, on training and validation rows.

    The training loss is the method's own, of the margins, and the validation loss a log loss of
    probabilities: numbers of different kinds. Where both are known, each has an axis of its own, the
    training loss on the left and the validation loss on the right.

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
        The left one.
    """
    check_is_fitted(model)
    if measure not in _MEASURES:
        raise ValueError(f"measure must be 'error' or 'loss', got {measure!r}.")
    ending, words = _MEASURES[measure]
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
    longest = max(map(len, curves.values()))
    two_axes = len({words[rows] for rows in curves}) > 1
    lines: list[Any] = []
    for colour, (rows, curve) in zip(COLOURS, curves.items(), strict=False):
        here = ax.twinx() if two_axes and lines else ax
        last = curve[np.isfinite(curve)][-1]
        said = f"{100 * last:.3g} %" if measure == "error" else f"{last:.3g}"
        label = f"{names[rows]}: {said} at the end"
        lines += here.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=label)
        here.set_ylim(bottom=0)
        if here is not ax:
            here.spines["top"].set_visible(False)
            here.set_ylabel(words[rows])
        if two_axes:
            here.yaxis.label.set_color(colour)
            here.tick_params(axis="y", colors=colour)
    if model.n_iter_ < longest:
        ax.axvline(model.n_iter_, color=GREY, linewidth=1, linestyle=":")
        late = model.n_iter_ > 0.7 * longest  # no room to the right
        ax.annotate(f"kept: {model.n_iter_} rounds", (model.n_iter_, 0.97),
                    xytext=(-4 if late else 4, 0), ha="right" if late else "left",
                    xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
                    color=GREY, fontsize="small")  # fmt: skip
    ax.set_xlim(1, max(2, longest))
    ax.legend(handles=lines, frameon=False)
    return tidy(ax, f"{measure.capitalize()} after each round", "round", words[next(iter(curves))])
