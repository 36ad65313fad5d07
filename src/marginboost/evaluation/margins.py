"""Margins: how clearly each row is classified correctly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

__all__ = ["normalised_margins"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def normalised_margins(ensemble: Ensemble, scores: Floats, y: Integers) -> Floats:
    """Compute the margin of each row, scaled to lie between -1 and 1.

    Parameters
    ----------
    ensemble : Ensemble
        The model.
    scores : float64 array of n x n_classes
        Its scores.
    y : int64 array of n
        Class numbers; none UNSEEN.

    Returns
    -------
    float64 array of n
        The score of a row's class less the largest of the others, divided by the largest difference
        between two classes that the trees could produce.
    """
    rows = np.arange(len(y))
    others = scores.copy()
    others[rows, y] = -np.inf
    margins = scores[rows, y] - others.max(axis=1, initial=-np.inf)
    spread = np.ptp(ensemble.vectors, axis=1)[ensemble.leaf_vector] * np.abs(ensemble.leaf_value)
    most = np.maximum.reduceat(spread, ensemble.leaf_offsets[:-1]).sum() if len(spread) else 0.0
    normalised: Floats = margins / most if most > 0 else np.zeros(len(y))
    return normalised
