"""AdaBoost.MO: a fixed code with every way to part the classes, a weak classifier per output and round.

R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated predictions",
Machine Learning 37, 1999.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.methods.base import Floats, Shrinking, vote_of_edge
from marginboost.boosting.weak.base import place
from marginboost.boosting.weights import CodedWeights
from marginboost.coefficients import Solution, exp_of
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import ExponentialLoss

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.host import HostStumpEngine
    from marginboost.model.builder import EnsembleBuilder


class AdaBoostMO(Shrinking):
    """The steps of a round.

    Weights D[i, c] = exp(-code[y_i, c] F[i, c]). Every output has its own weak classifier, the one of
    largest edge; all of a round's have the vote 0.5 * log((1 + r) / (1 - r)), r the sum of their edges
    over the sum of all weights. The class whose codeword agrees most with what the outputs say wins.
    """

    def __init__(
        self, engine: HostStumpEngine, data: Rows, learner: WeakLearner, *, eta: float
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._learner = learner
        self._code = exhaustive_code(data.n_classes)
        self._weights = CodedWeights(engine, data, self._code)

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the outputs' losses."""
        return self._weights.mean_loss

    def start(self) -> None:
        """Give all pairs of a row and an output the same weight."""
        self._engine.load(self._data, Weighting(ExponentialLoss(), self._code))
        self._weights.start()

    def train_weak_classifier(self) -> Sequence[WeakClassifier] | None:
        """Find the weak classifier of largest edge for every output."""
        return self._learner.find_each(self._engine)

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[Sequence[WeakClassifier], Floats]:
        """Find the edges of an earlier round's weak classifiers."""
        for output, tree in enumerate(trees):
            tree.leaf_value = [1.0 if value > 0 else -1.0 for value in tree.leaf_value]
            place(self._engine, tree)
            tree.output, tree.edge = output, int(self._engine.edges()[output])
        return trees, np.atleast_1d(np.asarray(votes))

    def edge(self, found: Sequence[WeakClassifier]) -> float:
        """Return the sum of the edges as a share of all weights."""
        return self._weights.share(self._weights.real(sum(weak.edge for weak in found)))

    def solve(self, found: Sequence[WeakClassifier]) -> Solution:
        """Minimise the sum of weights over the vote: in closed form."""
        return Solution(np.array([vote_of_edge(self.edge(found))]), 0.0, 0)

    def update_weights(self, found: Sequence[WeakClassifier], w: Floats) -> float:
        """D[i, c] *= exp(-code[y_i, c] * vote * h_c(x_i))."""
        vote = float(w[0])
        masses = self._weights.sums().sum(axis=(0, 1))
        signs = self._code.T.astype(np.float64)
        for output, weak in enumerate(found):
            place(self._engine, weak)
            agreed = vote * signs[output]
            self._engine.advance_output(output, exp_of(np.stack([agreed, -agreed])))
        edges = np.array([self._weights.real(weak.edge) for weak in found])
        # What is right shrinks and what is wrong grows: mass * cosh(vote) - edge * sinh(vote).
        unseen = self._weights.unseen * math.exp(vote)
        self._weights.refresh(masses * math.cosh(vote) - edges * math.sinh(vote), unseen)
        return float("nan")

    def extend(
        self, builder: EnsembleBuilder, found: Sequence[WeakClassifier], w: Floats
    ) -> Sequence[float]:
        """Add every output's weak classifier, voting for the classes whose codeword it says."""
        if len(builder) == 0:
            for column in self._code.T.astype(np.float64):
                builder.add_vector(column)
        vote = float(w[0])
        gains: list[float] = []
        for output, weak in enumerate(found):
            builder.append(weak, output, [vote * value for value in weak.leaf_value])
            gains.extend(share * vote for share in weak.gain)
        builder.end_round()
        return gains


def exhaustive_code(k: int) -> NDArray[np.int8]:
    """Return every way to part k classes in two: a (k, 2**(k - 1) - 1) matrix of -1 and +1."""
    parted = np.arange(2 ** (k - 1) - 1)  # which of the classes 1 ... k - 1 go with class 0
    bits = (parted[None, :] >> np.arange(k - 1)[:, None]) & 1
    return np.vstack([np.ones_like(parted), 2 * bits - 1]).astype(np.int8)
