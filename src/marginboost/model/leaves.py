"""The leaves that rows reach."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.cover import compact_blocks, compact_features
from marginboost.model.ensemble import Ensemble

__all__ = ["find_leaves"]

Integers = NDArray[np.int32]


def find_leaves(ensemble: Ensemble, X: Any) -> Integers:
    """Find the leaf of every tree that each row reaches.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    X : array or SciPy sparse matrix of shape (n, n_features)
        Ordered columns, as for `Ensemble.decision_function`.

    Returns
    -------
    int32 ndarray of shape (n, n_trees)
        Numbers of leaves, counted from 0 in each tree.
    """
    used, feature = compact_features(ensemble)
    # By trees first: a tree writes its leaves into one piece of memory.
    leaves = np.empty((ensemble.n_trees, X.shape[0]), dtype=np.int32)
    for rows, block in compact_blocks(X, used):
        for tree in range(ensemble.n_trees):
            leaves[tree, rows] = _leaves_of_tree(ensemble, tree, feature, block)
    return np.ascontiguousarray(leaves.T)


def _leaves_of_tree(
    ensemble: Ensemble, tree: int, feature: Integers, X: NDArray[np.float64]
) -> Integers:
    """Find the leaves of one tree: all rows go down one level at a time."""
    nodes = slice(*ensemble.node_offsets[tree : tree + 2])
    columns, thresholds = feature[nodes], ensemble.threshold[nodes]
    left, right = ensemble.left[nodes], ensemble.right[nodes]
    place = np.full(len(X), 0 if len(left) else ~0, dtype=np.int32)
    moving = np.flatnonzero(place >= 0)
    while len(moving):
        node = place[moving]
        goes_left = X[moving, columns[node]] <= thresholds[node]
        place[moving] = np.where(goes_left, left[node], right[node])
        moving = moving[place[moving] >= 0]
    leaves: Integers = ~place
    return leaves
