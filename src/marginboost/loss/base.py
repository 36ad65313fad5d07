"""The protocol of a loss."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Loss(Protocol):
    """A loss of the margins rho[i, r] = F[i, y_i] - F[i, r], summed over r != y_i.

    Everything is a function of `e = exp(-rho)`, the number that boosting stores: a step multiplies it,
    so no exponential is ever computed per row.
    """

    @property
    def name(self) -> str:
        """The name that users choose it by."""
        ...

    @property
    def start_weight(self) -> float:
        """The weight of a pair at margin zero."""
        ...

    @property
    def normalized(self) -> bool:
        """Whether the dual variables are divided by their sum (the paper's KKT conditions)."""
        ...

    @property
    def probability_factor(self) -> float:
        """The factor c such that softmax(c * F) estimates the class probabilities."""
        ...

    @property
    def pair_weights(self) -> NDArray[np.float32] | None:
        """What the losses are multiplied by, by class of the row and other class; None: 1."""
        ...

    def value(self, e: Floats) -> Floats:
        """Loss of each pair."""
        ...

    def weight(self, e: Floats) -> Floats:
        """Weight u of each pair before normalisation: minus the derivative with respect to the margin."""
        ...
