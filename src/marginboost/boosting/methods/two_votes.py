"""What AdaBoost.ECC and AdaBoost.SIP share: a colouring of the classes, and two votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.methods.base import Floats, Shrinking, half_log_odds
from marginboost.boosting.weak.base import place
from marginboost.boosting.weights import MarginWeights
from marginboost.coefficients import Solution, exp_of
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import ExponentialLoss

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.model.builder import EnsembleBuilder

Colouring = NDArray[np.int8]


class TwoVotes(Shrinking):
    """The steps of a round, but for the choice of the weak classifier and the colouring.

    Weights are those of the exponential loss of the margins, as in MCBoost. A colouring mu of the
    classes in -1 and +1 makes a binary problem, whose direction is the margins' direction times mu. The
    weak classifier gets two votes, one for each thing it may say; the classes of the colour it says gain
    half of the vote, the others lose as much.
    """

    _mu: Colouring

    def __init__(
        self, engine: StumpEngine, data: Rows, learner: WeakLearner, *, eta: float
    ) -> None:
        super().__init__(eta)
        self._engine = engine
        self._data = data
        self._learner = learner
        self._weights = MarginWeights(engine, data, ExponentialLoss(), mixes_outputs=True)
        # Weights by class of the row and class, as far as known: of the last round's beginning.
        self._mass = np.repeat(data.class_mass[:, None], data.n_classes, axis=1)

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the pairs' losses."""
        return self._weights.mean_loss

    def start(self) -> None:
        """Set all margins to zero."""
        self._engine.load(self._data, Weighting(ExponentialLoss()))
        self._weights.start()

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Put the rows where an earlier round's weak classifier puts them."""
        tree = trees[0]
        w = np.array(votes)
        self._mu = tree.vectors[0].astype(np.int8)
        # The ensemble has half of each vote, in the place of what was said.
        tree.leaf_value = [1.0 if 2.0 * half == w[1] else -1.0 for half in tree.leaf_value]
        place(self._engine, tree)
        return tree, w

    def edge(self, found: WeakClassifier) -> float:
        """Return its edge as a share of the loss, however small that has become."""
        return self._weights.share(found.edge)

    def solve(self, found: WeakClassifier) -> Solution:
        """Minimise the loss over the two votes: in closed form, a side each."""
        sums = self._weights.sums()
        self._mass = sums.sum(axis=0)
        # On each side, the weights of pairs that the colouring parts, by the colour of the row.
        parted = self._mu[:, None] != self._mu[None, :]
        by_class = np.where(parted, sums, 0.0).sum(axis=2)
        high = by_class[:, self._mu > 0].sum(axis=1)
        low = by_class[:, self._mu < 0].sum(axis=1)
        unit = self._weights.unit
        votes = [half_log_odds(float(high[s]), float(low[s]), unit) for s in (0, 1)]
        return Solution(np.array(votes), 0.0, 0)

    def update_weights(self, found: WeakClassifier, w: Floats) -> float:
        """Move the margins by the vote of each row's side."""
        scores = 0.5 * w[:, None] * self._mu
        # By table: classes of one colour must keep a margin of exactly zero between them.
        return self._weights.advance_table(exp_of(scores[:, None, :] - scores[:, :, None]))

    def extend(self, builder: EnsembleBuilder, found: WeakClassifier, w: Floats) -> Sequence[float]:
        """Add the colouring, with each leaf's vote."""
        votes = [0.5 * float(w[1 if value > 0 else 0]) for value in found.leaf_value]
        builder.append(found, builder.add_vector(self._mu.astype(np.float64)), votes)
        builder.end_round()
        size = float(np.abs(w).sum())
        return [share * size for share in found.gain]
