"""GradBoost: steps on a quadratic bound of the multi-class logistic loss, with group shrinkage.

J. Duchi and Y. Singer, "Boosting with structural sparsity", ICML 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.base import Floats, OneVector
from marginboost.boosting.tree_weights import fixed_point_exponent
from marginboost.boosting.weak.base import place
from marginboost.boosting.weights import DIRECTION_BITS, SUM_BITS
from marginboost.coefficients import Solution, step_factors
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import SoftmaxLoss

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine

# The softmax's second derivative is nowhere above 1/2 in any direction.
CURVATURE = 0.5


class GradBoost(OneVector):
    """The steps of a round.

    The objective is the mean of log(1 + sum of exp(-margin)) plus lambda times the sum over weak
    classifiers of the l2 norm of their row of W (W of either sign). The weak classifier with the longest
    gradient is taken; the quadratic bound is least, with the penalty, at the row moved by gradient over
    curvature and then shortened by lambda over curvature. A weak classifier that comes again has its row
    moved on, so that rows may shrink back to zero; what a round adds is the difference.
    """

    def __init__(
        self,
        engine: StumpEngine,
        data: Rows,
        learner: WeakLearner,
        *,
        eta: float,
        penalty: float,
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._learner = learner
        self._penalty = penalty
        self._mass = float(data.class_mass.sum())
        # The weights of a row never add up to more than its own: one scale for ever.
        self._exponent = fixed_point_exponent(DIRECTION_BITS, 2.0 * self._mass)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, self._mass)
        self._rows: dict[tuple[object, ...], Floats] = {}

    def start(self) -> None:
        """Set all margins to zero."""
        self._next_search: int | None = None
        self._engine.load(self._data, Weighting(SoftmaxLoss()))
        self.update_weights(None, np.zeros(self._data.n_classes))

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the weak classifier of longest gradient."""
        self._next_search = Criterion.SQUARES
        found = self._learner.find(self._engine, Criterion.SQUARES)
        if found is not None:
            self._look_at(found)
        return found

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Put the rows where an earlier round's weak classifier puts them."""
        place(self._engine, trees[0])
        self._look_at(trees[0])
        return trees[0], trees[0].vectors[0]

    def _look_at(self, found: WeakClassifier) -> None:
        # From sums, which have more bits than the direction that is searched: of weights where
        # h = +1 less where h = -1, a row's own class gains what the others lose.
        sums = np.diff(self._engine.sums(self._sum_exponent), axis=0)[0]
        self._gradient = (sums.sum(axis=1) - sums.sum(axis=0)) / self._mass
        self._key = (*found.feature, *found.bin, *found.left, *found.leaf_value)

    def edge(self, found: WeakClassifier) -> float:
        """Return by how much the gradient exceeds what the penalty would undo."""
        if self._key in self._rows and np.any(self._rows[self._key]):
            step = np.linalg.norm(self._moved() - self._rows[self._key]) * CURVATURE
            return float(step)
        return float(np.linalg.norm(self._gradient)) - self._penalty

    def _moved(self) -> Floats:
        """Minimise the bound plus the penalty over the row."""
        row = self._rows.get(self._key, np.zeros_like(self._gradient))
        target = row + self._gradient / CURVATURE
        length = float(np.linalg.norm(target))
        shortened: Floats = target * max(0.0, 1.0 - self._penalty / CURVATURE / max(length, 1e-300))
        return shortened

    def solve(self, found: WeakClassifier) -> Solution:
        """Move the row to the least of the bound: in closed form."""
        step = self._moved() - self._rows.get(self._key, np.zeros_like(self._gradient))
        return Solution(step, 0.0, 0)

    def update_weights(self, found: WeakClassifier | None, w: Floats) -> float:
        """Move the margins."""
        if found is not None:
            self._rows[self._key] = self._rows.get(self._key, np.zeros_like(w)) + w
        errors = self._engine.advance(*step_factors(w), self._exponent, self._next_search)
        return errors / self._data.n_counted
