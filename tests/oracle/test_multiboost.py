"""MultiBoost: its optimum from the m x k form, and against the stage-wise one on the same outputs."""

import numpy as np
import pytest
from formulas import AllStumps, direction, others, tree_of, tree_outputs
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from support import BOTH_LOSSES, embedded, noisy_problem

from marginboost import MultiBoostClassifier

N_ROUNDS = 12


def objective(H, W, y, loss, nu):
    """Value and gradient, pair by pair; the logistic loss is a mean over the rows."""
    k = W.shape[1]
    F, m = H @ W, len(y)
    other, own = others(y, k), np.eye(k)[y]
    rho = F[np.arange(m), y][:, None] - F
    if loss == "exponential":
        value = logsumexp(np.where(other, -rho, 0.0))  # e = 1 for a row's own class
        u = np.where(other, np.exp(-rho - value), 0.0)
    else:
        value = np.logaddexp(0.0, -rho)[other].sum() / m
        u = np.where(other, expit(-rho), 0.0) / m
    gradient = H.T @ (u - own * u.sum(axis=1)[:, None])
    return value + nu * W.sum(), gradient + nu


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
    model = MultiBoostClassifier(
        N_ROUNDS, loss=loss, regularization=nu, max_depth=depth, keep_path=True
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
        residual = np.where(W > 0, np.abs(gradient), np.maximum(0.0, -gradient)).max()
        assert residual < 1e-5
        assert model.optimality_errors_[t] == pytest.approx(residual, rel=1e-3, abs=1e-9)
        stage_wise = least(now, np.vstack([stage_wise, np.zeros((1, k))]), t, y, loss, nu)
        # The function is convex: it falls below a point by no more than slope times distance.
        slack = residual * np.abs(W - stage_wise).sum() + 1e-12
        assert ours <= objective(now, stage_wise, y, loss, nu)[0] + slack
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


def test_few_iterations_are_kept_to_and_their_residual_told():
    X, y = problem("noisy")
    k = y.max() + 1
    exact = MultiBoostClassifier(6, regularization=1e-3, keep_path=True).fit(X, y)
    short = MultiBoostClassifier(6, regularization=1e-3, max_iter=3, keep_path=True).fit(X, y)
    H = np.array([tree_outputs(tree_of(short.ensemble_, t), X) for t in range(short.n_iter_)]).T
    for t, W in enumerate(short.coef_path_):
        gradient = objective(H[:, : t + 1], W, y, "logistic", 1e-3)[1]
        residual = np.where(W > 0, np.abs(gradient), np.maximum(0.0, -gradient)).max()
        assert short.optimality_errors_[t] == pytest.approx(residual, rel=1e-3)
    assert short.optimality_errors_.max() > 1e-5 >= exact.optimality_errors_.max()
    # And no more steps than that: SciPy's own solver from the same start gives the same first round.
    found = minimize(
        lambda w: [
            part.ravel() for part in objective(H[:, :1], w.reshape(1, k), y, "logistic", 1e-3)
        ],
        np.zeros(k),
        jac=True,
        bounds=[(0, None)] * k,
        method="L-BFGS-B",
        options={"maxiter": 3, "ftol": 0.0, "gtol": 1e-12},
    )
    np.testing.assert_allclose(short.coef_path_[0][0], found.x, atol=1e-9)


def test_from_zero_ends_at_the_same_optimum_and_short_of_it_after_few_iterations():
    X, y = problem("noisy")
    k = y.max() + 1
    nu = 1e-2
    given = {"regularization": nu, "keep_path": True, "tol": 1e-7}
    warm = MultiBoostClassifier(5, **given).fit(X, y)
    cold = MultiBoostClassifier(5, from_zero=True, **given).fit(X, y)
    short = MultiBoostClassifier(5, from_zero=True, max_iter=3, **given).fit(X, y)
    values = []
    for model in (warm, cold, short):
        H = np.array([tree_outputs(tree_of(model.ensemble_, t), X) for t in range(5)]).T
        values.append(objective(H, model.coef_, y, "logistic", nu)[0])
    assert values[1] == pytest.approx(values[0], abs=1e-5)
    assert values[2] > values[1] + 1e-3
    # The last round's steps are SciPy's own from zero.
    found = minimize(
        lambda w: [part.ravel() for part in objective(H, w.reshape(5, k), y, "logistic", nu)],
        np.zeros(5 * k),
        jac=True,
        bounds=[(0, None)] * (5 * k),
        method="L-BFGS-B",
        options={"maxiter": 3, "ftol": 0.0, "gtol": 1e-12},
    )
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
    nu = 0.05
    model = MultiBoostClassifier(200, loss=loss, regularization=nu, tol=1e-8).fit(X, y)
    assert model.stop_reason_ == "no_violated_constraint"
    edges = np.abs(AllStumps(X).outputs @ direction(model.decision_function(X), y, loss))
    if loss == "logistic":
        edges /= len(y)
    assert edges.max() <= nu * (1 + 1e-4)
