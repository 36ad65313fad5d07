"""Precision against recall, class by class."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import precision_recall_curve

from marginboost.report.facts import Facts, Floats
from marginboost.report.html import Html, name
from marginboost.report.quality import figure, legend
from marginboost.report.svg import Chart

__all__ = ["precision_curves"]

_DRAWN = 6
_MOST_POINTS = 200


def precision_curves(facts: Facts) -> Html | None:
    """Draw precision against recall for the classes that are ranked worst; None if there is none."""
    rows = facts.rows
    _, average = facts.ranking
    known = np.flatnonzero(np.isfinite(average))
    if rows is None or not len(known):
        return None
    worst = known[np.argsort(average[known], kind="stable")][:_DRAWN].tolist()
    words = ("recall", "precision")
    chart = Chart((0, 1), (0, 1), words, "Precision against recall, for some classes")
    keys = []
    which = facts.ranked_rows
    for rank, r in enumerate(worst):
        probabilities = rows.probabilities[which, r]
        precision, recall, _ = precision_recall_curve(rows.y[which] == r, probabilities)
        kept = _corners(precision)
        # In steps, as the average precision adds them up.
        across, up = np.repeat(recall[kept], 2)[1:], np.repeat(precision[kept], 2)[:-1]
        chart.line(across, up, f"s{rank}")
        keys.append((f"s{rank}", name(facts.labels[r])))
    caption = (
        "If rows are only taken for a class above some probability, fewer of the class are found "
        "(recall), and more of those taken belong to it (precision). "
    )
    if len(worst) < len(known):
        caption += f"Drawn are the {len(worst)} of {len(known):,} classes with the lowest average. "
    return figure(chart.html(), "Precision and recall by threshold", caption, legend(*keys))


def _corners(values: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the places of some points of a curve: its ends and evenly spread ones."""
    return np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(np.int64))
