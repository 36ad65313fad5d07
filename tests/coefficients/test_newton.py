"""The solver of the logistic loss by itself, against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_problem import NUS, PROMISED, RoundProblem, kkt_residual, lbfgs
from scipy.special import expit

from marginboost.coefficients import newton


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
