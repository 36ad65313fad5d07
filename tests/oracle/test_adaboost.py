"""With two classes and the exponential loss the method is discrete AdaBoost."""

import numpy as np
import pytest
from formulas import AllStumps, adaboost, tree_of, tree_outputs
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from support import TWO_CLASSES, make_method, random_problem, rounds_of, training_set, two_classes

from marginboost import MCBoostClassifier
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.weak.stump import Stump


@TWO_CLASSES
def test_same_stumps_and_coefficients(name):
    X, y = two_classes(name)
    n_rounds = 100
    model = MCBoostClassifier(n_rounds, learning_rate=1.0, regularization=0.0).fit(X, y)
    assert model.n_iter_ == n_rounds
    stumps = AllStumps(X)
    for j, (place, h, alpha) in enumerate(adaboost(X, y, n_rounds)):
        tree = tree_of(model.ensemble_, j)
        assert stumps.place(tree) == place
        vote = tree_outputs(tree, X) * (model.coef_[j, 1] - model.coef_[j, 0])
        np.testing.assert_allclose(vote, alpha * h, rtol=1e-7)
        assert model.coef_[j].min() == 0.0


class Dictated:
    """A weak learner that is told its outputs: column j of the data in round j."""

    def __init__(self, H):
        self.columns = enumerate(H.T)

    def find(self, engine, criterion=0):
        j, column = next(self.columns)
        engine.place_stump(j, 0, not column.all())  # a column of ones is all in bin 0
        return Stump((j,), (0,), (0.5,), 1, 0, 1)


class Told(MCBoost):
    def is_optimal(self, edge):
        return False


@TWO_CLASSES
@pytest.mark.parametrize("depth", [1, 2])
def test_coefficients_of_sklearn_on_its_own_trees(name, depth):
    X, y = two_classes(name)
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=40, random_state=0
    ).fit(X, y)
    H = np.array([tree.predict(X) for tree in theirs.estimators_]).T
    n_rounds = len(theirs.estimators_) - (theirs.estimator_errors_[-1] <= 0)  # the last is perfect
    assert n_rounds >= 5
    data = training_set(H.astype(np.uint8), y)
    method = make_method(data, "exponential", method=Told)
    method._learner = Dictated(H)
    rounds = rounds_of(method, n_rounds)
    alpha = np.array([r.w[1] - r.w[0] for r in rounds])
    # scikit-learn's weights are for votes of one class, twice as large as for -1 and +1.
    np.testing.assert_allclose(2 * alpha, theirs.estimator_weights_[:n_rounds], rtol=1e-6)
    votes = np.cumsum((2 * H[:, :n_rounds] - 1) * alpha, axis=1)
    for ours, predicted in zip(votes.T, theirs.staged_predict(X), strict=False):
        sure = np.abs(ours) > 1e-9
        np.testing.assert_array_equal((ours > 0)[sure], (predicted == 1)[sure])
    assert rounds[-1].training_error == np.mean(np.where(y == 1, 1, -1) * votes[:, -1] <= 1e-12)


def test_training_error_falls_to_adaboosts_bound():
    """After T rounds the error is at most the product of 2 sqrt(err (1 - err))."""
    X, y = random_problem(200, 5, 2)
    model = MCBoostClassifier(80, learning_rate=1.0, regularization=0.0).fit(X, y)
    alpha = np.abs(model.coef_[:, 1] - model.coef_[:, 0])
    error = 1 / (1 + np.exp(2 * alpha))
    bound = np.cumprod(2 * np.sqrt(error * (1 - error)))
    assert (model.train_errors_ <= bound * (1 + 1e-9)).all()
    signs = np.where(y == 1, 1, -1)
    margins = np.array([signs * F for F in model.staged_decision_function(X)])
    np.testing.assert_allclose(model.train_errors_, (margins <= 0).mean(axis=1))
