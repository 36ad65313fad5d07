"""What several tests share. The mathematics here is plain NumPy and uses nothing of the package."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

from marginboost.boosting.loop import boost
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.data.training_set import make_training_set
from marginboost.engine import NativeEngine
from marginboost.loss import LOSSES
from marginboost.weak.stump import StumpLearner
from marginboost.weak.tree import TreeLearner

BOTH_LOSSES = pytest.mark.parametrize("loss", ["exponential", "logistic"])

# --- data -----------------------------------------------------------------------------------------


def embedded(name):
    """X and y of a set that comes with scikit-learn."""
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def shared(name, n_rows, seed=0):
    """Return a sample of a set in the folder MARGINBOOST_DATA, with classes numbered from 0."""
    folder = os.environ.get("MARGINBOOST_DATA")
    if not folder or not (path := Path(folder) / f"{name}.npz").is_file():
        pytest.skip(f"no {name}.npz in the folder that MARGINBOOST_DATA names")
    with np.load(path) as file:
        X, y = file["X"], np.unique(file["y"], return_inverse=True)[1]
    rows = np.random.default_rng(seed).permutation(len(X))[:n_rows]
    return X[rows], y[rows]


def by_name(name):
    """Return one of scikit-learn's sets, or 500 rows of a shared one."""
    return shared(name, 500) if name in ("pendigits", "letter") else embedded(name)


def random_problem(n_rows, n_features, n_classes, *, n_values=None, seed=0):
    """Features that say something of the class, every class with rows."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_classes, n_features))[y]
    if n_values is not None:
        X = np.rint((X - X.min()) / (X.max() - X.min()) * (n_values - 1))
    return X, y


# --- the paper's formulas, m x k, in float64 ------------------------------------------------------


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


def tree_outputs(weak, X):
    """h(x) of every row, walked down one by one."""
    X = np.asarray(X, dtype=np.float64)
    out = np.empty(len(X))
    for i, x in enumerate(X):
        node = 0
        while node >= 0:
            goes_left = x[weak.feature[node]] <= weak.threshold[node]
            node = weak.left[node] if goes_left else weak.right[node]
        out[i] = weak.leaf_value[~node]
    return out


# --- the package's parts --------------------------------------------------------------------------


def training_set(X, y, *, weight=None, max_bins=None, n_classes=None):
    """Make a training set of class numbers y."""
    k = int(np.max(y)) + 1 if n_classes is None else n_classes
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    return make_training_set(
        np.asarray(X), np.asarray(y, dtype=np.int64), k,
        sample_weight=weight, class_weight=None, max_bins=max_bins, n_threads=1,
    )  # fmt: skip


def make_method(data, loss, *, engine=None, depth=1, nu=0.0, eta=1.0, kappa=None, method=MCBoost):
    """Make a boosting method from the package's parts."""
    thresholds = data.binned.thresholds
    learner = StumpLearner(thresholds) if depth == 1 else TreeLearner(thresholds, depth)
    engine = NativeEngine() if engine is None else engine
    return method(engine, data, LOSSES[loss], learner, nu=nu, eta=eta, kappa=kappa)


def rounds_of(method, n_rounds, callback=lambda finished: None):
    """Boost and return the rounds' records."""
    rounds = []
    boost(method, n_rounds, [rounds.append, callback])
    return rounds


def assert_same_ensemble(a, b):
    """Equal bit for bit."""
    for name in ("feature", "threshold", "left", "right", "leaf_value", "node_offsets", "coef"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_same_model(a, b):
    """Equal bit for bit, with all that was recorded."""
    assert_same_ensemble(a.ensemble_, b.ensemble_)
    for name in ("coef_", "train_errors_", "optimality_errors_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    assert a.stop_reason_ == b.stop_reason_
