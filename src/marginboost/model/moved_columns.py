"""The same trees over other columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

__all__ = ["with_columns"]


def with_columns(ensemble: Ensemble, places: NDArray[np.int32], n_ordered: int) -> Ensemble:
    """Return an ensemble whose columns are elsewhere.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    places : int32 array of ensemble.n_features
        The new number of each column.
    n_ordered : int
        Number of columns that rows will have.
    """
    return replace(ensemble, feature=places[ensemble.feature], n_features=n_ordered)
