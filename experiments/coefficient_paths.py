"""How coefficients grow: in small steps of boosting, and at the optimum with the same l1 norm.

Both use the same few stumps. Boosting is the library's own: its loop, engine, weights and rule of
choice (the stump and class with the largest edge); only the length of the step is fixed. The
optimum comes from a convex solver, which uses all stumps at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import MCBoostClassifier
from marginboost.boosting.loop import boost
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.weak.base import place
from marginboost.boosting.weak.stump import Stump, StumpLearner
from marginboost.coefficients import Solution
from marginboost.data.training_set import make_training_set
from marginboost.engine import NativeStumpEngine
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import LOSSES
from marginboost.model.builder import EnsembleBuilder

if TYPE_CHECKING:
    from marginboost.boosting.weak.base import WeakClassifier
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.loss import Loss

Floats = NDArray[np.float64]

# Rounds within which boosting must have found the requested number of different stumps.
_SEARCHED = 500
# Edges this close, relative to the largest, count as equal: the solver is not exact.
_EQUAL = 1e-4
# Tighter than the solver's own, as losses near their least are flat in the coefficients.
_TOLERANCES = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
# By how much a loss may exceed the minimum, relatively, for coefficients to count as an optimum.
_ACCURATE = 1e-3


class SignedStump(NamedTuple):
    """h(x) = polarity where x[feature] > threshold, else -polarity."""

    feature: int
    threshold: float
    polarity: int

    def outputs(self, X: NDArray[Any]) -> Floats:
        """Return h for every row."""
        above = X[:, self.feature].astype(np.float64) > self.threshold
        return np.where(above, 1.0, -1.0) * self.polarity


def chosen_stumps(X: NDArray[Any], y: NDArray[Any]) -> list[SignedStump]:
    """Return the stumps that MCBoost with the exponential loss chooses, in its order."""
    ensemble = MCBoostClassifier(_SEARCHED, calibrate=False, n_jobs=1).fit(X, y).ensemble_
    above = ensemble.leaf_value[ensemble.leaf_offsets[:-1] + 1]
    parts = zip(ensemble.feature, ensemble.threshold, above, strict=True)
    return [SignedStump(int(f), float(t), 1 if value > 0 else -1) for f, t, value in parts]


def first_outputs(stumps: Sequence[SignedStump], X: NDArray[Any], n: int) -> Floats:
    """Return the outputs of the first n stumps for some rows, without stumps that add nothing new.

    Parameters
    ----------
    stumps : sequence of SignedStump
        In order of preference.
    X : array of rows x features
        Rows.
    n : int
        How many. No two of them split the rows alike, not even with opposite signs; and none leaves
        all rows on one side.

    Returns
    -------
    array of rows x n
        -1 and +1.
    """
    found: dict[bytes, Floats] = {}
    for stump in stumps:
        outputs = stump.outputs(X)
        if np.ptp(outputs):
            found.setdefault((outputs * outputs[0]).tobytes(), outputs)
        if len(found) == n:
            return np.column_stack(list(found.values()))
    raise ValueError(
        f"There must be {n} stumps that split the rows differently, got {len(found)}: draw more "
        "rows, or request fewer stumps."
    )


# --- by boosting ----------------------------------------------------------------------------------


class _FewStumps(StumpLearner):
    """Search over given outputs of -1 and +1, and over the classes."""

    def __init__(self, thresholds: Sequence[Floats]) -> None:
        super().__init__(thresholds)
        self._stumps = [
            Stump((j,), (0,), (float(at[0]),), 1, 0, 0) for j, at in enumerate(thresholds)
        ]

    def find(self, engine: StumpEngine, criterion: Criterion = Criterion.LARGEST) -> Stump:
        """Find the stump and class with the largest edge, and split the engine's rows by it."""
        edges = []
        for stump in self._stumps:
            place(engine, stump)
            edges.append(engine.edges())
        number, output = np.unravel_index(np.argmax(edges), np.shape(edges))
        best = self._stumps[int(number)]
        place(engine, best)
        # Where no edge is positive, nothing can be gained: the stopping rule gets a zero.
        return replace(best, output=int(output), edge=max(0, int(edges[int(number)][output])))


class _SmallSteps(MCBoost):
    """MCBoost that adds a fixed small step to the coefficient of the selected class only."""

    def __init__(
        self, engine: StumpEngine, data: Rows, loss: Loss, learner: StumpLearner, step: float
    ) -> None:
        super().__init__(engine, data, loss, learner, nu=0.0, eta=1.0, kappa=None)
        self._step = step

    def solve(self, found: WeakClassifier) -> Solution:
        """Take a step of fixed length."""
        super().solve(found)  # also sums the weights, which their update needs
        w = np.zeros(self._data.n_classes)
        w[found.output] = self._step
        return Solution(w, 0.0, 0)


def stagewise_path(
    H: Floats, y: NDArray[np.int64], *, loss: str, step: float, rounds: int
) -> Floats:
    """Boost by small steps.

    Parameters
    ----------
    H : array of rows x weak classifiers
        The output of each for each row, -1 or +1; none is constant.
    y : int array
        Class numbers of the rows, from 0.
    loss : {"exponential", "logistic"}
        Of the margins.
    step : float
        What each round adds to one coefficient.
    rounds : int
        How many. After t of them the coefficients add up to step * t, unless no edge was left.

    Returns
    -------
    array of rounds + 1 x weak classifiers x classes
        W after each round, and first before any. After boosting has ended, W stays the same.
    """
    n_classes = int(y.max()) + 1
    data = make_training_set(
        H, y, n_classes, sample_weight=None, class_weight=None, max_bins=None, n_threads=1
    )
    learner = _FewStumps(data.binned.thresholds)
    method = _SmallSteps(NativeStumpEngine(), data, LOSSES[loss], learner, step)
    builder = EnsembleBuilder(H.shape[1], n_classes)
    boost(method, rounds, builder, lambda finished: None)
    made = builder.build()
    path = np.zeros((rounds + 1, H.shape[1], n_classes))
    path[1 + np.arange(made.n_rounds), made.feature] = made.vectors
    return path.cumsum(axis=0)


# --- by convex optimisation -----------------------------------------------------------------------


class Problem:
    """The loss of the coefficients W of some weak classifiers, and its minimum in an l1 ball.

    Parameters
    ----------
    H : array of rows x weak classifiers
        The output of each for each row, -1 or +1.
    y : int array
        Class numbers of the rows, from 0.
    loss : {"exponential", "logistic"}
        Of the margins.
    """

    def __init__(self, H: Floats, y: NDArray[np.int64], loss: str) -> None:
        self._loss = loss
        self.shape = H.shape[1], int(y.max()) + 1
        self._margins_of = _margin_matrix(H, y, self.shape[1])

    def margins(self, W: Floats) -> Floats:
        """Return rho for every pair of a row and a class other than its own."""
        margins: Floats = self._margins_of @ W.ravel()
        return margins

    def value(self, W: Floats) -> float:
        """Sum the losses of all pairs."""
        margins = self.margins(W)
        if self._loss == "exponential":
            return float(np.exp(-margins).sum())
        return float(np.logaddexp(0.0, -margins).sum())

    def is_unique(self, W: Floats) -> bool:
        """Return whether an optimum is unique.

        The margins of all optima are equal, since the losses are strictly convex. A coefficient can
        be positive only where its edge is the largest of all. So W is unique if no two combinations
        of those coefficients give the same margins. (Adding the same to all classes
        of a weak classifier changes no margin either, but its edges add up to zero over the
        classes: they are not all the largest.)
        """
        edges, _ = self._edges(W)
        largest = self._margins_of[:, edges >= edges.max() * (1.0 - _EQUAL)]
        return bool(np.linalg.matrix_rank(largest) == largest.shape[1])

    def _edges(self, W: Floats) -> tuple[Floats, float]:
        """Return minus the gradient, and the logarithm of its scale factor."""
        margins = self.margins(W)
        logs = -margins if self._loss == "exponential" else -np.logaddexp(0.0, margins)
        scale = float(logs.max())
        edges: Floats = self._margins_of.T @ np.exp(logs - scale)
        return edges, scale

    def excess(self, W: Floats, gamma: float) -> float:
        """Bound by how much the loss exceeds the minimum in the ball of gamma, relatively.

        A convex function lies above its tangents: no point of the ball can be lower than the lowest
        of the tangent there, which is at a corner.
        """
        edges, scale = self._edges(W)
        gain = gamma * max(0.0, float(edges.max())) - float(edges @ W.ravel())
        return float(np.exp(scale)) * gain / self.value(W)

    def optima(self, gammas: Sequence[float]) -> Iterator[Floats]:
        """Yield, for each gamma, the best W >= 0 whose coefficients add up to at most gamma."""
        import cvxpy as cp  # noqa: PLC0415  only this needs it

        W = cp.Variable(self._margins_of.shape[1], nonneg=True)
        gamma = cp.Parameter(nonneg=True)
        margins = self._margins_of @ W
        # The logarithm of the sum has the same minimum as the sum, and does not vanish.
        value = (
            cp.log_sum_exp(-margins)
            if self._loss == "exponential"
            else cp.sum(cp.logistic(-margins))
        )
        problem = cp.Problem(cp.Minimize(value), [cp.sum(W) <= gamma])
        for at in gammas:
            gamma.value = at
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of inaccuracy: we look ourselves
                problem.solve(solver=cp.CLARABEL, **_TOLERANCES)
            if W.value is None or (found := self.excess(W.value, at)) > _ACCURATE:
                got = problem.status if W.value is None else f"one that may be {found:.1%} above"
                raise ValueError(
                    f"The solver must find the minimum of the loss at gamma = {at:g}, got {got}: try "
                    "other values of gamma."
                )
            yield np.maximum(np.reshape(W.value, self.shape), 0.0)


def _margin_matrix(H: Floats, y: NDArray[np.int64], n_classes: int) -> Floats:
    """Return the matrix that maps W, row by row, to the margins of all pairs."""
    rows, others = np.nonzero(y[:, None] != np.arange(n_classes))
    classes = np.eye(n_classes)
    difference = classes[y[rows]] - classes[others]
    return (H[rows][:, :, None] * difference[:, None, :]).reshape(len(rows), -1)
