"""AdaBoost.ECC and AdaBoost.SIP: colourings, votes and bounds from the margins, in float64."""

from itertools import product

import numpy as np
import pytest
from formulas import AllStumps, direction, exponentials, others, tree_of, tree_outputs
from sklearn.datasets import load_wine
from support import noisy_problem

from marginboost import AdaBoostECCClassifier, AdaBoostSIPClassifier

CODES = pytest.mark.parametrize("code", ["random-half", "max-cut"])


def models(X, y, n_rounds, rate=1.0, depth=1):
    settings = {"learning_rate": rate, "max_depth": depth}
    for code in ("random-half", "max-cut"):
        yield AdaBoostECCClassifier(n_rounds, code=code, random_state=0, **settings).fit(X, y)
    yield AdaBoostSIPClassifier(n_rounds, **settings).fit(X, y)


def served_and_hurt(D, y, here, mu):
    """Weights, among some rows, that a vote for colour +1 would serve, and those it would hurt."""
    parted = mu[y][:, None] != mu[None, :]
    pairs = np.where(parted, D, 0.0).sum(axis=1)
    return pairs[here & (mu[y] > 0)].sum(), pairs[here & (mu[y] < 0)].sum()


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_votes_loss_and_bound_of_every_round(k, depth, rate):
    X, y = noisy_problem(160, 4, k, seed=k)
    for model in models(X, y, 25, rate, depth):
        assert model.n_iter_ == 25
        assert model.code_.shape == (25, k)
        assert model.votes_.shape == (25, 2)
        assert (model.code_.min(axis=1) == -1).all()  # no colouring is trivial
        assert (model.code_.max(axis=1) == 1).all()
        F, loss = np.zeros((len(y), k)), float(len(y) * (k - 1))
        for t in range(25):
            tree, mu = tree_of(model.ensemble_, t), model.code_[t].astype(float)
            D = np.where(others(y, k), exponentials(F, y), 0.0)
            # What the leaves say of the colour +1, and half of their side's vote.
            value = tree_outputs(tree, X)
            h = np.where(value == 0.5 * model.votes_[t, 1], 1, -1)
            np.testing.assert_array_equal(value, 0.5 * model.votes_[t][(h > 0).astype(int)])
            for side, sign in enumerate((-1, 1)):
                served, hurt = served_and_hurt(D, y, h == sign, mu)
                vote = model.votes_[t, side] / rate
                if served > 0 and hurt > 0:
                    assert vote == pytest.approx(0.5 * np.log(served / hurt), rel=1e-7, abs=1e-9)
                elif served + hurt > 0:  # a pure side: as large as the unit of the sums allows
                    assert 10 < vote * np.sign(served - hurt) <= 20
            np.testing.assert_array_equal(model.ensemble_.vectors[t], mu)
            F = F + value[:, None] * mu
            now = exponentials(F, y)[others(y, k)].sum()
            assert now < loss
            loss = now
            # A margin of zero is an error. Votes that cancel leave about zero, but the margin of two
            # classes that no colouring parted is nothing else.
            rho = np.where(others(y, k), F[np.arange(len(y)), y][:, None] - F, np.inf).min(axis=1)
            alike = (model.code_[: t + 1, y, None] == model.code_[: t + 1, None, :]).all(axis=0)
            unparted = (alike & others(y, k)).any(axis=1)
            error = model.train_errors_[t]
            assert np.mean((rho < -1e-9) | unparted) <= error <= np.mean(rho <= 1e-9)
            assert error <= loss / len(y) * (1 + 1e-9)  # Guruswami and Sahai's bound
        if k > 2:
            np.testing.assert_allclose(model.decision_function(X), F, rtol=1e-10, atol=1e-12)


@CODES
@pytest.mark.parametrize("k", [2, 3, 6])
def test_ecc_takes_the_best_stump_for_its_colouring(code, k):
    X, y = noisy_problem(120, 4, k, seed=k)
    stumps = AllStumps(X)
    model = AdaBoostECCClassifier(20, code=code, random_state=1).fit(X, y)
    F = np.zeros((len(y), k))
    for t in range(20):
        tree, mu = tree_of(model.ensemble_, t), model.code_[t].astype(float)
        edges = np.abs(stumps.outputs @ (direction(F, y, "exponential") @ mu))
        assert edges[stumps.place(tree)] == pytest.approx(edges.max(), rel=1e-6)
        F += tree_outputs(tree, X)[:, None] * mu


@pytest.mark.parametrize("k", [2, 3, 4])
def test_sip_takes_the_best_stump_and_colouring(k):
    X, y = noisy_problem(120, 4, k, seed=k)
    stumps = AllStumps(X)
    colourings = np.array(list(product([-1.0, 1.0], repeat=k)))
    model = AdaBoostSIPClassifier(20).fit(X, y)
    F = np.zeros((len(y), k))
    for t in range(20):
        tree, mu = tree_of(model.ensemble_, t), model.code_[t].astype(float)
        edges = stumps.outputs @ direction(F, y, "exponential")
        by_both = edges @ colourings.T  # stumps x colourings, one by one
        place = stumps.place(tree)
        assert abs(edges[place] @ mu) == pytest.approx(by_both.max(), rel=1e-6)
        assert np.abs(edges).sum(axis=1).max() == pytest.approx(by_both.max(), rel=1e-12)
        F += tree_outputs(tree, X)[:, None] * mu


def test_goes_on_after_the_loss_has_become_tiny():
    """An edge is a share of the loss: a small loss alone is no reason to end."""
    X, y = load_wine(return_X_y=True)
    for model in models(X, y, 150, depth=2):
        assert model.n_iter_ == 150
        F = model.decision_function(X)
        margins = (F[np.arange(len(y)), y][:, None] - F)[np.arange(3) != y[:, None]]
        assert margins.min() > 40  # a loss of 1e-17
