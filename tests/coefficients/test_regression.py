"""Softmax regression, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from marginboost import _native


def problem(load):
    X, y = load(return_X_y=True)
    return np.ascontiguousarray(StandardScaler().fit_transform(X)), y.astype(np.int64)


def fitted(X, y, penalty, *, weight=None, start=None, tolerance=1e-8, max_iter=2000):
    weight = np.ones(len(y)) if weight is None else weight
    start = np.zeros((X.shape[1] + 1, int(y.max()) + 1)) if start is None else start
    return _native.fit_regression(X, y, weight, start, penalty, tolerance, max_iter)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("penalty", [30.0, 1.0, 0.1])
def test_the_coefficients_are_those_of_scikit_learn(load, penalty):
    X, y = problem(load)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    found, error, _ = fitted(X, y, penalty, weight=weight)
    assert error <= 1e-8
    other = LogisticRegression(C=1.0 / penalty, tol=1e-12, max_iter=20_000).fit(X, y, weight)
    np.testing.assert_allclose(found[:-1], other.coef_.T, atol=2e-4)
    np.testing.assert_allclose(
        found[-1] - found[-1].mean(), other.intercept_ - other.intercept_.mean(), atol=2e-3
    )
    scores = _native.regression_scores(X, found)
    np.testing.assert_allclose(scores, X @ found[:-1] + found[-1], atol=1e-12)


def test_many_columns_have_a_diagonal_curvature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 300))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
    found, error, _ = fitted(X, y, 3.0)
    assert error <= 1e-8
    other = LogisticRegression(C=1.0 / 3.0, tol=1e-12, max_iter=20_000)
    margins = X @ (found[:-1, 1] - found[:-1, 0]) + found[-1, 1] - found[-1, 0]
    # Two classes: the squares of two equal halves are half of the square of their difference.
    other.set_params(C=2.0 / 3.0).fit(X, y)
    np.testing.assert_allclose(margins, other.decision_function(X), atol=1e-3)


def test_a_start_saves_iterations_and_a_copy_counts_as_a_weight():
    X, y = problem(load_wine)
    far, _, many = fitted(X, y, 1.0)
    near, _, few = fitted(X, y, 1.0, start=far)
    assert few <= 1 < many
    np.testing.assert_allclose(near, far, atol=1e-7)
    twice = fitted(np.repeat(X, 2, axis=0), np.repeat(y, 2), 1.0)[0]
    heavy = fitted(X, y, 1.0, weight=np.full(len(y), 2.0))[0]
    np.testing.assert_allclose(twice, heavy, atol=1e-6)


def test_columns_without_information_are_harmless():
    X, y = problem(load_iris)
    wide = np.ascontiguousarray(
        np.hstack([X, X[:, :1], np.zeros((len(X), 1)), np.ones((len(X), 1))])
    )
    found, error, _ = fitted(wide, y, 1.0, tolerance=1e-7)
    assert error <= 1e-7
    assert (found[-3] == 0.0).all()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"labels": np.array([0, 3])}, "labels must be from 0"),
        ({"labels": np.array([0])}, "one entry per row"),
        ({"start": np.zeros((2, 2))}, "a row per column"),
        ({"penalty": 0.0}, "penalty must be above 0"),
    ],
)
def test_wrong_arguments_are_rejected(changed, sentence):
    arguments = {
        "values": np.zeros((2, 2)),
        "labels": np.array([0, 1]),
        "weight": np.ones(2),
        "start": np.zeros((3, 2)),
        "penalty": 1.0,
        "tolerance": 1e-4,
        "max_iter": 5,
    }
    with pytest.raises(ValueError, match=sentence):
        _native.fit_regression(**(arguments | changed))
    with pytest.raises(ValueError, match="a row per column"):
        _native.regression_scores(np.zeros((2, 2)), np.zeros((2, 2)))
