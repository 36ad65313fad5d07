"""The paper's own method: stage-wise large-margin multi-class boosting.

S. Paisitkriangkrai, C. Shen and A. van den Hengel, "A scalable stage-wise approach to large-margin
multi-class loss based boosting", IEEE Transactions on Neural Networks and Learning Systems, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.base import EPSILON, Floats, OneVector
from marginboost.boosting.weak.base import place
from marginboost.boosting.weights import MarginWeights
from marginboost.coefficients import Solution, balance, newton
from marginboost.coefficients.grid import on_grid
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.loss import Loss


class MCBoost(OneVector):
    """The steps of a round.

    Weights are the losses' dual variables; the direction of class r is minus the pairs' weights on
    rows of other classes, and the sum of the row's weights on its own; the coefficients minimise the
    loss with all earlier rows of W fixed.
    """

    def __init__(
        self,
        engine: StumpEngine,
        data: Rows,
        loss: Loss,
        learner: WeakLearner,
        *,
        nu: float,
        eta: float,
        kappa: float | None,
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._loss = loss
        self._learner = learner
        self._nu = nu
        self._kappa = kappa
        self._weights = MarginWeights(engine, data, loss)

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the pairs' losses, if they are exponential."""
        return self._weights.mean_loss

    def start(self) -> None:
        """Set all margins to zero."""
        self._engine.load(self._data, Weighting(self._loss))
        self._weights.start()

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the weak classifier and class of largest edge."""
        self._weights.next_search = Criterion.LARGEST
        return self._learner.find(self._engine)

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Put the rows where an earlier round's weak classifier puts them."""
        place(self._engine, trees[0])
        return trees[0], trees[0].vectors[0]

    def edge(self, found: WeakClassifier) -> float:
        """Return its edge, in the units of the stopping rule."""
        return self._weights.edge(found.edge)

    def is_optimal(self, edge: float) -> bool:
        """Return whether the largest edge exceeds nu for no class."""
        return edge <= self._nu + EPSILON

    def solve(self, found: WeakClassifier) -> Solution:
        """Minimise the loss over the coefficients of the new weak classifier."""
        weights = self._weights
        if not self._loss.normalized:
            return newton(weights.sums_at, self._data.n_classes, nu=self._nu)
        return balance(weights.sums(), constant=weights.constant, nu=self._nu, floor=weights.unit)

    def shrink(self, w: Floats) -> Floats:
        """Shrinkage, then the bound on a step; round it to the grid."""
        w = self._eta * w
        return on_grid(w if self._kappa is None else np.minimum(w, self._kappa))

    def update_weights(self, found: WeakClassifier, w: Floats) -> float:
        """Multiply the weights by what the new term does to the margins."""
        return self._weights.advance(w)
