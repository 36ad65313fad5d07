"""The coefficients of whole rounds against SciPy, on the paper's own m x k form."""

import numpy as np
import pytest
from formulas import tree_outputs
from round_problem import NUS, PROMISED, RoundProblem, kkt_residual, lbfgs
from support import BOTH_LOSSES, embedded, make_method, rounds_of, training_set


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
