"""What a loss must say of itself."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Loss(Protocol):
    """A loss of the margins rho[i, r] = F[i, y_i] - F[i, r], summed over r != y_i.

    Everything is written in `e = exp(-rho)`, the number that boosting keeps: a step multiplies it, so
    that no exponential is ever taken of a row.
    """

    @property
    def name(self) -> str:
        """The word users choose it by."""
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
        """The c for which softmax(c * F) estimates the class probabilities."""
        ...

    def value(self, e: Floats) -> Floats:
        """Loss of each pair."""
        ...

    def weight(self, e: Floats) -> Floats:
        """Weight u of each pair before any normalisation: minus the derivative by the margin."""
        ...
