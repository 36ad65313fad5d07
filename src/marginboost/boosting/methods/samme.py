"""SAMME: AdaBoost with weak classifiers that name one of the classes.

J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2, 2009.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.base import MOST_VOTE, Floats, Shrinking
from marginboost.boosting.weights import CodedWeights
from marginboost.coefficients import Solution
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import ExponentialLoss

if TYPE_CHECKING:
    from marginboost.boosting.weak.tree import ClassTreeLearner, SignTree
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.host import HostStumpEngine
    from marginboost.model.builder import EnsembleBuilder


class SAMME(Shrinking):
    """The steps of a round.

    One weight per row, the only column of a code of ones. The weak classifier is a classification tree
    (Gini impurity, as scikit-learn's); its vote is log((1 - err) / err) + log(k - 1); the weights of
    the rows it gets wrong are multiplied by the vote's exponential, and all scaled to their old sum.
    """

    def __init__(
        self, engine: HostStumpEngine, data: Rows, learner: ClassTreeLearner, *, eta: float
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._learner = learner
        self._k = data.n_classes
        self._code = np.ones((self._k, 1), dtype=np.int8)
        self._weights = CodedWeights(engine, data, self._code)
        self._mass = float(data.class_mass.sum())
        self._perfect = False
        self._loss = 1.0

    @property
    def training_loss(self) -> float:
        """The mean over rows of exp(mean score of all classes - score of the row's own)."""
        return self._loss

    def start(self) -> None:
        """Give all rows the same weight."""
        self._engine.load(self._data, Weighting(ExponentialLoss(), self._code))
        self._weights.start()

    def train_weak_classifier(self) -> SignTree | None:
        """Find a classification tree for the weighted rows; none after one that makes no error."""
        return None if self._perfect else self._learner.find(self._engine)

    def edge(self, found: SignTree) -> float:
        """Return how much more often than by chance the tree is right."""
        self._sums = self._weights.sums()
        wrong, right = self._sums.sum(axis=(1, 2))
        self._error = float(wrong / (wrong + right))
        return (1.0 - self._error) - 1.0 / self._k

    def solve(self, found: SignTree) -> Solution:
        """Compute the vote."""
        self._perfect = self._error <= 0.0
        odds = (1.0 - self._error) / max(self._error, 1e-16)
        vote = min(MOST_VOTE, math.log(odds) + math.log(self._k - 1))
        return Solution(np.array([vote]), 0.0, 0)

    def update_weights(self, found: SignTree, w: Floats) -> float:
        """Multiply the weights of wrong rows (side 0) by exp(vote), then all to keep their sum."""
        table = np.ones((2, self._k, 1))
        table[0] = math.exp(w[0])
        growth = float((self._sums * table).sum()) / float(self._sums.sum())
        # A row that is right gains the vote, of which the mean over the classes gains a k-th.
        self._loss *= growth * math.exp(-w[0] * (1.0 - 1.0 / self._k))
        # Without it hundreds of rounds of growth would leave the range of a double.
        table *= self._mass / float((self._sums * table).sum())
        self._weights.advance(table)
        return float("nan")

    def extend(self, builder: EnsembleBuilder, found: SignTree, w: Floats) -> Sequence[float]:
        """Add the vote to the class that each leaf names."""
        if len(builder) == 0:
            for row in np.eye(self._k):
                builder.add_vector(row)
        vote = float(w[0])
        builder.append(found, found.leaf_label, [vote] * len(found.leaf_label))
        builder.end_round()
        return [share * vote for share in found.gain]
