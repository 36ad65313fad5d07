"""MultiBoost: totally corrective large-margin multi-class boosting.

C. Shen and Z. Hao, "A direct formulation for totally-corrective multi-class boosting", CVPR 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from marginboost.boosting.methods.base import Floats
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.methods.outputs import Outputs
from marginboost.coefficients import Solution
from marginboost.coefficients.grid import on_grid

if TYPE_CHECKING:
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.stumps.host import HostStumpEngine
    from marginboost.loss import Loss
    from marginboost.model.builder import EnsembleBuilder


# More than any round takes: the tolerance ends it.
MANY_ITERATIONS = 10_000


class Stopping(NamedTuple):
    """When a round's L-BFGS-B ends.

    Attributes
    ----------
    tolerance : float
        At a projected gradient whose largest entry is at most this.
    change : float
        At a change of the objective, from an iteration to the next, of at most this: of its value where
        that is above 1, absolute where it is below, as L-BFGS-B has it.
    max_iter : int
        After so many iterations.
    restarts : int
        How often it begins again while it is short of the tolerance: L-BFGS-B gives up where its line
        search meets rounding; from the same point, with its memory cleared, it often goes on.
    per_row : bool
        Whether gradient and objective are divided by the number of rows, so that the tolerance means
        the same for any number.
    """

    tolerance: float
    change: float
    max_iter: int
    restarts: int
    per_row: bool


# The two ways to stop, by the name that users give them.
STOPPING = {
    # "The maximum number of L-BFGS-B iterations is set to 100. The iteration stops when the projection
    # gradient is less than 1e-5 or the difference between the objective value of current iteration and
    # previous iteration is less than 1e-9."
    "paper": Stopping(1e-5, 1e-9, 100, restarts=0, per_row=False),
    "optimum": Stopping(1e-5, 0.0, MANY_ITERATIONS, restarts=4, per_row=True),
}


class MultiBoost(MCBoost):
    """The steps of a round: MCBoost's, but every row of W is found anew.

    After each weak classifier the loss plus nu * sum(W) is minimised over all k * t coefficients, by
    L-BFGS-B from where they were, or from zero. The loss is MCBoost's, so that nu means the same: a sum
    over rows and classes, for the exponential loss its logarithm. That needs the outputs of all weak
    classifiers on all rows, on the host: this is the method that the paper shows how to do without.
    """

    def __init__(
        self,
        engine: HostStumpEngine,
        data: TrainingSet,
        loss: Loss,
        learner: WeakLearner,
        *,
        nu: float,
        stopping: Stopping,
        from_zero: bool,
        keep_path: bool,
    ) -> None:
        super().__init__(engine, data, loss, learner, nu=nu, eta=1.0, kappa=None)
        self._engine: HostStumpEngine = engine
        self._data: TrainingSet = data
        self._stopping = stopping
        self._from_zero = from_zero
        self.path: list[Floats] | None = [] if keep_path else None
        self._W = np.zeros((0, data.n_classes))
        self._outputs = Outputs(data.binned.bins)
        self._problem = _Problem(data, loss, nu)
        at_start = float(loss.value(np.ones(1))[0])
        self._mean_loss = (data.n_classes - 1) * at_start

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the pairs' losses."""
        return self._mean_loss

    def solve(self, found: WeakClassifier) -> Solution:
        """Minimise the loss over all coefficients so far."""
        self._outputs.add(found, self._data.n_classes)
        start = np.vstack([self._W, np.zeros((1, self._data.n_classes))])
        if self._from_zero:
            start[:] = 0.0
        W, error, iterations = self._problem.minimise(self._outputs, start, self._stopping)
        self._W = W
        if self.path is not None:
            self.path.append(self._W)
        return Solution(self._W[-1], error, iterations)

    def keep_rounds(self, builder: EnsembleBuilder, n_rounds: int) -> None:
        """Set every coefficient to what it was after so many rounds."""
        if self.path is not None and n_rounds:
            builder.replace_vectors(self.path[n_rounds - 1])

    def update_weights(self, found: WeakClassifier, w: Floats) -> float:
        """Set the margins to those of the new W."""
        e = self._problem.exponentials(self._outputs.times(self._W))
        self._mean_loss = self._problem.mean_loss(e)
        self._engine.set_exponentials(e)
        return self._weights.refresh(*self._problem.masses(e))

    def extend(self, builder: EnsembleBuilder, found: WeakClassifier, w: Floats) -> Sequence[float]:
        """Add the weak classifier, and set every coefficient anew."""
        gains = super().extend(builder, found, w)
        builder.replace_vectors(self._W)
        return gains


class _Problem:
    """The loss of all coefficients, over m x k margins."""

    def __init__(self, data: TrainingSet, loss: Loss, nu: float) -> None:
        self._loss = loss
        self._nu = nu
        self._y = data.labels
        self._rows = np.arange(data.n_rows)
        self._weight = data.row_weight()
        self.mass = float(self._weight.sum())
        self._threads = ThreadpoolController()

    def exponentials(self, scores: Floats) -> Floats:
        """Return e for scores F; 0 for the rows' own classes."""
        e = scores - scores[self._rows, self._y][:, None]
        np.clip(e, -600.0, 600.0, out=e)
        np.exp(e, out=e)
        e[self._rows, self._y] = 0.0
        return e

    def direction(self, e: Floats) -> Floats:
        """Return g, of weights that are not normalised."""
        g: Floats = -self._loss.weight(e) * self._weight[:, None]
        g[self._rows, self._y] = -g.sum(axis=1)
        return g

    def masses(self, e: Floats) -> tuple[float, float]:
        """Return the largest sum of |g| of a class, and the sum of weights."""
        g = np.abs(self.direction(e))
        return float(g.sum(axis=0).max()), float(g.sum()) / 2.0

    def mean_loss(self, e: Floats) -> float:
        """Return the mean over rows of the sum of their losses."""
        return float(self._weight @ self._loss.value(e).sum(axis=1)) / self.mass

    def value_and_gradient(self, W: Floats, outputs: Outputs) -> tuple[float, Floats]:
        """Evaluate the objective; a row's own pair, whose loss is constant, counts as in the paper."""
        e = self.exponentials(outputs.times(W))
        g = self.direction(e)
        total = float(self._weight @ self._loss.value(e).sum(axis=1))
        if self._loss.normalized:
            # log of the whole sum: the rows' own pairs, e = 1, are the constant part.
            scale = total + self.mass
            value = float(np.log(scale / self.mass))
        else:
            scale = 1.0
            value = total + self.mass * float(self._loss.value(np.ones(1))[0])
        gradient: Floats = self._nu - outputs.transposed_times(g) / scale
        return value + self._nu * float(W.sum()), gradient

    def minimise(
        self, outputs: Outputs, start: Floats, stopping: Stopping
    ) -> tuple[Floats, float, int]:
        """Return W >= 0, the largest entry of the projected gradient, and the number of iterations.

        The gradient is in the units of the stopping rule.
        """
        unit = self.mass if stopping.per_row and not self._loss.normalized else 1.0

        def flat(w: Floats) -> tuple[float, Floats]:
            value, gradient = self.value_and_gradient(w.reshape(start.shape), outputs)
            return value / unit, gradient.ravel() / unit

        W = start
        iterations = 0
        # Products of this size gain nothing from a second thread, and lose much where another program
        # has it; and with one thread their sums do not depend on the machine's.
        with self._threads.limit(limits=1, user_api="blas"):
            for _ in range(1 + stopping.restarts):
                result = minimize(
                    flat,
                    W.ravel(),
                    jac=True,
                    method="L-BFGS-B",
                    bounds=[(0.0, None)] * start.size,
                    options={
                        "maxiter": stopping.max_iter - iterations,
                        "maxfun": 2 * MANY_ITERATIONS,
                        "ftol": stopping.change,
                        "gtol": stopping.tolerance,
                    },
                )
                # The residual is of the coefficients that are kept.
                W = on_grid(result.x.reshape(start.shape))
                iterations += int(result.nit)
                gradient = flat(W)[1].reshape(W.shape)
                # The projected gradient, as L-BFGS-B has it: a coefficient can't fall below zero.
                error = float(np.abs(W - np.maximum(W - gradient, 0.0)).max())
                if error <= stopping.tolerance or iterations >= stopping.max_iter:
                    break
        return W, error, iterations
