"""The coefficients of every round: the promised error, and finite where all is separated."""

import numpy as np
import pytest
from round_problem import NUS, PROMISED
from support import BOTH_LOSSES, embedded, random_problem, shared

from marginboost import MCBoostClassifier


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
@BOTH_LOSSES
def test_every_round_keeps_the_promised_error(name, depth, loss, nu):
    X, y = embedded(name)
    model = MCBoostClassifier(150, loss=loss, regularization=nu, max_depth=depth).fit(X, y)
    assert (model.optimality_errors_ < PROMISED).all()
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
@BOTH_LOSSES
def test_a_hundred_classes_keep_the_promised_error(loss, learning_rate):
    X, y = shared("leaves100", 1600)
    n_rounds = 190 if loss == "exponential" else 40
    model = MCBoostClassifier(n_rounds, loss=loss, learning_rate=learning_rate).fit(X[:, ::4], y)
    assert model.optimality_errors_.max() < PROMISED


@pytest.mark.parametrize("nu", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@BOTH_LOSSES
def test_separable_data_stays_finite(n_classes, loss, nu):
    y = np.repeat(np.arange(n_classes), 5)
    X = np.stack([y, y % 2, -y], axis=1).astype(float)
    model = MCBoostClassifier(60, loss=loss, learning_rate=1.0, regularization=nu).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert (model.optimality_errors_ < PROMISED).all()
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_large_penalty_makes_no_step():
    X, y = random_problem(60, 3, 3)
    model = MCBoostClassifier(5, loss="logistic", regularization=1e3)
    with pytest.warns(UserWarning, match="No split lowers the loss"):
        model.fit(X, y)
    assert not len(model.ensemble_.feature)
