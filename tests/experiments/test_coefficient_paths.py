"""Small steps, and the constrained optimum, against brute force and another solver."""

from itertools import pairwise

import numpy as np
import pytest
from formulas import direction, exponentials, others
from scipy.optimize import minimize
from support import BOTH_LOSSES, embedded

from experiments.coefficient_paths import Problem, chosen_stumps, first_outputs, stagewise_path

STEP = 0.02


def sample(seed=0, n_stumps=8):
    """Outputs of stumps on 20 rows of the digits 3, 6 and 9, and class numbers."""
    X, y = embedded("digits")
    rows = np.isin(y, (3, 6, 9))
    stumps = chosen_stumps(X[rows], y[rows])
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(y == d))[:n] for d, n in ((3, 7), (6, 7), (9, 6))]
    return first_outputs(stumps, X[np.concatenate(drawn)], n_stumps), np.repeat(
        [0, 1, 2], [7, 7, 6]
    )


def pair_losses(H, W, y, loss):
    e = exponentials(H @ W, y)[others(y, W.shape[1])]
    return e if loss == "exponential" else np.log1p(e)


def test_the_first_outputs_part_the_rows_and_differ():
    H, y = sample()
    assert H.shape == (len(y), 8)
    assert set(np.unique(H)) == {-1.0, 1.0}
    assert (np.abs(H.sum(axis=0)) < len(y)).all()
    assert (np.abs(H.T @ H)[~np.eye(8, dtype=bool)] < len(y)).all()


def test_the_first_outputs_are_those_of_the_library():
    X, y = embedded("iris")
    stumps = chosen_stumps(X, y)
    H = first_outputs(stumps, X, 3)
    first = stumps[0]
    above = X[:, first.feature] > first.threshold
    np.testing.assert_array_equal(H[:, 0], np.where(above, 1, -1) * first.polarity)


def test_too_few_stumps_are_an_error():
    X, y = embedded("iris")
    stumps = chosen_stumps(X, y)[:2]
    with pytest.raises(ValueError, match="got 2: draw more rows"):
        first_outputs(stumps, X, 8)


# The library sums whole numbers of 30 bits: edges that differ by less may be taken one for another.
@BOTH_LOSSES
def test_small_steps_are_those_of_brute_force(loss):
    H, y = sample()
    path = stagewise_path(H, y, loss=loss, step=STEP, rounds=60)
    assert not path[0].any()
    for W, after in pairwise(path):
        edges = H.T @ direction(H @ W, y, loss)
        ((stump, label),) = np.argwhere(after != W)
        assert after[stump, label] - W[stump, label] == pytest.approx(STEP, abs=1e-11)
        assert edges[stump, label] >= edges.max() * (1 - 1e-6)


def test_boosting_ends_where_no_edge_is_left():
    # What the only stump says has nothing to do with the classes.
    H = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    y = np.array([0, 0, 1, 1])
    path = stagewise_path(H, y, loss="exponential", step=0.5, rounds=20)
    assert path.shape == (21, 1, 2)
    assert not path.any()


@BOTH_LOSSES
def test_losses_and_margins_are_those_of_the_formulas(loss):
    H, y = sample()
    W = np.random.default_rng(0).random((8, 3))
    problem = Problem(H, y, loss)
    assert problem.value(W) == pytest.approx(pair_losses(H, W, y, loss).sum())
    expected = -np.log(exponentials(H @ W, y)[others(y, 3)])
    np.testing.assert_allclose(problem.margins(W), expected, atol=1e-12)


@BOTH_LOSSES
def test_the_optimum_is_that_of_another_solver(loss):
    H, y = sample(seed=1)
    problem = Problem(H, y, loss)
    gammas = [0.3, 1.0]
    for gamma, W in zip(gammas, problem.optima(gammas), strict=True):
        other = minimize(
            lambda w: np.log(pair_losses(H, w.reshape(8, 3), y, loss).sum()),
            np.full(W.size, gamma / W.size),
            bounds=[(0, gamma)] * W.size,
            constraints={"type": "ineq", "fun": lambda w, gamma=gamma: gamma - w.sum()},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        assert W.min() >= 0
        assert W.sum() == pytest.approx(gamma, rel=1e-6)
        assert problem.value(W) == pytest.approx(np.exp(other.fun), rel=1e-5)
        assert 0 <= problem.excess(W, gamma) < 1e-4
        assert problem.is_unique(W)
        np.testing.assert_allclose(W.ravel(), other.x, atol=1e-3)


@BOTH_LOSSES
def test_the_bound_on_the_excess_holds(loss):
    H, y = sample(seed=2)
    problem = Problem(H, y, loss)
    (best,) = problem.optima([1.0])
    rng = np.random.default_rng(0)
    for _ in range(5):
        W = rng.random((8, 3))
        W /= W.sum()
        excess = (problem.value(W) - problem.value(best)) / problem.value(W)
        assert excess <= problem.excess(W, 1.0)


def test_an_optimum_need_not_be_unique():
    H, y = sample()
    twice = np.column_stack([H, H[:, 0]])
    problem = Problem(twice, y, "exponential")
    (W,) = problem.optima([2.0])
    assert W[[0, 8]].sum() > 0.01
    assert not problem.is_unique(W)


@BOTH_LOSSES
def test_small_steps_follow_the_optimum(loss):
    H, y = sample()
    path = stagewise_path(H, y, loss=loss, step=0.01, rounds=100)
    (best,) = Problem(H, y, loss).optima([1.0])
    assert np.abs(path[-1] - best).max() <= 0.02
