"""Each round's coefficients against SciPy on the paper's own m x k form, and their KKT conditions."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from support import (
    BOTH_LOSSES,
    embedded,
    make_method,
    others,
    random_problem,
    rounds_of,
    shared,
    training_set,
    tree_outputs,
)

from marginboost import MCBoostClassifier
from marginboost.coefficients import balance, newton

PROMISED = 1e-8  # what optimality_errors_ stays below
NUS = [0.0, 1e-9, 1e-4, 1e-2, 0.1]


class RoundProblem:
    """What one round minimises over w >= 0: all rows, all classes, nothing summed up beforehand."""

    def __init__(self, margins, h, y, loss, nu):
        self.k = margins.shape[1]
        self.rho, self.h, self.loss, self.nu = margins, h, loss, nu
        self.other = others(y, self.k)
        self.own = np.eye(self.k)[y]

    def margins(self, w):
        return self.rho + self.h[:, None] * ((self.own @ w)[:, None] - w)

    def __call__(self, w):
        """Objective and gradient."""
        rho = self.margins(w)
        if self.loss == "exponential":  # the paper's sum has a constant 1 for a row's own class
            value = logsumexp(np.where(self.other, -rho, 0.0))
            u = np.where(self.other, np.exp(-rho - value), 0.0)
        else:
            value = np.logaddexp(0.0, -rho)[self.other].sum()
            u = np.where(self.other, expit(-rho), 0.0)
        hu = self.h[:, None] * u
        gradient = hu.sum(axis=0) - self.own.T @ hu.sum(axis=1)
        return value + self.nu * w.sum(), gradient + self.nu

    def weight_sum(self, w):
        """Sum of the weights at w: the scale of the gradient."""
        rho = self.margins(w)
        if self.loss == "logistic":
            return expit(-rho)[self.other].sum()
        return np.exp(-rho[self.other] - logsumexp(np.where(self.other, -rho, 0.0))).sum()

    def rounding(self, w):
        """Bound what fixed-point sums (2**-50 of the weights' mass a term) do to the gradient."""
        growth = np.exp(self.h[:, None] * (w - (self.own @ w)[:, None]))[self.other]
        if self.loss == "exponential":
            e = np.exp(-self.rho)[self.other]
            floors = np.exp(w - w[:, None]).sum()  # an empty cell counts as one unit
            return 2**-49 * e.sum() * (growth.sum() + floors) / ((e * growth).sum() + len(self.h))
        u = expit(-self.rho)[self.other]
        return 2**-49 * (u * np.maximum(growth, 1)).sum() * growth.size


def kkt_residual(gradient, w):
    return np.where(w > 0, np.abs(gradient), np.maximum(0.0, -gradient)).max()


def lbfgs(problem, start):
    bounds = [(0, None)] * len(start)
    options = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(problem, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)


def problems_of(X, y, loss, nu, which, *, depth=1):
    """Yield the problem and our solution of the rounds in `which`, each on our own margins."""
    rounds = rounds_of(make_method(training_set(X, y), loss, nu=nu, eta=0.5, depth=depth), max(which) + 1)
    F = np.zeros((len(y), y.max() + 1))
    for finished in rounds:
        h = tree_outputs(finished.weak, X)
        if finished.index in which:
            margins = F[np.arange(len(y)), y][:, None] - F
            yield RoundProblem(margins, h, y, loss, nu), 2 * finished.w, finished
        F += h[:, None] * finished.w


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize(("name", "depth"), [("iris", 1), ("iris", 3), ("wine", 1), ("digits", 1)])
@BOTH_LOSSES
def test_no_worse_than_lbfgs_on_all_pairs(name, depth, loss, nu):
    X, y = embedded(name)
    X, y = X[:600], y[:600]
    n = 0
    for problem, w, finished in problems_of(X, y, loss, nu, {0, 1, 2, 5, 10, 20}, depth=depth):
        n += 1
        ours, gradient = problem(w)
        theirs = min(lbfgs(problem, np.zeros(problem.k)).fun, lbfgs(problem, w).fun)
        assert ours <= theirs + 1e-9 * abs(theirs)
        assert w.min() == 0.0
        assert finished.optimality_error < PROMISED
        slack = PROMISED * problem.weight_sum(w) + problem.rounding(w)
        assert kkt_residual(gradient, w) <= slack
    assert n >= 1


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


# --- the solvers by themselves --------------------------------------------------------------------


@st.composite
def sums(draw, most_classes=30):
    """Sums as rounds have them: whole multiples of a unit, sparse, badly scaled, empty lines."""
    k = draw(st.integers(2, most_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0, 2, 6, 12]))
    filled = draw(st.sampled_from([0.05, 0.3, 0.7, 1.0]))
    S = 10.0 ** rng.uniform(-spread, 0, (2, k, k)) * (rng.random((2, k, k)) < filled)
    for j in draw(st.lists(st.integers(0, k - 1), max_size=2)):  # class j is never wrong ...
        S[1, j] = S[0, :, j] = 0
    for j in draw(st.lists(st.integers(0, k - 1), max_size=2)):  # ... never right
        S[1, :, j] = S[0, j] = 0
    S[:, range(k), range(k)] = 0
    S *= 10.0 ** draw(st.integers(-30, 30))
    assume(S.sum() > 0)
    unit = 2.0 ** (np.frexp(S.sum())[1] - 50)
    return np.rint(S / unit) * unit, unit


class Balancing:
    """log(constant + sum of B exp(w_b - w_a)) + nu * sum(w)."""

    def __init__(self, S, constant, nu, floor):
        self.B = np.maximum(S[1] + S[0].T, floor)
        np.fill_diagonal(self.B, 0.0)
        self.constant, self.nu = constant, nu

    def __call__(self, w):
        scale = self.B.max()
        M = self.B / scale * np.exp(w - w[:, None])
        total = self.constant / scale + M.sum()
        gradient = (M.sum(axis=0) - M.sum(axis=1)) / total + self.nu
        return np.log(total) + np.log(scale) + self.nu * w.sum(), gradient

    def movable_share(self, w):
        M = self.B * np.exp(w - w[:, None])
        return M.sum() / (M.sum() + self.constant)


LONG_CHAIN = np.zeros((2, 12, 12))  # balancing moves mass along it one step a sweep
LONG_CHAIN[1, np.arange(11), np.arange(1, 12)] = 1.0
LONG_CHAIN[1, 11, 0] = 1e-6


@given(
    problem=sums(),
    nu=st.sampled_from([*NUS, 0.5, 1.0, 3.0]),
    constant=st.sampled_from([0.0, 0.1, 1.0, 1e3]),
)
@example((LONG_CHAIN, 2.0**-46), 0.0, 1.0)
@example((LONG_CHAIN, 2.0**-46), 1e-4, 0.0)
def test_balance_against_scipy(problem, nu, constant):
    S, unit = problem
    constant *= S.sum()
    w, error, _ = balance(S, constant=constant, nu=nu, floor=unit)
    assert np.isfinite(w).all()
    assert w.min() == 0.0
    objective = Balancing(S, constant, nu, unit)
    ours, gradient = objective(w)
    # What it says of its error is true, and as promised.
    assert error == pytest.approx(
        kkt_residual(gradient, w) / objective.movable_share(w), rel=1e-3, abs=1e-12
    )
    assert error < PROMISED
    theirs = min(lbfgs(objective, np.zeros(len(w))).fun, lbfgs(objective, w).fun)
    assert ours <= theirs + 1e-9 * max(1.0, abs(theirs))


@given(problem=sums(most_classes=8), seed=st.integers(0, 100))
def test_balance_does_not_depend_on_the_scale(problem, seed):
    S, unit = problem
    w = balance(S, nu=1e-3, constant=S.sum(), floor=unit).w
    scaled = balance(S * 2.0**40, nu=1e-3, constant=S.sum() * 2.0**40, floor=unit * 2.0**40).w
    np.testing.assert_array_equal(w, scaled)


def test_balance_of_two_classes_is_adaboosts_formula():
    S = np.zeros((2, 2, 2))
    S[1, 0, 1], S[0, 0, 1], S[1, 1, 0], S[0, 1, 0] = 7.0, 1.0, 2.0, 10.0
    w, error, _ = balance(S)
    right, wrong = S[1, 0, 1] + S[0, 1, 0], S[0, 0, 1] + S[1, 1, 0]
    np.testing.assert_allclose(w, [0.5 * np.log(right / wrong), 0.0], rtol=1e-14)
    assert error < 1e-14


@st.composite
def logistic_rounds(draw):
    """Rows with margins from earlier rounds and the outputs of a new weak classifier."""
    k = draw(st.integers(2, 12))
    m = draw(st.integers(k, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.concatenate([np.arange(k), rng.integers(0, k, m - k)])
    F = rng.normal(size=(m, k)) * draw(st.sampled_from([0.0, 0.3, 2.0, 8.0]))
    h = rng.choice([-1.0, 1.0], m)
    if draw(st.booleans()):  # right for one class against all others
        h = np.where(y == draw(st.integers(0, k - 1)), 1.0, -1.0)
    return RoundProblem(F[np.arange(m), y][:, None] - F, h, y, "logistic", draw(st.sampled_from(NUS)))


@given(logistic_rounds())
def test_newton_against_scipy(problem):
    y = problem.own.argmax(axis=1)

    def sums_at(w):
        u = np.where(problem.other, expit(-problem.margins(w)), 0.0)
        out = np.zeros((2, 2, problem.k, problem.k))
        for number, values in enumerate((u, u * (1 - u))):
            np.add.at(out[number], ((problem.h > 0).astype(int), y), values)
        return out[0], out[1]

    first, _ = sums_at(np.zeros(problem.k))
    w, error, _ = newton(first, sums_at, nu=problem.nu, floor=2**-50 * first.sum())
    assert np.isfinite(w).all()
    assert w.min() == 0.0
    ours, gradient = problem(w)
    assert error < PROMISED
    assert error == pytest.approx(
        kkt_residual(gradient, w) / problem.weight_sum(w), rel=1e-3, abs=1e-12
    )
    theirs = min(lbfgs(problem, np.zeros(problem.k)).fun, lbfgs(problem, w).fun)
    assert ours <= theirs + 1e-9 * max(1.0, abs(theirs))


def test_a_large_penalty_makes_no_step():
    X, y = random_problem(60, 3, 3)
    model = MCBoostClassifier(5, loss="logistic", regularization=1e3)
    with pytest.warns(UserWarning, match="same score"):
        model.fit(X, y)
    assert model.n_iter_ == 0
