"""The paper's Algorithm 1, written once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.record import Callback, Round

if TYPE_CHECKING:
    from marginboost.coefficients import Solution
    from marginboost.weak.base import WeakClassifier

# Why a fit ended; `stop_reason_` holds one of these.
MAX_ROUNDS = "max_rounds"
NO_VIOLATED_CONSTRAINT = "no_violated_constraint"
INTERRUPTED = "interrupted"


class Method(Protocol):
    """What tells one boosting method from another: the steps of its round."""

    def start(self) -> None:
        """Set the initial weights."""
        ...

    def train_weak_classifier(self) -> WeakClassifier | None:
        """Find the weak classifier of largest edge; None where nothing divides the rows."""
        ...

    def edge(self, weak: WeakClassifier) -> float:
        """Tell its edge, in the units of the stopping rule."""
        ...

    def is_optimal(self, edge: float) -> bool:
        """Tell whether no constraint of the dual is violated any more."""
        ...

    def solve(self, weak: WeakClassifier) -> Solution:
        """Compute the coefficients of the new weak classifier."""
        ...

    def shrink(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shorten the step."""
        ...

    def update_weights(self, w: NDArray[np.float64]) -> float:
        """Update the sample weights; return the training error."""
        ...


def boost(method: Method, n_rounds: int, callbacks: Sequence[Callback]) -> str:
    """Boost for at most `n_rounds` rounds; every round goes to the callbacks.

    Returns
    -------
    str
        Why it ended.
    """
    try:
        method.start()
        for index in range(n_rounds):
            weak = method.train_weak_classifier()  # step 1
            if weak is None:
                return NO_VIOLATED_CONSTRAINT
            edge = method.edge(weak)
            if method.is_optimal(edge):  # step 2
                return NO_VIOLATED_CONSTRAINT
            w, optimality_error, _ = method.solve(weak)  # steps 3 and 4
            w = method.shrink(w)
            if not w.any():  # optimal up to rounding: all rounds to come would be this one
                return NO_VIOLATED_CONSTRAINT
            error = method.update_weights(w)  # step 5
            finished = Round(index, weak, w, edge, optimality_error, error)
            for callback in callbacks:
                callback(finished)
    except KeyboardInterrupt:
        # The rounds so far are a model of their own: boosting only ever adds to it.
        return INTERRUPTED
    return MAX_ROUNDS
