"""How much each round of boosting contributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

__all__ = ["round_sizes"]


def round_sizes(ensemble: Ensemble) -> NDArray[np.float64]:
    """Compute by how much each round moves the score of each class, on average over rows.

    Parameters
    ----------
    ensemble : Ensemble
        With the cover of its leaves; without it all leaves of a tree count alike.

    Returns
    -------
    float64 array of n_rounds x n_classes
    """
    n_leaves = np.diff(ensemble.leaf_offsets)
    tree = np.repeat(np.arange(ensemble.n_trees), n_leaves)
    cover = np.ones(len(tree)) if ensemble.leaf_cover is None else ensemble.leaf_cover
    share = cover / np.maximum(np.bincount(tree, cover, ensemble.n_trees)[tree], 1e-300)
    terms = np.abs(ensemble.vectors)[ensemble.leaf_vector]
    terms *= (np.abs(ensemble.leaf_value) * share)[:, None]
    of_trees = np.repeat(np.arange(ensemble.n_rounds), np.diff(ensemble.round_offsets))
    sizes = np.zeros((ensemble.n_rounds, ensemble.n_classes))
    np.add.at(sizes, of_trees[tree], terms)
    return sizes
