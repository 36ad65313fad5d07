"""The solver of the exponential loss by itself, against SciPy and AdaBoost's formula."""

import numpy as np
import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st
from round_problem import NUS, PROMISED, kkt_residual, lbfgs
from scipy.special import logsumexp

from marginboost.coefficients import balance


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
