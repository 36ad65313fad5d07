"""AdaBoost.MH: one binary question a class, "is it this one?", and a weak classifier for all of them.

R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated predictions",
Machine Learning 37, 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.base import Floats, OneVector, vote_of_edge
from marginboost.boosting.weak.base import place
from marginboost.boosting.weights import CodedWeights
from marginboost.coefficients import Solution, exp_of
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import ExponentialLoss

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine


class AdaBoostMH(OneVector):
    """The steps of a round.

    Weights D[i, l] = exp(-Y[i, l] F[i, l]), Y = +1 for the row's class and -1 for the others. The weak
    classifier of largest sum of |edge| over the classes votes for or against each class, by the sign of
    the class's edge; all votes have the size 0.5 * log((1 + r) / (1 - r)), r the normalised sum.
    """

    def __init__(
        self, engine: StumpEngine, data: Rows, learner: WeakLearner, *, eta: float
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._learner = learner
        self._code = np.where(np.eye(data.n_classes, dtype=bool), 1, -1).astype(np.int8)
        self._weights = CodedWeights(engine, data, self._code, mixes_outputs=True)

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the questions' losses."""
        return self._weights.mean_loss

    def start(self) -> None:
        """Give all questions the same weight."""
        self._engine.load(self._data, Weighting(ExponentialLoss(), self._code))
        self._weights.start()

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the weak classifier of largest sum of |edge|."""
        self._weights.next_search = Criterion.SUM
        found = self._learner.find(self._engine, Criterion.SUM)
        if found is not None:
            self._sum_edges()
        return found

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Put the rows where an earlier round's weak classifier puts them."""
        place(self._engine, trees[0])
        self._sum_edges()
        return trees[0], trees[0].vectors[0]

    def _sum_edges(self) -> None:
        # The sums have more bits than the direction that is searched.
        difference = np.diff(self._weights.sums(), axis=0)[0]
        self._edges = (self._code * difference).sum(axis=0)

    def edge(self, found: WeakClassifier) -> float:
        """Return the normalised sum of |edge|."""
        return self._weights.share(float(np.abs(self._edges).sum()))

    def solve(self, found: WeakClassifier) -> Solution:
        """Minimise the sum of weights over the size of the votes: in closed form."""
        signs = np.where(self._edges < 0, -1.0, 1.0)
        return Solution(vote_of_edge(self.edge(found)) * signs, 0.0, 0)

    def update_weights(self, found: WeakClassifier, w: Floats) -> float:
        """D *= exp(-Y * h * w)."""
        agreed = self._code * w
        self._weights.advance(exp_of(np.stack([agreed, -agreed])))
        return float("nan")
