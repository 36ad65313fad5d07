"""Training sets for the engines of trees."""

import numpy as np
import pytest
from support import noisy_problem, row_weights, training_set

KINDS = pytest.mark.parametrize(
    "kind", ["plain", "wide", "weights", "extreme weights", "multiplicities"]
)


def problem(n_classes=3, *, kind="plain", n_rows=None, n_features=5, n_values=40, seed=0):
    """Make rows of any kind: plain, wide (bins of two bytes), with weights, with multiplicities."""
    n_rows = 60 + 4 * n_classes if n_rows is None else n_rows
    if kind == "wide":
        n_values, n_rows = None, max(n_rows, 280)
    X, y = noisy_problem(n_rows, n_features, n_classes, n_values=n_values, seed=seed)
    rng = np.random.default_rng(seed + 1)
    weight = row_weights(kind, n_rows, rng)
    return X, y, weight


def make_data(X, y, weight=None, **settings):
    return training_set(X, y, weight=weight, **settings)


def mostly_zeros(n_rows, n_features, n_classes, *, share=0.05, n_values=6, seed=0):
    """Counts that say something of the class: most of them 0, some columns always, some never."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    likely = rng.uniform(0, 2 * share, (n_classes, n_features))
    there = rng.random((n_rows, n_features)) < likely[y]
    X = np.where(there, rng.integers(1, n_values, there.shape), 0.0)
    X[:, 1] = rng.normal(size=n_rows) + y
    X[:, 2] = 0.0
    X[:, 3] *= -1.0
    return X, y
