"""What the methods have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.coefficients.grid import on_grid

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.weak.base import WeakClassifier
    from marginboost.model.builder import EnsembleBuilder

Floats = NDArray[np.float64]

# The paper's epsilon: a constraint violated by less than this counts as met.
EPSILON = 1e-12

# No vote is larger: at this one a weight falls below what a double adds to one.
MOST_VOTE = 20.0


class Shrinking:
    """Shrinkage by `eta`, and an end where no edge is left."""

    def __init__(self, eta: float) -> None:
        self._eta = eta

    @property
    def training_loss(self) -> float:
        """Not known, unless a method says so."""
        return math.nan

    def look_ahead(self, n_rounds: int) -> None:
        """Do nothing: rounds are found when they are asked for."""

    def take_ahead(self, builder: EnsembleBuilder, number: int) -> Round | None:
        """Return None: no round is found ahead."""
        return None

    def shrink(self, w: Floats) -> Floats:
        """Multiply the step by eta; round it to the grid."""
        return on_grid(self._eta * w)

    def keep_rounds(self, builder: EnsembleBuilder, n_rounds: int) -> None:
        """Do nothing: rounds leave earlier ones as they are."""

    def is_optimal(self, edge: float) -> bool:
        """Return whether the edge is zero, but for rounding."""
        return edge <= EPSILON


class OneVector(Shrinking):
    """One weak classifier per round, with one vector of coefficients."""

    def extend(self, builder: EnsembleBuilder, found: WeakClassifier, w: Floats) -> Sequence[float]:
        """Add the weak classifier with the coefficients w."""
        builder.append(found, builder.add_vector(w))
        builder.end_round()
        size = float(np.abs(w).sum())
        return [share * size for share in found.gain]


def half_log_odds(right: float, wrong: float, unit: float) -> float:
    """Return AdaBoost's vote, 0.5 * log(right / wrong); sums below `unit` are not told from it."""
    vote = 0.5 * math.log(max(right, unit) / max(wrong, unit))
    return max(-MOST_VOTE, min(MOST_VOTE, vote))


def vote_of_edge(edge: float) -> float:
    """Return AdaBoost's vote of a normalised edge in [0, 1]: 0.5 * log((1 + r) / (1 - r))."""
    return min(MOST_VOTE, math.atanh(min(edge, 1.0 - 1e-16)))
