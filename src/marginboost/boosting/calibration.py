"""The scale of the probabilities, learned from rows that a fit has not seen.

A boosted model separates its own training rows ever further, so that how sure it is says little of
how often it is right. One number puts that straight: probabilities are softmax(s * F), with the s of
least log loss on rows that a second fit, with the same settings, was not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marginboost import _native

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutRows

SHARE = 0.2
MOST_ROWS = 10_000
MOST_PAIRS = 2_000_000  # of a row and a class: with very many classes fewer rows will do
# Scales are tried on a grid, so that the last bit of a sum can't show in the model.
_STEPS_AN_OCTAVE = 32
_OCTAVES = (-7, 4)


def held_out_share(n_counted: int, n_classes: int) -> float:
    """Tell what share of the rows to hold out."""
    return min(SHARE, min(MOST_ROWS, MOST_PAIRS / n_classes) / n_counted)


def best_scale(rows: HeldOutRows) -> float:
    """Find the s of least log loss.

    Parameters
    ----------
    rows : HeldOutRows
        Rows that a fit was not shown.

    Returns
    -------
    float
        With p[i, r] / p[i, y_i] = e[i, r] ** s.
    """
    e, labels, weight, _ = rows.in_order()
    ratios = e.astype(np.float64)
    ratios[np.arange(len(e)), labels] = 1.0
    logs = _native.log(ratios).reshape(e.shape)

    def slope(step: float) -> float:
        scaled = _native.exp(np.ascontiguousarray(logs * _scale(step))).reshape(e.shape)
        return float(np.dot(weight, (scaled * logs).sum(axis=1) / scaled.sum(axis=1)))

    # Convex in s: the loss falls from a step to the next if it falls half-way between them.
    low, high = (octave * _STEPS_AN_OCTAVE for octave in _OCTAVES)
    while low < high:
        middle = (low + high) // 2
        if slope(middle + 0.5) < 0.0:
            low = middle + 1
        else:
            high = middle
    return _scale(low)


def _scale(step: float) -> float:
    return float(2.0 ** (step / _STEPS_AN_OCTAVE))
