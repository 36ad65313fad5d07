"""Weights have no scale: a constant factor, however large or small, gives the same model."""

import numpy as np
import pytest
from every_method import EVERY_METHOD, MODELS
from sklearn.base import clone
from support import assert_same_model, noisy_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier


@pytest.fixture(scope="module")
def problem():
    X, y = noisy_problem(150, 4, 4, n_values=30)
    return X, y, np.random.default_rng(0).uniform(0.1, 3.0, len(y))


def fit(name, X, y, weight, **settings):
    return clone(MODELS[name]).set_params(**settings).fit(X, y, weight)


@EVERY_METHOD
@pytest.mark.parametrize("constant", [1e300, 1e200, 1.5, 1e-300, 5e-324])
def test_equal_weights_mean_nothing(name, constant, problem):
    X, y, _ = problem
    assert_same_model(fit(name, X, y, np.full(len(y), constant)), fit(name, X, y, None))


@EVERY_METHOD
@pytest.mark.parametrize("factor", [2.0**1000, 2.0**-900])
def test_powers_of_two_change_no_bit(name, factor, problem):
    X, y, weight = problem
    assert_same_model(fit(name, X, y, weight * factor), fit(name, X, y, weight))


@EVERY_METHOD
@pytest.mark.parametrize("factor", [3.0, 1e300, 1e-290])
def test_other_factors_change_no_more_than_their_rounding(name, factor, problem):
    X, y, weight = problem
    found, right = fit(name, X, y, weight * factor), fit(name, X, y, weight)
    np.testing.assert_array_equal(found.ensemble_.feature, right.ensemble_.feature)
    np.testing.assert_array_equal(found.ensemble_.threshold, right.ensemble_.threshold)
    np.testing.assert_allclose(found.predict_proba(X), right.predict_proba(X), atol=1e-6)


@EVERY_METHOD
# So few rows count that there may be nothing to learn.
@pytest.mark.filterwarnings("ignore:No split:UserWarning", "ignore:On the rows:UserWarning")
def test_weights_farther_apart_than_their_sums_can_hold(name, problem):
    X, y, _ = problem
    wide = 10.0 ** np.random.default_rng(1).uniform(-200, 100, len(y))
    model = fit(name, X, y, wide)
    assert np.isfinite(model.predict_proba(X)).all()
    assert_same_model(fit(name, X, y, wide * 2.0**400), model)


@EVERY_METHOD
def test_class_weights_have_no_scale_either(name, problem):
    X, y, weight = problem
    for factors in ([1.0] * 4, [0.5, 2.0, 1.0, 0.25]):
        right = fit(name, X, y, weight, class_weight=dict(enumerate(factors)))
        huge = {number: factor * 2.0**900 for number, factor in enumerate(factors)}
        assert_same_model(fit(name, X, y, weight * 2.0**900, class_weight=huge), right)


@pytest.mark.parametrize("name", ["MarginBoost", "MCBoost logistic"])
def test_weights_of_rows_and_classes_may_make_up_for_each_other(name, problem):
    X, y, weight = problem
    rows = np.where(y == 0, 2.0**-700, 2.0**700) * weight
    factors = {0: 2.0**1000, 1: 2.0**-400, 2: 2.0**-400, 3: 2.0**-400}
    found, right = fit(name, X, y, rows, class_weight=factors), fit(name, X, y, weight)
    np.testing.assert_allclose(found.predict_proba(X), right.predict_proba(X), atol=1e-9)


def test_the_pseudo_count_and_the_penalty_count_rows_of_mean_weight(problem):
    X, y, weight = problem
    for model in (
        MarginBoostClassifier(3, l2_regularization=30.0, random_state=0),
        MCBoostClassifier(3, loss="logistic", regularization=0.5),
    ):
        right = clone(model).fit(X, y, weight).decision_function(X)
        found = clone(model).fit(X, y, weight * 1000.0).decision_function(X)
        np.testing.assert_allclose(found, right, atol=1e-6)


@EVERY_METHOD
def test_few_units_of_the_weights_of_most_rows_are_left(name, problem):
    """Rows that count for nothing beside the others do no harm."""
    X, y, _ = problem
    weight = np.where(np.arange(len(y)) < 75, 1e300, 1e-300)
    model = fit(name, X, y, weight)
    assert model.score(X[:75], y[:75]) > 0.35
