"""What the features contribute to the score of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.model.explanation import Explanation
from marginboost.plot.canvas import DOWN, GREY, UP, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def contributions(
    explanation: Explanation,
    row: int = 0,
    label: Any = None,
    *,
    n: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the features lead from the mean score of a class to the score of a row.

    Parameters
    ----------
    explanation : Explanation
        Of some rows.
    row : int
        Which of them.
    label : object, optional
        Which class; the one with the largest score if None.
    n : int
        How many features to draw; all others share one bar.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(explanation, Explanation):
        kind = type(explanation).__name__
        raise TypeError(f"explanation must be what model.explain(X) returns; got {kind}.")
    place = explanation.place_of(row, label)
    label = explanation.labels[explanation.classes[row, place]]
    base = float(explanation.base[row, place])
    score = float(explanation.scores[row, place])
    top = explanation.top_features(row, label, n)
    names = [f"{name} = {value}" for name, value, _ in top]
    amounts = [amount for _, _, amount in top]
    n_rest = int((explanation.contributions[row, :, place] != 0).sum()) - len(top)
    if n_rest:
        names.append("1 other" if n_rest == 1 else f"{n_rest} others")
        amounts.append(score - base - sum(amounts))
    ends = base + np.cumsum(amounts)
    begins = np.concatenate([[base], ends[:-1]])
    ax = axes(ax, (6.8, 1.2 + 0.3 * max(2, len(names))))
    places = np.arange(len(names))
    colours = [UP if amount >= 0 else DOWN for amount in amounts]
    ax.barh(places, amounts, left=begins, color=colours, height=0.7)
    for place_, end in zip(places[:-1], ends[:-1], strict=True):
        ax.plot([end, end], [place_ - 0.35, place_ + 1.35], color=GREY, linewidth=0.6)
    for place_, begin, amount in zip(places, begins, amounts, strict=True):
        side, shift = ("left", 3) if amount >= 0 else ("right", -3)
        ax.annotate(f"{amount:+.3g}", (begin + amount, place_), xytext=(shift, 0), va="center",
                    textcoords="offset points", ha=side, fontsize="small", color=GREY)  # fmt: skip
    ax.axvline(base, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.14)
    title = f"Class {label}, row {row}: from {base:.3g} (mean) to {score:.3g}"
    tidy(ax, title, "score", "")
    ax.tick_params(axis="y", length=0)
    return ax
