"""The coefficients against SciPy on the paper's own m x k form, and their KKT conditions."""

import numpy as np
import pytest
from hypothesis import Phase, assume, example, given, settings
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
    """What one round minimises over w >= 0: all rows, all classes, nothing summed up beforehand.

    `capped` adds the with_shared_docs cap of the exponential loss: where no pair of two classes is on the
    wrong side, one unit is, so that w stays finite.
    """

    def __init__(self, margins, h, y, loss, nu, *, capped=False):
        self.k = margins.shape[1]
        self.rho, self.h, self.loss, self.nu = margins, h, loss, nu
        self.other = others(y, self.k)
        self.own = np.eye(self.k)[y]
        self.cap = np.full((self.k, self.k), -np.inf)
        if capped and loss == "exponential":
            plus, minus = (self.own.T @ (self.other * (h == sign)[:, None]) for sign in (1, -1))
            empty = (plus + minus.T == 0) & ~np.eye(self.k, dtype=bool)
            self.cap[empty] = np.log(2**-49 * np.exp(-margins)[self.other].sum())

    def cap_terms(self, w):
        return self.cap + w - w[:, None]

    def margins(self, w):
        return self.rho + self.h[:, None] * ((self.own @ w)[:, None] - w)

    def __call__(self, w):
        """Objective and gradient."""
        rho = self.margins(w)
        if self.loss == "exponential":  # the paper's sum has a constant 1 for a row's own class
            caps = self.cap_terms(w)
            value = np.logaddexp(logsumexp(np.where(self.other, -rho, 0.0)), logsumexp(caps))
            u = np.where(self.other, np.exp(-rho - value), 0.0)
            caps = np.exp(caps - value)
        else:
            caps = np.zeros((self.k, self.k))
            value = np.logaddexp(0.0, -rho)[self.other].sum()
            u = np.where(self.other, expit(-rho), 0.0)
        hu = self.h[:, None] * u
        gradient = hu.sum(axis=0) - self.own.T @ hu.sum(axis=1)
        gradient += caps.sum(axis=0) - caps.sum(axis=1)
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
    """Yield problem and solution of the rounds at `which`, each on the margins that we made."""
    method = make_method(training_set(X, y), loss, nu=nu, eta=0.5, depth=depth)
    rounds = rounds_of(method, max(which) + 1)
    F = np.zeros((len(y), y.max() + 1))
    for finished in rounds:
        h = tree_outputs(finished.weak, X)
        if finished.number - 1 in which:
            margins = F[np.arange(len(y)), y][:, None] - F
            yield (margins, h, y, loss, nu), 2 * finished.w, finished
        F += h[:, None] * finished.w


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize(("name", "depth"), [("iris", 1), ("iris", 3), ("wine", 1), ("digits", 1)])
@BOTH_LOSSES
def test_no_worse_than_lbfgs_on_all_pairs(name, depth, loss, nu):
    X, y = embedded(name)
    X, y = X[:600], y[:600]
    n = 0
    for parts, w, finished in problems_of(X, y, loss, nu, {0, 1, 2, 5, 10, 20}, depth=depth):
        n += 1
        problem = RoundProblem(*parts)
        ours, gradient = problem(w)
        capped = RoundProblem(*parts, capped=True)
        theirs = min(lbfgs(capped, np.zeros(problem.k)).fun, lbfgs(capped, w).fun)
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
        B = np.maximum(S[1] + S[0].T, floor)
        np.fill_diagonal(B, 0.0)
        with np.errstate(divide="ignore"):
            self.log_b, self.log_constant = np.log(B), np.log(constant)
        self.nu = nu

    def shares(self, w):
        """Value of log(constant + sum), and the terms of the sum divided by all of it."""
        terms = self.log_b + w - w[:, None]
        value = np.logaddexp(logsumexp(terms), self.log_constant)
        return value, np.exp(terms - value)

    def __call__(self, w):
        value, M = self.shares(w)
        return value + self.nu * w.sum(), M.sum(axis=0) - M.sum(axis=1) + self.nu

    def movable_share(self, w):
        return self.shares(w)[1].sum()


LONG_CHAIN = np.zeros((2, 12, 12))  # balancing moves mass along it one step a sweep
LONG_CHAIN[1, np.arange(11), np.arange(1, 12)] = 1.0
LONG_CHAIN[1, 11, 0] = 1e-6


@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # seeds do not shrink to anything
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


@given(problem=sums(most_classes=8))
def test_balance_does_not_depend_on_the_scale(problem):
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
    margins = F[np.arange(m), y][:, None] - F
    return RoundProblem(margins, h, y, "logistic", draw(st.sampled_from(NUS)))


@given(logistic_rounds())
def test_newton_against_scipy(problem):
    y = problem.own.argmax(axis=1)
    unit = 2**-50 * problem.weight_sum(np.zeros(problem.k))

    def sums_at(w):
        u = np.where(problem.other, expit(-problem.margins(w)), 0.0)
        out = np.zeros((2, 2, problem.k, problem.k))
        for number, values in enumerate((u, u * (1 - u))):
            np.add.at(out[number], ((problem.h > 0).astype(int), y), np.rint(values / unit) * unit)
        return out[0], out[1]

    w, error, _ = newton(sums_at, problem.k, nu=problem.nu)
    assert np.isfinite(w).all()
    assert w.min() == 0.0
    ours, gradient = problem(w)
    # Where all is separated the weights themselves are not much above their unit.
    known = unit * problem.other.sum() / problem.weight_sum(w)
    assert error < max(PROMISED, known)
    if known < 1e-3:
        residual = kkt_residual(gradient, w) / problem.weight_sum(w)
        assert error == pytest.approx(residual, rel=1e-3, abs=known + 1e-12)
    theirs = min(lbfgs(problem, np.zeros(problem.k)).fun, lbfgs(problem, w).fun)
    assert ours <= theirs + 1e-9 * max(1.0, abs(theirs))


def test_a_large_penalty_makes_no_step():
    X, y = random_problem(60, 3, 3)
    model = MCBoostClassifier(5, loss="logistic", regularization=1e3)
    with pytest.warns(UserWarning, match="No split lowers the loss"):
        model.fit(X, y)
    assert not len(model.ensemble_.feature)
