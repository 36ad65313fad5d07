"""The parameters of MCBoostClassifier, and what they bound."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support import BOTH_LOSSES, assert_same_model, random_problem

from marginboost import MCBoostClassifier
from marginboost.coefficients.grid import on_grid


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


@BOTH_LOSSES
def test_learning_rate_shortens_the_first_step(noisy, loss):
    full = MCBoostClassifier(1, loss=loss, learning_rate=1.0).fit(*noisy)
    quarter = MCBoostClassifier(1, loss=loss, learning_rate=0.25).fit(*noisy)
    np.testing.assert_allclose(quarter.coef_, 0.25 * full.coef_, rtol=0, atol=2.0**-40)


@BOTH_LOSSES
def test_max_step_bounds_each_coefficient(noisy, loss):
    free = MCBoostClassifier(20, loss=loss).fit(*noisy)
    bound = on_grid(0.5 * free.coef_[0].max())
    bounded = MCBoostClassifier(20, loss=loss, max_step=bound).fit(*noisy)
    assert bounded.coef_.max() == bound
    np.testing.assert_array_equal(bounded.coef_[0], np.minimum(free.coef_[0], bound))
    assert_same_model(MCBoostClassifier(20, loss=loss, max_step=1e3).fit(*noisy), free)


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
@BOTH_LOSSES
def test_regularization_stops_the_fit(noisy, loss, learning_rate):
    X, y = noisy
    nu = 0.05 if loss == "exponential" else 10.0
    model = MCBoostClassifier(2000, loss=loss, learning_rate=learning_rate, regularization=nu)
    model.fit(X, y)
    # No stump has an edge above nu any more: g and the edges from the scores, in float64.
    F = model.decision_function(X)
    e = np.exp(F - F[np.arange(len(y)), y][:, None])
    own = np.arange(3) == y[:, None]
    u = np.where(own, 0, e / e.sum() if loss == "exponential" else e / (1 + e))
    g = np.where(own, u.sum(axis=1)[:, None], -u)
    edges = [
        np.abs(np.where(X[:, f] > t, 1, -1) @ g).max()
        for f in range(X.shape[1])
        for t in np.unique(X[:, f])[:-1]
    ]
    assert max(edges) <= nu + 1e-6 * u.sum()
    assert model.stop_reason_ == "no_violated_constraint"
    assert 0 < model.n_iter_ < 2000
    assert model.coef_.any(axis=1).all()  # a round that changes nothing is none


def test_n_estimators_ends_the_fit(noisy):
    model = MCBoostClassifier(7).fit(*noisy)
    assert model.n_iter_ == len(model.coef_) == len(model.train_errors_) == 7
    assert len(model.optimality_errors_) == 7
    assert model.stop_reason_ == "max_rounds"


@pytest.mark.parametrize("max_bins", [2, 3, 255])
def test_max_bins_limits_the_thresholds(max_bins):
    X, y = random_problem(2000, 3, 3)
    model = MCBoostClassifier(200, max_bins=max_bins).fit(X, y)
    for f in range(3):
        used = np.unique(model.ensemble_.threshold[model.ensemble_.feature == f])
        assert 1 <= len(used) < max_bins
    few = np.rint(X)
    exact = MCBoostClassifier(20).fit(few, y)
    assert_same_model(MCBoostClassifier(20, max_bins=255).fit(few, y), exact)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_n_jobs_does_not_change_the_model(n_jobs):
    X, y = random_problem(5000, 8, 4)
    assert_same_model(
        MCBoostClassifier(10, n_jobs=1).fit(X, y), MCBoostClassifier(10, n_jobs=n_jobs).fit(X, y)
    )


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_fits_in_several_threads_at_once(n_jobs):
    problems = [random_problem(3000, 6, k, seed=k) for k in (2, 3, 5, 9)]
    alone = [MCBoostClassifier(15, n_jobs=n_jobs).fit(X, y) for X, y in problems]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda p: MCBoostClassifier(15, n_jobs=n_jobs).fit(*p), problems * 4)
        )
    for i, model in enumerate(together):
        assert_same_model(model, alone[i % 4])
