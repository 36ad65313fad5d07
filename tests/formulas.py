"""The paper's formulas, m x k, in float64, and walks through trees: nothing here is of the package."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np


def exponentials(F, y):
    """e[i, r] = exp(-(F[i, y_i] - F[i, r]))."""
    return np.exp(F - F[np.arange(len(y)), y][:, None])


def others(y, k):
    """Say for each pair (i, r) whether r is not the row's own class."""
    return y[:, None] != np.arange(k)


def pair_weights(F, y, loss):
    """u of the pairs (i, r != y_i), before any normalisation."""
    e = exponentials(F, y)
    return np.where(others(y, F.shape[1]), e if loss == "exponential" else e / (1 + e), 0.0)


def direction(F, y, loss, weight=1.0):
    """g, in the units of the stopping rule: the exponential loss's weights sum to 1."""
    u = pair_weights(F, y, loss) * np.broadcast_to(weight, len(y))[:, None]
    g = -u
    g[np.arange(len(y)), y] = u.sum(axis=1)
    if loss == "exponential":
        g /= (exponentials(F, y) * np.broadcast_to(weight, len(y))[:, None]).sum()
    return g


def leaf_of(tree, X):
    """Find the leaf of every row; a tree without nodes is one leaf."""
    X = np.asarray(X, dtype=np.float64)
    place = np.full(len(X), 0 if len(tree.feature) else ~0)
    for node in range(len(tree.feature)):  # children come after their parents
        here = place == node
        goes_left = X[:, tree.feature[node]] <= tree.threshold[node]
        place[here & goes_left] = tree.left[node]
        place[here & ~goes_left] = tree.right[node]
    return ~place


def tree_outputs(tree, X):
    """h(x) of every row."""
    return np.asarray(tree.leaf_value, dtype=np.float64)[leaf_of(tree, X)]


def tree_of(ensemble, j):
    """Cut one tree out of an ensemble."""
    nodes = slice(*ensemble.node_offsets[j : j + 2])
    leaves = slice(*ensemble.leaf_offsets[j : j + 2])
    return SimpleNamespace(
        **{
            name: getattr(ensemble, name)[nodes]
            for name in ("feature", "threshold", "left", "right")
        },
        **{name: getattr(ensemble, name)[leaves] for name in ("leaf_vector", "leaf_value")},
    )


def trees_of_round(ensemble, t):
    """Cut the trees of a round out of an ensemble."""
    return [tree_of(ensemble, j) for j in range(*ensemble.round_offsets[t : t + 2])]


class AllStumps:
    """Every stump there is: h = +1 above a threshold between two neighbouring values."""

    def __init__(self, X):
        X = np.asarray(X, dtype=np.float64)
        self.feature, self.threshold, rows = [], [], []
        for f in range(X.shape[1]):
            for low, high in pairwise(np.unique(X[:, f])):
                threshold = low + (high - low) / 2
                self.feature.append(f)
                self.threshold.append(threshold)
                rows.append(np.where(X[:, f] > threshold, 1.0, -1.0))
        self.outputs = np.array(rows)  # stumps x rows

    def place(self, tree):
        """Find a stump of the package's in this list."""
        same = (np.array(self.feature) == tree.feature[0]) & np.isclose(
            self.threshold, tree.threshold[0], rtol=1e-15, atol=0
        )
        (at,) = np.flatnonzero(same)
        return int(at)


def adaboost(X, y, n_rounds):
    """Freund and Schapire's algorithm over all stumps: (place, outputs, alpha)."""
    sign = np.where(y == 1, 1.0, -1.0)
    weight = np.full(len(y), 1 / len(y))
    stumps = AllStumps(X)
    H = stumps.outputs
    for _ in range(n_rounds):
        error = (1 - H @ (weight * sign)) / 2
        error = np.minimum(error, 1 - error)  # a stump or its negation
        best = int(np.flatnonzero(error <= error.min() * (1 + 1e-9))[0])
        h = H[best] if H[best] @ (weight * sign) > 0 else -H[best]
        alpha = 0.5 * np.log((1 - error[best]) / error[best])
        weight = weight * np.exp(-alpha * sign * h)
        weight /= weight.sum()
        yield best, h, alpha
