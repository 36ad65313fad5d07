"""The trees of an ensemble as the attributes of ONNX's TreeEnsembleRegressor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble
from marginboost.model.onnx_columns import OrderedColumns
from marginboost.model.steps import collapse

__all__ = ["LeafTable", "leaf_table", "tree_attributes"]

_Integers = NDArray[np.int64]

# 32 bytes each; a model must be smaller than 2 GiB.
_MOST_WEIGHTS = 3 << 24

_LEAST_CLASSES = 16  # with fewer, a table saves little
_MOST_IN_TABLE = 3 << 26  # 8 bytes each
_MOST_ROWS = 1 << 24  # whole numbers that float32, the type of the operator's output, holds exactly


class LeafTable(NamedTuple):
    """What the leaves add to the scores, apart from the trees.

    Attributes
    ----------
    row_of_leaf : array of n_leaves
        Which row of the table belongs to each leaf.
    values : float64 array of rows x classes
        The table.
    """

    row_of_leaf: _Integers
    values: NDArray[np.float64]


def leaf_table(ensemble: Ensemble) -> LeafTable | None:
    """Make the table of an ensemble; None where it would take no less room.

    With a weight per leaf and class, the operator stores the numbers of tree, leaf and class beside each
    weight. In a table a weight takes its eight bytes alone.
    """
    if ensemble.n_classes < _LEAST_CLASSES or not ensemble.n_trees:
        return None
    if collapse(ensemble) is not None:
        return None
    pairs = np.stack([ensemble.leaf_vector.astype(np.float64), ensemble.leaf_value])
    rows, row_of_leaf = np.unique(pairs, axis=1, return_inverse=True)
    values = rows[1][:, None] * ensemble.vectors[rows[0].astype(np.intp)]
    too_large = len(values) > _MOST_ROWS or values.size > _MOST_IN_TABLE
    if too_large or np.count_nonzero(values) < values.size / 2:
        return None
    return LeafTable(row_of_leaf.ravel(), values)


def tree_attributes(
    ensemble: Ensemble, columns: OrderedColumns, table: LeafTable | None = None
) -> dict[str, Any]:
    """Return the attributes of the operator, real numbers as arrays of float64.

    Parameters
    ----------
    ensemble : Ensemble
        Stumps are collapsed to one tree per column, as in `compile`.
    columns : OrderedColumns
        Where the operator finds the columns.
    table : LeafTable, optional
        Of the ensemble. The operator then returns a number per tree: the row of the leaf in the table.

    Returns
    -------
    dict
        The nodes of a tree are its internal nodes, followed by its leaves. A leaf has one weight per
        class, without zeros.
    """
    ensemble = collapse(ensemble) or ensemble
    if not ensemble.n_trees:
        ensemble = _nothing(ensemble)
    n_nodes, n_leaves = np.diff(ensemble.node_offsets), np.diff(ensemble.leaf_offsets)
    # Without a split, only the first leaf is reached.
    n_leaves = np.where(n_nodes == 0, 1, n_leaves)
    firsts = ensemble.leaf_offsets[:-1]
    leaves = np.concatenate(list(map(np.arange, firsts, firsts + n_leaves)))
    tree_of_node = np.repeat(np.arange(ensemble.n_trees), n_nodes)
    tree_of_leaf = np.repeat(np.arange(ensemble.n_trees), n_leaves)
    number_of_node = np.arange(len(tree_of_node)) - ensemble.node_offsets[tree_of_node]
    number_of_leaf = n_nodes[tree_of_leaf] + leaves - ensemble.leaf_offsets[tree_of_leaf]

    def child(side: NDArray[np.int32]) -> _Integers:
        return np.where(side < 0, n_nodes[tree_of_node] + ~side, side)

    threshold = ensemble.threshold
    zeros = np.zeros(len(leaves), dtype=np.int64)
    split = np.concatenate([np.ones(len(tree_of_node), bool), np.zeros(len(leaves), bool)])
    nodes = {
        "nodes_treeids": np.concatenate([tree_of_node, tree_of_leaf]),
        "nodes_nodeids": np.concatenate([number_of_node, number_of_leaf]),
        "nodes_featureids": np.concatenate([columns.place[ensemble.feature], zeros]),
        "nodes_truenodeids": np.concatenate([child(ensemble.left), zeros]),
        "nodes_falsenodeids": np.concatenate([child(ensemble.right), zeros]),
        "nodes_missing_value_tracks_true": np.concatenate(
            [columns.fill[ensemble.feature] <= threshold, zeros]
        ),
        "nodes_values": np.concatenate([threshold, zeros]),
        "nodes_modes": np.where(split, "BRANCH_LEQ", "LEAF"),
    }
    # Nodes must be grouped by tree.
    order = np.argsort(nodes["nodes_treeids"], kind="stable")
    nodes = {name: values[order] for name, values in nodes.items()}
    if table is None:
        weights, n_targets = (
            _weights(ensemble, leaves, tree_of_leaf, number_of_leaf),
            ensemble.n_classes,
        )
    else:
        n_targets = ensemble.n_trees
        weights = {
            "target_treeids": tree_of_leaf,
            "target_nodeids": number_of_leaf,
            "target_ids": tree_of_leaf,
            "target_weights": table.row_of_leaf[leaves].astype(np.float64),
        }
    attributes: dict[str, Any] = {
        name: values if name in ("nodes_values", "target_weights") else values.tolist()
        for name, values in (nodes | weights).items()
    }
    return attributes | {"n_targets": n_targets, "aggregate_function": "SUM"}


def _weights(
    ensemble: Ensemble, leaves: _Integers, tree_of_leaf: _Integers, number_of_leaf: _Integers
) -> dict[str, NDArray[Any]]:
    """Return what the leaves add to the scores, by leaf and class."""
    if len(leaves) * ensemble.n_classes > _MOST_WEIGHTS:
        raise ValueError(
            f"An ONNX model must have at most {_MOST_WEIGHTS:,} weights, one per leaf and class, got "
            f"{len(leaves):,} leaves and {ensemble.n_classes:,} classes."
        )
    vectors = ensemble.vectors[ensemble.leaf_vector[leaves]]
    weights = ensemble.leaf_value[leaves, None] * vectors
    kept = weights != 0
    kept[~kept.any(axis=1), 0] = True  # a leaf must have a weight
    leaf, target = np.nonzero(kept)
    return {
        "target_treeids": tree_of_leaf[leaf],
        "target_nodeids": number_of_leaf[leaf],
        "target_ids": target,
        "target_weights": weights[kept],
    }


def _nothing(ensemble: Ensemble) -> Ensemble:
    """Return an ensemble of one tree that adds nothing: the operator needs at least one."""
    none: NDArray[np.int32] = np.empty(0, dtype=np.int32)
    return Ensemble(
        vectors=np.zeros((1, ensemble.n_classes)),
        round_offsets=np.array([0, 1]),
        node_offsets=np.array([0, 0]),
        feature=none,
        threshold=np.empty(0),
        left=none,
        right=none,
        leaf_offsets=np.array([0, 1]),
        leaf_vector=np.zeros(1, dtype=np.int32),
        leaf_value=np.zeros(1),
        n_features=ensemble.n_features,
    )
