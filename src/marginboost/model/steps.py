"""Collapse stumps to one step function per feature, whatever the number of rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble

__all__ = ["collapse"]

# Maximum size of the tables, as a multiple of the ensemble's size; and a size that is always allowed.
_MOST_TIMES = 8
_ALWAYS = 1 << 17

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


def collapse(ensemble: Ensemble) -> Ensemble | None:
    """Add up the stumps of each feature.

    The sum of a feature's stumps is a step function: constant between two neighbouring thresholds.
    It becomes one tree, a search among the thresholds, with one vector per step. So a row costs one
    search and one sum per feature. The terms of a score are those of the ensemble, added in a different
    order: feature by feature, and round by round within a feature.

    Parameters
    ----------
    ensemble : Ensemble
        Any trees.

    Returns
    -------
    Ensemble or None
        One round, with one tree per used feature; None if some tree has more than one node, if no tree
        has one, or if the tables would be more than 8 times as large as the ensemble (and a megabyte).
    """
    nodes = np.diff(ensemble.node_offsets)
    if nodes.max(initial=0) != 1:
        return None
    splits = np.unique(np.stack([ensemble.feature, ensemble.threshold], axis=1), axis=0)
    used = np.unique(ensemble.feature)
    size = (len(splits) + len(used)) * ensemble.n_classes
    own = ensemble.vectors.size + 3 * len(ensemble.feature) + 2 * len(ensemble.leaf_value)
    if size > max(_ALWAYS, _MOST_TIMES * own):
        return None
    first_leaf = ensemble.leaf_offsets[:-1]
    constants = _added(ensemble, first_leaf[nodes == 0]).sum(axis=0)
    stumps = first_leaf[nodes == 1]
    below, above = stumps + ~ensemble.left, stumps + ~ensemble.right
    thresholds, tables = [], []
    for feature in used:
        its = np.flatnonzero(ensemble.feature == feature)
        steps, places = np.unique(ensemble.threshold[its], return_inverse=True)
        table = _table(ensemble, below[its], above[its], places, len(steps))
        thresholds.append(steps)
        tables.append(table)
    tables[0] = constants + tables[0]
    vectors = np.concatenate(tables).astype(np.float64)
    if not np.isfinite(vectors).all():  # such sums depend on their order
        return None
    return _of_tables(ensemble.n_features, used.astype(np.int64), thresholds, vectors)


def _added(ensemble: Ensemble, leaves: _Integers) -> NDArray[np.longdouble]:
    """Return the terms that these leaves add to the scores."""
    terms = ensemble.leaf_value[leaves, None] * ensemble.vectors[ensemble.leaf_vector[leaves]]
    return terms.astype(np.longdouble)


def _table(
    ensemble: Ensemble, below: _Integers, above: _Integers, places: _Integers, n_steps: int
) -> NDArray[np.longdouble]:
    """Return the vector of each step of a feature: the sum of its stumps' leaves on that step.

    The terms themselves are summed, not their differences, which would cancel.
    """
    left = np.zeros((n_steps + 1, ensemble.n_classes), dtype=np.longdouble)
    right = np.zeros_like(left)
    np.add.at(left, places, _added(ensemble, below))
    np.add.at(right, places + 1, _added(ensemble, above))
    table: NDArray[np.longdouble] = right.cumsum(axis=0) + left[::-1].cumsum(axis=0)[::-1]
    return table


def _of_tables(
    n_features: int, used: _Integers, thresholds: list[_Floats], vectors: _Floats
) -> Ensemble:
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    for which, steps in zip(used.tolist(), thresholds, strict=True):
        middles, lefts, rights = _search(len(steps))
        feature += [which] * len(steps)
        threshold += steps[middles].tolist()
        left += lefts
        right += rights
    sizes = np.array([len(steps) for steps in thresholds])
    return Ensemble(
        vectors=vectors,
        round_offsets=np.array([0, len(used)], dtype=np.int64),
        node_offsets=np.concatenate([[0], sizes.cumsum()]).astype(np.int64),
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        leaf_offsets=np.concatenate([[0], (sizes + 1).cumsum()]).astype(np.int64),
        leaf_vector=np.arange(len(vectors), dtype=np.int32),
        leaf_value=np.ones(len(vectors)),
        n_features=n_features,
    )


def _search(n: int) -> tuple[list[int], list[int], list[int]]:
    """Return a balanced search among n thresholds: each node's threshold, left and right child.

    Leaves are counted from left to right, so that the number of a leaf is the number of thresholds below.
    """
    middles, left, right = [0] * n, [0] * n, [0] * n
    open_ends = [(0, n, left, 0)]  # from, to, side and number of the parent; the root has none
    node = 0
    while open_ends:
        low, high, side, parent = open_ends.pop()
        if low == high:
            side[parent] = ~low
            continue
        if node:
            side[parent] = node
        middle = (low + high) // 2
        middles[node] = middle
        open_ends += [(middle + 1, high, right, node), (low, middle, left, node)]
        node += 1
    return middles, left, right
