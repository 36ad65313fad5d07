"""A loss whose pairs of classes count more or less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginboost.loss.base import Floats, Loss

__all__ = ["PairWeightedLoss", "weigh_by_distance"]


@dataclass(frozen=True, eq=False)
class PairWeightedLoss:
    """Another loss, whose term of a row of class y and another class r is multiplied by a weight.

    Where weights are symmetric, each pair of classes has its least expected loss where it had it before:
    both of its terms are multiplied by the same number. So scores turn into probabilities as before.

    Parameters
    ----------
    plain : Loss
        The loss of margins without weights.
    pair_weights : float32 array of n_classes x n_classes
        By class of the row and other class; from 0 to 1, symmetric.
    """

    plain: Loss
    pair_weights: NDArray[np.float32]

    @property
    def name(self) -> str:
        """The name of the plain loss."""
        return self.plain.name

    @property
    def start_weight(self) -> float:
        """The weight at margin zero of a pair that counts fully."""
        return self.plain.start_weight

    @property
    def normalized(self) -> bool:
        """As of the plain loss."""
        return self.plain.normalized

    @property
    def probability_factor(self) -> float:
        """As of the plain loss."""
        return self.plain.probability_factor

    def value(self, e: Floats) -> Floats:
        """Loss of each pair, before its weight."""
        return self.plain.value(e)

    def weight(self, e: Floats) -> Floats:
        """Weight of each pair, before that of its classes."""
        return self.plain.weight(e)


def weigh_by_distance(loss: Loss, ranks: NDArray[np.int64] | None) -> Loss:
    """Let pairs of ordered classes count by their distance, the largest distance fully.

    Parameters
    ----------
    loss : Loss
        A loss without weights.
    ranks : int64 array of n_classes, or None
        The places of the classes in their order; None: the loss stays as it is.
    """
    if ranks is None or len(ranks) < 3:
        return loss
    distances = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    weights = (distances / distances.max()).astype(np.float32)
    np.fill_diagonal(weights, 1.0)  # of a row's own class, whose e is almost 0
    weights.flags.writeable = False
    return PairWeightedLoss(loss, weights)
