"""Tiny steps follow the l1-constrained optimum: the paper's Figure 1.

20 rows of the digits 3, 6 and 9 and 8 fixed stumps; each round adds 0.01 to the selected class's
coefficient of the selected stump, and to no other. After t rounds the sum of coefficients is
gamma = 0.01 t; the oracle is the smallest loss with that sum, by a convex solver that sees all
stumps and their negations (the paper's H holds both) at once.
"""

import cvxpy as cp
import numpy as np
import pytest
from formulas import AllStumps, exponentials, others
from support import BOTH_LOSSES, embedded, make_method, rounds_of, training_set

from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.coefficients import Solution

STEP = 0.01
N_ROUNDS = 1000
N_STUMPS = 8


class TinySteps(MCBoost):
    def solve(self, weak):
        if self._loss.normalized:
            self._weights.sums()
        else:
            self._weights.sums_at(np.zeros(self._data.n_classes))
        w = np.zeros(self._data.n_classes)
        w[weak.output] = STEP
        return Solution(w, 0.0, 0)

    def shrink(self, w):
        return w


def figure_1(seed):
    """Outputs of the stumps (0 and 1) and class numbers; no two stumps part the rows alike."""
    X, y = embedded("digits")
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == digit), n) for digit, n in ((3, 7), (6, 7), (9, 6))]
    X, y = X[np.concatenate(rows)], np.repeat([0, 1, 2], [7, 7, 6])
    outputs = []
    for f in rng.permutation(X.shape[1]):
        h = (X[:, f] > np.median(X[:, f])).astype(np.uint8)
        if 4 <= h.sum() <= 16 and not any((h == o).all() or (h != o).all() for o in outputs):
            outputs.append(h)
    return np.array(outputs[:N_STUMPS]).T, y


def loss_value(H, W, y, loss):
    e = exponentials(H @ W, y)[others(y, W.shape[1])]
    return np.log(e.sum() + len(y)) if loss == "exponential" else np.log1p(e).sum()


class Constrained:
    """min loss(W) so that sum(W) <= gamma and W >= 0, over the stumps and their negations."""

    def __init__(self, H, y, loss):
        k = y.max() + 1
        self.W = cp.Variable((H.shape[1], k), nonneg=True)
        self.gamma = cp.Parameter(nonneg=True)
        F = H @ self.W
        rows, classes = np.nonzero(others(y, k))
        minus_rho = cp.hstack([F[i, r] - F[i, y[i]] for i, r in zip(rows, classes, strict=True)])
        value = (
            cp.log_sum_exp(cp.hstack([minus_rho, np.zeros(len(y))]))  # a row's own class: exp(0)
            if loss == "exponential"
            else cp.sum(cp.logistic(minus_rho))
        )
        self.problem = cp.Problem(cp.Minimize(value), [cp.sum(self.W) <= self.gamma])

    def solve(self, gamma):
        self.gamma.value = gamma
        self.problem.solve(solver=cp.CLARABEL)
        assert self.problem.status == "optimal"
        return self.W.value


# Boosting never takes a coefficient back. Where the optimum's own coefficients only ever rise, the
# two paths are the same up to the grid: coefficients are multiples of 0.01 and coordinates take
# turns, so each may be a step early or late, and of the loss, which is flat around its minimum, the
# square of that remains. Where some optimal coefficient falls (by up to 0.1 here) the paths part,
# and what must stay close is the loss.
@pytest.mark.parametrize(
    ("seed", "rising"), [(0, True), (1, True), (9, True), (2, False), (3, False), (8, False)]
)
@BOTH_LOSSES
def test_tiny_steps_follow_the_constrained_optimum(loss, seed, rising):
    outputs, y = figure_1(seed)
    stumps = AllStumps(outputs)
    H = np.vstack([stumps.outputs, -stumps.outputs]).T
    rounds = rounds_of(make_method(training_set(outputs, y), loss, method=TinySteps), N_ROUNDS)
    assert len(rounds) == N_ROUNDS
    oracle = Constrained(H, y, loss)
    W = last = np.zeros((2 * N_STUMPS, 3))
    at_zero = loss_value(H, W, y, loss)
    fall = 0.0
    for finished in rounds:
        W = W.copy()
        at = stumps.place(finished.weak)
        if finished.weak.leaf_value[-1] < 0:  # the negation
            at += N_STUMPS
        W[at, finished.weak.output] += STEP
        done = finished.number
        if done % 100:
            continue
        best = oracle.solve(STEP * done)
        fall, last = max(fall, (last - best).max()), best
        ours, theirs = loss_value(H, W, y, loss), loss_value(H, best, y, loss)
        assert W.sum() == pytest.approx(STEP * done)
        assert theirs <= ours * (1 + 1e-6)
        assert ours - theirs <= (1e-4 if rising else 1e-2) * (at_zero - theirs)
        if rising:
            assert np.abs(W - best).max() <= 2 * STEP
    assert (fall < 1e-4) == rising
