"""What is known of a round when it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.weak.base import WeakClassifier


class Round(NamedTuple):
    """One round of boosting.

    Attributes
    ----------
    index : int
        Number of the round, from 0.
    weak : WeakClassifier
        The weak classifier added.
    w : float64 array of k
        Its row of W, after shrinkage and bound.
    edge : float
        The edge it was chosen for, in the units of the stopping rule.
    optimality_error : float
        Of the coefficients, before shrinkage.
    training_error : float
        Share of the training rows with a margin of zero or less, after the round.
    """

    index: int
    weak: WeakClassifier
    w: NDArray[np.float64]
    edge: float
    optimality_error: float
    training_error: float


Callback = Callable[[Round], None]
