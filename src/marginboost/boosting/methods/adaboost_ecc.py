"""AdaBoost.ECC: each round a colouring of the classes, and a weak classifier that tells the colours.

V. Guruswami and A. Sahai, "Multiclass learning, boosting, and error-correcting codes", COLT 1999.
Random-half colourings: L. Li, "Multiclass boosting with repartitioning", ICML 2006. Max-cut ones: R. E.
Schapire, "Using output codes to boost multiclass learning problems", ICML 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from marginboost.boosting.methods.base import Floats
from marginboost.boosting.methods.two_votes import Colouring, TwoVotes

if TYPE_CHECKING:
    from marginboost.boosting.resume import PastTree
    from marginboost.boosting.weak.base import WeakClassifier, WeakLearner
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine


TRIES = 50  # colourings that are drawn before boosting is taken to be at its end


class AdaBoostECC(TwoVotes):
    """The steps of a round: colour the classes, then tell the colours apart.

    Parameters
    ----------
    colour : callable
        Makes a colouring, from the weights by class of the row and class, and how many of this round's
        colourings have been in vain.
    """

    def __init__(
        self,
        engine: StumpEngine,
        data: Rows,
        learner: WeakLearner,
        *,
        eta: float,
        colour: Callable[[Floats, int], Colouring],
    ) -> None:
        super().__init__(engine, data, learner, eta=eta)
        self._colour = colour

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Colour the classes, then find the weak classifier of largest edge.

        A colouring whose colours are told apart already has no edge left, and says nothing of the
        others: then another one is drawn, a few times.
        """
        for attempt in range(TRIES):
            self._mu = self._colour(self._mass, attempt)
            self._engine.project(self._mu)
            found = self._learner.find(self._engine)
            if found is None or not self.is_optimal(self.edge(found)):
                break
        return found

    def restore_round(
        self, trees: Sequence[PastTree], votes: Floats | None
    ) -> tuple[WeakClassifier, Floats]:
        """Do as before, and draw colourings up to the one that was not in vain."""
        found = super().restore_round(trees, votes)
        for attempt in range(TRIES):
            if np.array_equal(self._colour(self._mass, attempt), self._mu):
                break
        return found


def random_half(k: int, rng: np.random.Generator) -> Colouring:
    """Colour a random half of the classes."""
    mu = np.full(k, -1, dtype=np.int8)
    mu[rng.permutation(k)[: k // 2]] = 1
    return mu


def max_cut(mass: Floats, rng: np.random.Generator) -> Colouring:
    """Colour so that pairs of large weight are parted: a cut that no single class can improve."""
    between = mass + mass.T
    np.fill_diagonal(between, 0.0)
    mu = random_half(len(mass), rng)
    for _ in range(10 * len(mass)):
        # What moving each class to the other colour would add to the cut.
        gain = (between * (mu[:, None] == mu[None, :])).sum(axis=1) - (
            between * (mu[:, None] != mu[None, :])
        ).sum(axis=1)
        best = int(np.argmax(gain))
        if gain[best] <= 1e-12 * between.sum():
            break
        mu[best] = -mu[best]
    return mu
