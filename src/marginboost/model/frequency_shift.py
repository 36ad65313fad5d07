"""The same model at other class frequencies: one vector that is added to the scores of every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.coefficients.grid import on_grid
from marginboost.model.constant import has_offset, with_offset
from marginboost.model.ensemble import Ensemble
from marginboost.model.weighted_sum import weighted_sum

__all__ = ["log_ratio", "shift"]

Floats = NDArray[np.float64]

# The logarithm of a ratio of 0: its exponential is 0 in double precision.
_NEVER = -800.0
# Scores stay far below 2**13; see `marginboost.coefficients.grid`.
_MOST_SHIFT = 2.0**11


def log_ratio(frequencies: Floats, trained: Floats) -> Floats:
    """Return log(frequency / training frequency) per class, which is added to the log-probabilities.

    Parameters
    ----------
    frequencies : float64 array of n_classes
        0 or more.
    trained : float64 array of n_classes
        Those of training; where one is 0, its class is left as it is.
    """
    found = np.zeros(len(trained))
    seen = trained > 0.0
    used = seen & (frequencies > 0.0)
    found[used] = np.asarray(_native.log(frequencies[used] / trained[used]))
    found[seen & ~used] = _NEVER
    return np.maximum(found, _NEVER)


def shift(ensemble: Ensemble, scale: float, change: Floats) -> tuple[Ensemble, float]:
    """Add the same to the log-probabilities of every row.

    Parameters
    ----------
    ensemble : Ensemble
        With at least one round.
    scale : float
        Probabilities are softmax(scale * F).
    change : float64 array of n_classes
        What to add to scale * F.

    Returns
    -------
    ensemble : Ensemble
        Its first round has one tree more, of one leaf; or such a tree has other scores.
    scale : float
        The same; or 1, where the scale is so small that the scores would become too large. Then all
        scores are multiplied by it, and rounded to the grid of coefficients.
    """
    if np.abs(change).max() > _MOST_SHIFT * scale:
        cover = ensemble.leaf_cover
        ensemble, scale = weighted_sum([ensemble], [scale]), 1.0
        if cover is not None:
            ensemble = ensemble.with_cover(cover)
    scores = on_grid(change / scale)
    if not has_offset(ensemble):
        return with_offset(ensemble, scores), scale
    vectors = ensemble.vectors.copy()
    vectors[-1] = on_grid(vectors[-1] + scores)
    return replace(ensemble, vectors=vectors), scale
