"""GradBoost: gradients of the mean softmax loss in float64, and the closed-form step with its penalty."""

import numpy as np
import pytest
from formulas import AllStumps, tree_of, tree_outputs
from scipy.special import log_softmax, softmax
from support import embedded, noisy_problem

from marginboost import GradBoostClassifier

CURVATURE = 0.5
ROUNDING = 1e-6  # of a gradient whose terms are rounded to 2**-30 of their sum


def problem(name):
    return noisy_problem(150, 4, int(name[-1]), n_values=12) if "noisy" in name else embedded(name)


def mean_loss(F, y):
    return -log_softmax(F, axis=1)[np.arange(len(y)), y].mean()


def descent(F, y):
    """Minus the gradient of the mean loss by F, m times."""
    return (np.eye(F.shape[1])[y] - softmax(F, axis=1)) / len(y)


NAMES = pytest.mark.parametrize("name", ["iris", "wine", "noisy2", "noisy5"])


def scores_of(model, X):
    """Add up the rounds, class by class."""
    F = np.zeros((len(X), len(model.classes_)))
    for t in range(model.n_iter_):
        h = tree_outputs(tree_of(model.ensemble_, t), X)
        F = F + h[:, None] * model.coef_[t]
        yield h, F


@NAMES
@pytest.mark.parametrize("depth", [1, 2])
def test_without_penalty_each_step_is_the_gradient_over_the_curvature(name, depth):
    X, y = problem(name)
    k = y.max() + 1
    stumps = AllStumps(X)
    model = GradBoostClassifier(40, regularization=0.0, max_depth=depth).fit(X, y)
    assert model.n_iter_ == 40
    F = np.zeros((len(y), k))
    for t, (h, after) in enumerate(scores_of(model, X)):
        g = descent(F, y)
        gradient = h @ g
        if depth == 1:
            longest = np.linalg.norm(stumps.outputs @ g, axis=1).max()
            assert np.linalg.norm(gradient) == pytest.approx(longest, rel=1e-5, abs=ROUNDING)
        np.testing.assert_allclose(model.coef_[t], gradient / CURVATURE, rtol=1e-5, atol=ROUNDING)
        assert model.coef_[t].sum() == pytest.approx(0, abs=1e-8)
        fall = mean_loss(F, y) - mean_loss(after, y)
        # A quadratic bound of curvature 1/2 falls by |gradient|^2 / (2 * 1/2).
        assert fall >= (gradient @ gradient) / (2 * CURVATURE) * (1 - 1e-5)
        F = after


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_learning_rate_shortens_every_step(rate):
    X, y = problem("noisy5")
    model = GradBoostClassifier(20, regularization=0.0, learning_rate=rate).fit(X, y)
    F = np.zeros((len(y), 5))
    for t, (h, after) in enumerate(scores_of(model, X)):
        step = rate * (h @ descent(F, y)) / CURVATURE
        np.testing.assert_allclose(model.coef_[t], step, rtol=1e-5, atol=ROUNDING)
        F = after


@NAMES
@pytest.mark.parametrize("penalty", [1e-3, 1e-2, 3e-2])
def test_the_penalty_shortens_rows(name, penalty):
    X, y = problem(name)
    k = y.max() + 1
    stumps = AllStumps(X)
    model = GradBoostClassifier(100, regularization=penalty).fit(X, y)
    rows = {}
    F, objective, n_again = np.zeros((len(y), k)), np.log(k), 0
    for t, (h, after) in enumerate(scores_of(model, X)):
        tree = tree_of(model.ensemble_, t)
        place, g = stumps.place(tree), descent(F, y)
        longest = np.linalg.norm(stumps.outputs @ g, axis=1).max()
        gradient = h @ g
        assert np.linalg.norm(gradient) == pytest.approx(longest, rel=1e-4, abs=ROUNDING)
        # The step in closed form: along the gradient, then shortened.
        sign = tree.leaf_value[-1]
        row = rows.get(place, np.zeros(k))
        n_again += place in rows
        target = row + sign * gradient / CURVATURE
        length = np.linalg.norm(target)
        rows[place] = target * max(0.0, 1 - penalty / CURVATURE / length)
        np.testing.assert_allclose(
            sign * model.coef_[t], rows[place] - row, rtol=1e-4, atol=ROUNDING
        )
        F = after
        now = mean_loss(F, y) + penalty * sum(np.linalg.norm(row) for row in rows.values())
        assert now <= objective + 1e-7
        objective = now
    assert n_again > 0 or penalty == 3e-2
    free = GradBoostClassifier(model.n_iter_, regularization=0.0).fit(X, y)
    assert np.linalg.norm(model.coef_[0]) < np.linalg.norm(free.coef_[0])
    by_stump = {}
    for t, (_, _) in enumerate(scores_of(free, X)):
        tree = tree_of(free.ensemble_, t)
        place = stumps.place(tree)
        by_stump[place] = by_stump.get(place, 0) + tree.leaf_value[-1] * free.coef_[t]
    size = sum(np.linalg.norm(row) for row in rows.values())
    assert size < sum(np.linalg.norm(row) for row in by_stump.values())
    if model.stop_reason_ == "no_violated_constraint":
        assert np.linalg.norm(stumps.outputs @ descent(F, y), axis=1).max() <= penalty * (1 + 1e-4)


def test_stops_where_no_gradient_exceeds_the_penalty():
    X, y = problem("noisy3")
    gradients = AllStumps(X).outputs @ descent(np.zeros((len(y), 3)), y)
    longest = np.linalg.norm(gradients, axis=1).max()
    with pytest.warns(UserWarning, match="class frequencies"):
        model = GradBoostClassifier(10, regularization=longest * 1.0001).fit(X, y)
    assert model.n_iter_ == 1
    assert not len(model.ensemble_.feature)
    assert model.stop_reason_ == "no_violated_constraint"
    model = GradBoostClassifier(10, regularization=longest * 0.999).fit(X, y)
    assert len(model.ensemble_.feature)


def test_training_errors_are_those_of_the_scores():
    X, y = problem("noisy5")
    model = GradBoostClassifier(30).fit(X, y)
    for (_, F), error in zip(scores_of(model, X), model.train_errors_, strict=True):
        rest = np.where(np.eye(5, dtype=bool)[y], -np.inf, F).max(axis=1)
        assert error == np.mean(F[np.arange(len(y)), y] <= rest)
