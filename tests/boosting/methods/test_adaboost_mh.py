"""AdaBoost.MH: with two classes it is AdaBoost; with more, a brute force search of the best stump."""

import numpy as np
import pytest
from formulas import AllStumps, adaboost, tree_of, tree_outputs
from support import TWO_CLASSES, embedded, noisy_problem, two_classes

from marginboost import AdaBoostMHClassifier


@TWO_CLASSES
def test_two_classes_are_adaboost(name):
    X, y = two_classes(name)
    n_rounds = 40
    model = AdaBoostMHClassifier(n_rounds).fit(X, y)
    assert model.n_iter_ == n_rounds
    stumps = AllStumps(X)
    for j, (place, h, alpha) in enumerate(adaboost(X, y, n_rounds)):
        tree = tree_of(model.ensemble_, j)
        assert stumps.place(tree) == place
        outputs = tree_outputs(tree, X)
        np.testing.assert_allclose(outputs * model.coef_[j, 1], alpha * h, rtol=3e-6)
        assert model.coef_[j, 0] == -model.coef_[j, 1]


def questions(y, k):
    """Y: +1 for the row's class, -1 for the others."""
    return np.where(y[:, None] == np.arange(k), 1.0, -1.0)


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("name", ["iris", "wine", "noisy3", "noisy7"])
def test_each_round_is_the_best_stump_and_the_closed_form(name, rate):
    X, y = noisy_problem(120, 4, int(name[-1])) if "noisy" in name else embedded(name)
    k = y.max() + 1
    stumps, Y = AllStumps(X), questions(y, k)
    model = AdaBoostMHClassifier(30, learning_rate=rate).fit(X, y)
    assert model.n_iter_ == 30
    F = np.zeros((len(y), k))
    for t, staged in enumerate(model.staged_decision_function(X)):
        D = np.exp(-Y * F)
        edges = stumps.outputs @ (D * Y) / D.sum()
        r = np.abs(edges).sum(axis=1)
        tree = tree_of(model.ensemble_, t)
        place = stumps.place(tree)
        assert r[place] == pytest.approx(r.max(), rel=1e-6)
        signs = np.sign(edges[place]) * tree.leaf_value[-1]
        vote = rate * 0.5 * np.log((1 + r.max()) / (1 - r.max()))
        clear = np.abs(edges[place]) > 1e-7
        np.testing.assert_allclose(model.coef_[t][clear], (vote * signs)[clear], rtol=3e-6)
        np.testing.assert_allclose(np.abs(model.coef_[t]), vote, rtol=3e-6)
        before, F = D.sum(), staged
        after = np.exp(-Y * F).sum()
        assert after < before
        if rate == 1.0:
            assert after / before == pytest.approx(np.sqrt(1 - r.max() ** 2), rel=1e-7)


@pytest.mark.parametrize("depth", [2, 3])
def test_the_objective_falls_with_trees_too(depth):
    X, y = noisy_problem(200, 4, 4)
    Y = questions(y, 4)
    model = AdaBoostMHClassifier(20, max_depth=depth).fit(X, y)
    last, F = float(Y.size), np.zeros(Y.shape)
    for t, staged in enumerate(model.staged_decision_function(X)):
        D = np.exp(-Y * F)
        h = tree_outputs(tree_of(model.ensemble_, t), X)
        r = np.abs(h @ (D * Y)).sum() / D.sum()
        now = np.exp(-Y * staged).sum()
        assert now / last == pytest.approx(np.sqrt(1 - r**2), rel=1e-7)
        assert now < last
        last, F = now, staged


def test_training_error_is_below_the_product_of_the_normalisers():
    """A wrong row has some question answered wrongly, so error <= k * mean of exp(-Y F)."""
    X, y = noisy_problem(200, 4, 4)
    Y = questions(y, 4)
    model = AdaBoostMHClassifier(40).fit(X, y)
    for labels, F in zip(model.staged_predict(X), model.staged_decision_function(X), strict=True):
        assert np.mean(labels != y) <= np.exp(-Y * F).sum(axis=1).mean()
