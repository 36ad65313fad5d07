"""How a feature affects the scores, in a model of stumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.estimators.explanations import names_of
from marginboost.plot.canvas import COLOURS, GREY, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def shapes(
    model: Any, feature: int | str, classes: Sequence[Any] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw what each value of a feature adds to the scores of the classes.

    Parameters
    ----------
    model : classifier
        Fitted, of stumps.
    feature : int or str
        Index or name of a column of X.
    classes : sequence, optional
        Labels of the classes to draw. If None, all classes; with more than seven, the seven that the
        feature moves most.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes
    """
    found = model.feature_shapes()
    shape = found[_place(feature, names_of(model))]
    every = np.vstack([shape.values, shape.missing]) if shape.learned_missing else shape.values
    labels = model.classes_
    if classes is None:
        most = np.argsort(-np.ptp(every, axis=0), kind="stable")[: len(COLOURS)]
        chosen = np.sort(most)
    else:
        chosen = np.flatnonzero(np.isin(labels, np.asarray(classes)))
        if len(chosen) != len(set(classes)):
            raise ValueError(f"classes must be classes of the model, got {list(classes)!r}.")
    ax = axes(ax)
    ax.axhline(0, color=GREY, linewidth=0.8)
    draw = _categories if shape.categories is not None else _steps
    draw(ax, shape, chosen, labels)
    ax.legend(frameon=False, title="class", fontsize="small", loc="center left",
              bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    title = f"What {shape.name} adds to the scores"
    if len(chosen) < len(labels):
        title += f" ({len(chosen)} of {len(labels)} classes)"
    return tidy(ax, title, shape.name, "added to the score")


def _place(feature: int | str, names: tuple[str, ...]) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be a column of X, got {feature!r}.")
        return names.index(feature)
    if not -len(names) <= feature < len(names):
        raise ValueError(f"feature must be a column of X, 0 to {len(names) - 1}, got {feature}.")
    return int(feature)


def _steps(ax: Any, shape: Any, chosen: Any, labels: Any) -> None:
    cuts = shape.thresholds if len(shape.thresholds) else np.zeros(1)
    room = 0.06 * np.ptp(cuts) or 1.0
    edges = np.concatenate([[cuts[0] - room], shape.thresholds, [cuts[-1] + room]])
    apart = edges[-1] + room
    for rank, r in enumerate(chosen.tolist()):
        colour = COLOURS[rank % len(COLOURS)]
        ax.stairs(shape.values[:, r], edges, baseline=None, color=colour, linewidth=1.5,
                  label=str(labels[r]))  # fmt: skip
        if shape.learned_missing:
            ax.plot(apart, shape.missing[r], "D", color=colour, markersize=5)
    ax.set_xlim(edges[0], apart + room if shape.learned_missing else edges[-1])
    if shape.learned_missing:
        ax.annotate("missing", (apart, 0), xycoords=("data", "axes fraction"), xytext=(0, 3),
                    textcoords="offset points", ha="center", color=GREY, fontsize="small")  # fmt: skip


def _categories(ax: Any, shape: Any, chosen: Any, labels: Any) -> None:
    names = [*map(str, shape.categories), "missing or other"]
    values = np.vstack([shape.values, shape.missing])
    for rank, r in enumerate(chosen.tolist()):
        shift = (rank - (len(chosen) - 1) / 2) * 0.8 / len(chosen)
        ax.plot(np.arange(len(names)) + shift, values[:, r], "o", label=str(labels[r]),
                color=COLOURS[rank % len(COLOURS)], markersize=5)  # fmt: skip
    for edge in range(len(names) - 1):
        ax.axvline(edge + 0.5, color=GREY, linewidth=0.3)
    turned = sum(map(len, names)) > 60
    ax.set_xticks(range(len(names)), names, rotation=90 if turned else 0, fontsize="small")
