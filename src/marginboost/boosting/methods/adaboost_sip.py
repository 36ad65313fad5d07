"""AdaBoost.SIP: as AdaBoost.ECC, with the colouring chosen together with the weak classifier.

B. Zhang, G. Ye, Y. Wang, J. Xu and G. Herman, "Finding shareable informative patterns and optimal coding
matrix for multiclass boosting", ICCV 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.two_votes import TwoVotes
from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from marginboost.boosting.weak.base import WeakClassifier


class AdaBoostSIP(TwoVotes):
    """The steps of a round.

    For a given weak classifier the best colour of a class is the sign of the class's own edge, so the
    best pair of both has the largest sum of |edge| over the classes.
    """

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the weak classifier of largest sum of |edge|, and colour the classes for it."""
        self._weights.next_search = Criterion.SUM
        found = self._learner.find(self._engine, Criterion.SUM)
        if found is not None:
            self._mu = np.where(self._engine.edges() < 0, -1, 1).astype(np.int8)
        return found
