"""The scale of the probabilities, learned from rows that a fit has not seen.

A boosted model separates its own training rows ever further, so that how sure it is says little of
how often it is right. One number puts that straight: probabilities are softmax(s * F), with the s of
least log loss on rows that a second fit, with the same settings, was not shown.

Of few rows all may be right, and then the largest s is the best for them. As Platt (1999) does for two
classes, we therefore take it that one of n + 2 rows of a kind is of the class that comes second.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutRows

Floats = NDArray[np.float64]

SHARE = 0.2
MOST_ROWS = 10_000
MOST_PAIRS = 2_000_000  # of a row and a class: with very many classes fewer rows will do
# Scales are tried on a grid, so that the last bit of a sum can't show in the model.
STEPS_AN_OCTAVE = 32
LEAST_STEP, MOST_STEP = -14 * STEPS_AN_OCTAVE, 4 * STEPS_AN_OCTAVE


def held_out_share(n_counted: int, n_classes: int) -> float:
    """Tell what share of the rows to hold out."""
    return min(SHARE, min(MOST_ROWS, MOST_PAIRS / n_classes) / n_counted)


def best_scale(rows: HeldOutRows, n_rows: float = math.inf) -> float:
    """Find the s of least log loss.

    Parameters
    ----------
    rows : HeldOutRows
        Rows that a fit was not shown.
    n_rows : float
        About how many there are, each as often as it counts: the fewer, the more doubt.

    Returns
    -------
    float
        With p[i, r] / p[i, y_i] = e[i, r] ** s.
    """
    e, labels, weight, copies, _ = rows.in_order()
    ratios = e.astype(np.float64)
    ratios[np.arange(len(e)), labels] = 1.0
    logs = _native.log(ratios).reshape(e.shape)
    return scale_of(best_step(logs, weight * copies, n_rows))


def best_step(logs: Floats, weight: Floats, n_rows: float = math.inf) -> int:
    """Find the step of the grid of scales whose log loss is least.

    Parameters
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i].
    weight : float64 array
        Weight of each row.
    n_rows : float
        About how many rows there are, each as often as it counts.
    """
    # The slope of a share 1 / (n + 2) of each row, which is of the other class of largest score.
    below, top = np.partition(logs, -2, axis=1)[:, -2:].T
    doubt = -float((weight * np.where(top > 0.0, top, below)).sum()) / (n_rows + 2.0)
    # The loss is convex in s: it falls from a step to the next if it falls half-way between them.
    low, high = LEAST_STEP, MOST_STEP
    while low < high:
        middle = (low + high) // 2
        if float((weight * _slopes(logs, scale_of(middle + 0.5))).sum()) + doubt < 0.0:
            low = middle + 1
        else:
            high = middle
    return low


def _slopes(logs: Floats, scale: float) -> Floats:
    """Return the derivative of each row's log loss by the scale."""
    scaled = logs * scale
    scaled -= scaled.max(axis=1)[:, None]  # so that exponentials do not overflow
    shares = _native.exp(np.ascontiguousarray(scaled)).reshape(logs.shape)
    slopes: Floats = (shares * logs).sum(axis=1) / shares.sum(axis=1)
    return slopes


def scale_of(step: float) -> float:
    """Return the scale at a step of the grid."""
    return float(2.0 ** (step / STEPS_AN_OCTAVE))
