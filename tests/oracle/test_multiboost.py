"""MultiBoost: the paper's stopping rule, its optimum, and the stage-wise one on the same outputs."""

import numpy as np
import pytest
from formulas import AllStumps, direction, others, tree_of, tree_outputs
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from support import BOTH_LOSSES, embedded, noisy_problem

from marginboost import MCBoostClassifier, MultiBoostClassifier

N_ROUNDS = 12


def objective(H, W, y, loss, nu):
    """Value and gradient, pair by pair; all k pairs of a row count, its own with a constant."""
    k = W.shape[1]
    F, m = H @ W, len(y)
    other, own = others(y, k), np.eye(k)[y]
    rho = F[np.arange(m), y][:, None] - F
    if loss == "exponential":
        value = logsumexp(np.where(other, -rho, 0.0))  # e = 1 for a row's own class
        u = np.where(other, np.exp(-rho - value), 0.0)
    else:
        value = np.logaddexp(0.0, -rho).sum()
        u = np.where(other, expit(-rho), 0.0)
    gradient = H.T @ (u - own * u.sum(axis=1)[:, None])
    return value + nu * W.sum(), gradient + nu


def unit_of(loss, y):
    """What "optimum" divides the objective by, so that a tolerance means the same for any rows."""
    return len(y) if loss == "logistic" else 1.0


def scipys(H, start, y, nu, **options):
    """SciPy's solver on the formula above."""

    def flat(w):
        value, gradient = objective(H, w.reshape(start.shape), y, "logistic", nu)
        return value, gradient.ravel()

    bounds = [(0, None)] * start.size
    return minimize(
        flat, start.ravel(), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )


def outputs_of(model, X):
    return np.array([tree_outputs(tree_of(model.ensemble_, t), X) for t in range(model.n_iter_)]).T


def least(H, start, free, y, loss, nu):
    """Minimise over the rows of W from `free` on, the others fixed."""
    fixed = start[:free]

    def flat(w):
        value, gradient = objective(
            H, np.vstack([fixed, w.reshape(-1, start.shape[1])]), y, loss, nu
        )
        return value, gradient[free:].ravel()

    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9}
    w0 = start[free:].ravel()
    found = minimize(
        flat, w0, jac=True, bounds=[(0, None)] * w0.size, method="L-BFGS-B", options=options
    )
    return np.vstack([fixed, found.x.reshape(-1, start.shape[1])])


def problem(name):
    return noisy_problem(150, 4, 4) if name == "noisy" else embedded(name)


@pytest.mark.parametrize("nu", [1e-5, 1e-2])
@pytest.mark.parametrize(("name", "depth"), [("iris", 1), ("wine", 1), ("noisy", 1), ("noisy", 2)])
@BOTH_LOSSES
def test_optimal_and_no_worse_than_stage_wise(name, depth, loss, nu):
    X, y = problem(name)
    k = y.max() + 1
    unit = unit_of(loss, y)
    nu *= unit
    model = MultiBoostClassifier(
        N_ROUNDS,
        loss=loss,
        regularization=nu,
        stopping="optimum",
        max_depth=depth,
        keep_path=True,
    ).fit(X, y)
    assert model.n_iter_ == len(model.coef_path_) >= 3
    H = np.array([tree_outputs(tree_of(model.ensemble_, t), X) for t in range(model.n_iter_)]).T
    stage_wise = np.zeros((0, k))
    last = np.inf
    for t, W in enumerate(model.coef_path_):
        assert W.shape == (t + 1, k)
        assert (W >= 0).all()
        now = H[:, : t + 1]
        ours, gradient = objective(now, W, y, loss, nu)
        ours, gradient = ours / unit, gradient / unit
        residual = np.abs(W - np.maximum(W - gradient, 0.0)).max()
        assert residual <= 1e-5 * (1 + 1e-9)
        assert model.optimality_errors_[t] == pytest.approx(residual, rel=1e-3, abs=1e-9)
        stage_wise = least(now, np.vstack([stage_wise, np.zeros((1, k))]), t, y, loss, nu)
        # The function is convex: it falls below a point by no more than slope times distance.
        slack = residual * np.abs(W - stage_wise).sum() + 1e-12
        assert ours <= objective(now, stage_wise, y, loss, nu)[0] / unit + slack
        assert ours <= last + 1e-6
        last = ours
    np.testing.assert_array_equal(model.coef_, model.coef_path_[-1])


@pytest.mark.parametrize("name", ["wine", "noisy"])
@BOTH_LOSSES
def test_weak_classifiers_have_the_largest_edge(name, loss):
    X, y = problem(name)
    k = y.max() + 1
    stumps = AllStumps(X)
    model = MultiBoostClassifier(N_ROUNDS, loss=loss, regularization=1e-3, keep_path=True).fit(X, y)
    F = np.zeros((len(y), k))
    for t, staged in enumerate(model.staged_decision_function(X)):
        edges = np.abs(stumps.outputs @ direction(F, y, loss)).max(axis=1)
        assert edges[stumps.place(tree_of(model.ensemble_, t))] == pytest.approx(
            edges.max(), rel=1e-6
        )
        F = staged


@pytest.mark.parametrize("from_zero", [False, True])
@pytest.mark.parametrize(("name", "nu"), [("iris", 1e-8), ("wine", 5e-3), ("noisy", 1e-3)])
def test_a_round_ends_where_the_paper_ends_it(name, nu, from_zero):
    """SciPy with the paper's three numbers, from the same start, on a formula of our own."""
    X, y = problem(name)
    k = y.max() + 1
    model = MultiBoostClassifier(
        N_ROUNDS, regularization=nu, keep_path=True, from_zero=from_zero
    ).fit(X, y)
    H = outputs_of(model, X)
    start = np.zeros((0, k))
    short_of_the_optimum = 0
    for t, W in enumerate(model.coef_path_):
        start = np.vstack([start, np.zeros((1, k))])
        if from_zero:
            start[:] = 0.0
        found = scipys(H[:, : t + 1], start, y, nu, maxiter=100, ftol=1e-9, gtol=1e-5)
        value = objective(H[:, : t + 1], W, y, "logistic", nu)[0]
        assert value == pytest.approx(found.fun, rel=1e-8)
        gradient = objective(H[:, : t + 1], W, y, "logistic", nu)[1]
        residual = np.abs(W - np.maximum(W - gradient, 0.0)).max()
        assert model.optimality_errors_[t] == pytest.approx(residual, rel=1e-3, abs=1e-6)
        short_of_the_optimum += residual > 1e-5
        start = W
    # The change of the objective, or the hundredth iteration, ends some rounds before the gradient does.
    assert short_of_the_optimum >= 3


def test_nu_is_added_to_the_sum_as_in_the_stage_wise_method():
    """The first round has one row of coefficients: both methods solve the same problem."""
    X, y = problem("noisy")
    for nu in (1e-9, 3.0, 12.0):
        first = MCBoostClassifier(
            1, loss="logistic", regularization=nu, learning_rate=1.0, calibrate=False
        ).fit(X, y)
        ours = MultiBoostClassifier(1, regularization=nu, stopping="optimum", tol=1e-10).fit(X, y)
        np.testing.assert_allclose(ours.coef_, first.coef_, atol=1e-5)
    # Doubling all rows doubles the loss: half of the penalty per row.
    twice = MultiBoostClassifier(5, regularization=6.0, stopping="optimum", tol=1e-9)
    doubled = twice.fit(np.vstack([X, X]), np.append(y, y)).coef_
    once = MultiBoostClassifier(5, regularization=3.0, stopping="optimum", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(doubled, once.coef_, atol=1e-5)


def test_few_iterations_are_kept_to_and_their_residual_told():
    X, y = problem("noisy")
    k = y.max() + 1
    nu = 1e-3 * len(y)
    given = {"regularization": nu, "keep_path": True, "stopping": "optimum"}
    exact = MultiBoostClassifier(6, **given).fit(X, y)
    short = MultiBoostClassifier(6, max_iter=3, **given).fit(X, y)
    H = outputs_of(short, X)
    for t, W in enumerate(short.coef_path_):
        gradient = objective(H[:, : t + 1], W, y, "logistic", nu)[1] / len(y)
        residual = np.abs(W - np.maximum(W - gradient, 0.0)).max()
        assert short.optimality_errors_[t] == pytest.approx(residual, rel=1e-3)
    assert short.optimality_errors_.max() > 1e-5 >= exact.optimality_errors_.max()
    # And no more steps than that: SciPy's own solver from the same start gives the same first round.
    short = MultiBoostClassifier(1, max_iter=3, regularization=nu).fit(X, y)
    found = scipys(H[:, :1], np.zeros((1, k)), y, nu, maxiter=3, ftol=0.0, gtol=1e-12)
    np.testing.assert_allclose(short.coef_[0], found.x, atol=1e-9)


def test_from_zero_ends_at_the_same_optimum_and_short_of_it_after_few_iterations():
    X, y = problem("noisy")
    k = y.max() + 1
    nu = 1e-2 * len(y)
    given = {"regularization": nu, "keep_path": True, "tol": 1e-7, "stopping": "optimum"}
    warm = MultiBoostClassifier(5, **given).fit(X, y)
    cold = MultiBoostClassifier(5, from_zero=True, **given).fit(X, y)
    short = MultiBoostClassifier(5, from_zero=True, max_iter=3, regularization=nu).fit(X, y)
    values = []
    for model in (warm, cold, short):
        H = outputs_of(model, X)
        values.append(objective(H, model.coef_, y, "logistic", nu)[0] / len(y))
    assert values[1] == pytest.approx(values[0], abs=1e-5)
    assert values[2] > values[1] + 1e-3
    # The last round's steps are SciPy's own from zero.
    found = scipys(H, np.zeros((5, k)), y, nu, maxiter=3, ftol=0.0, gtol=1e-12)
    np.testing.assert_allclose(short.coef_, found.x.reshape(5, k), atol=1e-9)


@pytest.mark.parametrize("depth", [1, 2])
def test_stages_are_those_of_the_path(depth):
    X, y = problem("noisy")
    model = MultiBoostClassifier(8, max_depth=depth, keep_path=True).fit(X, y)
    H = np.array([tree_outputs(tree_of(model.ensemble_, t), X) for t in range(8)]).T
    scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(labels) == 8
    for t, W in enumerate(model.coef_path_):
        np.testing.assert_allclose(scores[t], H[:, : t + 1] @ W, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(labels[t], scores[t].argmax(axis=1))
        short = MultiBoostClassifier(t + 1, max_depth=depth).fit(X, y)
        np.testing.assert_array_equal(short.coef_, W)
        rest = np.where(others(y, 4), scores[t], -np.inf).max(axis=1)
        assert model.train_errors_[t] == np.mean(scores[t][np.arange(len(y)), y] <= rest)
    np.testing.assert_allclose(scores[-1], model.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("method", ["staged_predict", "staged_decision_function"])
def test_stages_need_the_path(method):
    X, y = problem("noisy")
    model = MultiBoostClassifier(3).fit(X, y)
    assert not hasattr(model, "coef_path_")
    with pytest.raises(AttributeError, match="keep_path=True"):
        next(getattr(model, method)(X))


@BOTH_LOSSES
def test_a_penalty_stops_the_fit_at_the_optimum_over_all_stumps(loss):
    X, y = noisy_problem(100, 3, 3, n_values=8)
    nu = 0.05 * unit_of(loss, y)
    model = MultiBoostClassifier(
        200, loss=loss, regularization=nu, stopping="optimum", tol=1e-8
    ).fit(X, y)
    assert model.stop_reason_ == "no_violated_constraint"
    edges = np.abs(AllStumps(X).outputs @ direction(model.decision_function(X), y, loss))
    assert edges.max() <= nu * (1 + 1e-4)
