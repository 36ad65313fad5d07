"""The trees of an ensemble as the dictionary that `shap.TreeExplainer` reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Encoding
from marginboost.model.ensemble import Ensemble

__all__ = ["shap_trees"]

# The share of a parent's rows in a child that no row came to. It must be positive for shap.
_LEAST_SHARE = 1e-30

Floats = NDArray[np.float64]


def shap_trees(ensemble: Ensemble, encoding: Encoding) -> dict[str, Any]:
    """Describe the trees in terms of the columns of X.

    Parameters
    ----------
    ensemble : Ensemble
        The trees, with the cover of their leaves.
    encoding : Encoding
        The encoding whose ordered columns the ensemble splits.

    Returns
    -------
    dict
        With one output per class. The nodes of a tree are its internal nodes, followed by its leaves.

    Raises
    ------
    ValueError
        If the ensemble has no cover, or splits a column of categories.
    """
    if ensemble.leaf_cover is None:
        raise ValueError(
            "The ensemble must have a leaf_cover to be explained, got none; fit the model again, or "
            "add one with `with_cover`."
        )
    split = np.unique(encoding.source[ensemble.feature]).tolist()
    coded = [column for column in split if encoding.categories[column] is not None]
    if coded:
        raise ValueError(
            "shap.TreeExplainer needs trees that split only columns of numbers, but this model splits "
            f"columns of categories: {coded}. `model.explain(X).to_shap()` gives Shapley values for "
            "them too."
        )
    return {
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "objective": None,
        "tree_output": "raw_value",
        "base_offset": np.zeros(ensemble.n_classes),
        "trees": [
            _tree(ensemble, encoding, ensemble.leaf_cover, tree) for tree in range(ensemble.n_trees)
        ],
    }


def _tree(
    ensemble: Ensemble, encoding: Encoding, cover: Floats, tree: int
) -> dict[str, NDArray[Any]]:
    nodes = slice(*ensemble.node_offsets[tree : tree + 2])
    leaves = slice(*ensemble.leaf_offsets[tree : tree + 2])
    left, right = ensemble.left[nodes], ensemble.right[nodes]
    n_nodes = len(left)
    if not n_nodes:  # only the first leaf is reached
        leaves = slice(leaves.start, leaves.start + 1)
    added = ensemble.leaf_value[leaves, None] * ensemble.vectors[ensemble.leaf_vector[leaves]]
    none = np.full(len(added), -1, dtype=np.int32)

    left, right = (np.where(side < 0, n_nodes + ~side, side) for side in (left, right))
    feature, threshold = ensemble.feature[nodes], ensemble.threshold[nodes]
    missing = np.where(encoding.fill[feature] <= threshold, left, right)
    return {
        "children_left": np.concatenate([left, none]).astype(np.int32),
        "children_right": np.concatenate([right, none]).astype(np.int32),
        "children_default": np.concatenate([missing, none]).astype(np.int32),
        "features": np.concatenate([encoding.source[feature], none]).astype(np.int32),
        "thresholds": np.concatenate([threshold, np.zeros(len(added))]),
        "values": np.concatenate([np.zeros((n_nodes, ensemble.n_classes)), added]),
        "node_sample_weight": _weights(left.tolist(), right.tolist(), cover[leaves]),
    }


def _weights(left: list[int], right: list[int], leaf_cover: Floats) -> Floats:
    """Return weights of nodes whose ratios are the shares of rows that explanations use.

    Where no row came to a node, each child has half of it.
    """
    n_nodes = len(left)
    cover = [0.0] * n_nodes + leaf_cover.tolist()
    for node in reversed(range(n_nodes)):
        cover[node] = cover[left[node]] + cover[right[node]]
    weight = np.ones(len(cover))
    for node in range(n_nodes):
        for child in (left[node], right[node]):
            share = cover[child] / cover[node] if cover[node] > 0.0 else 0.5
            weight[child] = weight[node] * max(share, _LEAST_SHARE)
    return weight
