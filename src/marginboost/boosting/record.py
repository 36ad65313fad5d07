"""What is known of a round when it is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Round(NamedTuple):
    """One round of boosting.

    Attributes
    ----------
    number : int
        Number of the round, from 0.
    w : float64 array
        Its coefficients, after shrinkage and bound; for MCBoost the row of W.
    edge : float
        The edge of its weak classifier, in the units of the stopping rule.
    optimality_error : float
        Of the coefficients, before shrinkage.
    training_error : float
        Share of the training rows with a margin of zero or less, after the round; NaN for methods
        that do not keep the margins.
    gains : sequence of float, or array
        How much each split of the round counts for its feature's importance.
    """

    number: int
    w: NDArray[np.float64]
    edge: float
    optimality_error: float
    training_error: float
    gains: Sequence[float] | NDArray[np.float64]


Callback = Callable[[Round], None]
