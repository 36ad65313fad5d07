"""The importance of each column of X in a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.model.cover import compact_blocks, compact_features, flat_arrays

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding
    from marginboost.model.ensemble import Ensemble

__all__ = ["feature_importances"]

Floats = NDArray[np.float64]


def feature_importances(
    ensemble: Ensemble, encoding: Encoding, X: Any, weight: Floats, *, n_threads: int = 1
) -> Floats:
    """Compute how far the splits of each column of X move the scores of some rows.

    A split moves a row's scores from the mean over the rows of its node to the mean over the rows of the
    child. The moves of a row by all splits of a column are added up before the absolute value is taken:
    steps that fit noise cancel, where gains would add up. For stumps the moves are Shapley values.

    Parameters
    ----------
    ensemble : Ensemble
        The trees, with the cover of their leaves.
    encoding : Encoding
        The encoding whose ordered columns the ensemble splits.
    X : array or SciPy sparse matrix of shape (n, n_ordered)
        Ordered columns.
    weight : float64 array of n
        Weights of the rows.
    n_threads : int
        Threads to use. The result does not depend on it.

    Returns
    -------
    float64 array of encoding.n_features
        With sum 1; zeros if nothing is moved.
    """
    if ensemble.leaf_cover is None:
        raise ValueError(
            "The ensemble must have a leaf_cover to compute importances, got none; add one with "
            "`with_cover`."
        )
    used, feature = compact_features(ensemble)
    players, player = np.unique(encoding.source[used], return_inverse=True)
    arrays = flat_arrays(ensemble, feature, len(used))
    sizes = np.zeros(len(players))
    for rows, block in compact_blocks(X, used, "F"):
        _native.step_sizes(
            **arrays,
            leaf_cover=ensemble.leaf_cover,
            player=player.astype(np.int32),
            X=block,
            weights=np.ascontiguousarray(weight[rows]),
            sizes=sizes,
            n_threads=n_threads,
        )
    shares = np.zeros(encoding.n_features)
    total = float(sizes.sum())
    if total > 0.0:
        shares[players] = sizes / total
    return shares
