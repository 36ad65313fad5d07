"""The paper's Algorithm 1, written once."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.gains import share_out
from marginboost.boosting.round import Callback, Round
from marginboost.coefficients.grid import on_grid

if TYPE_CHECKING:
    from marginboost.coefficients import Solution
    from marginboost.model.builder import EnsembleBuilder

# Why a fit ended; `stop_reason_` holds one of these.
MAX_ROUNDS = "max_rounds"
NO_VIOLATED_CONSTRAINT = "no_violated_constraint"
INTERRUPTED = "interrupted"
EARLY_STOPPING = "early_stopping"
MAX_TIME = "max_time"
CALLBACK = "callback"


class Method(Protocol):
    """What tells one boosting method from another: the steps of its round.

    What a round finds (`found`) is a weak classifier, or one for each column of a code; only the method
    itself looks into it.
    """

    @property
    def training_loss(self) -> float:
        """The mean loss of a row after the start or the last update; NaN where it is not known."""
        ...

    def start(self) -> None:
        """Set the initial weights."""
        ...

    def train_weak_classifier(self) -> Any | None:
        """Find the best weak classifier; None where there is nothing left to learn from."""
        ...

    def edge(self, found: Any) -> float:
        """Tell its edge, in the units of the stopping rule."""
        ...

    def is_optimal(self, edge: float) -> bool:
        """Tell whether an edge is too small to go on."""
        ...

    def solve(self, found: Any) -> Solution:
        """Compute the coefficients of what was found."""
        ...

    def shrink(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shorten the step."""
        ...

    def update_weights(self, found: Any, w: NDArray[np.float64]) -> float:
        """Update the sample weights; return the training error, or NaN where it is not known."""
        ...

    def extend(
        self, builder: EnsembleBuilder, found: Any, w: NDArray[np.float64]
    ) -> Sequence[float] | NDArray[np.float64]:
        """Add the round to the ensemble; return what each new split gains, in any unit."""
        ...


def boost(
    method: Method, n_rounds: int, builder: EnsembleBuilder, callbacks: Sequence[Callback]
) -> str:
    """Boost for at most `n_rounds` rounds; every round goes to the builder and the callbacks.

    Parameters
    ----------
    method : Method
        The steps of a round.
    n_rounds : int
        Most rounds.
    builder : EnsembleBuilder
        Takes them; has none yet, or those that the method has been led through.
    callbacks : sequence of Callback
        Each gets every round; the first that gives a reason ends the fit after it.

    Returns
    -------
    str
        Why it ended.
    """
    try:
        if not len(builder):
            method.start()
        for number in range(len(builder) + 1, n_rounds + 1):
            found = method.train_weak_classifier()  # step 1
            if found is None:
                return NO_VIOLATED_CONSTRAINT
            edge = method.edge(found)
            if method.is_optimal(edge):  # step 2
                return NO_VIOLATED_CONSTRAINT
            began = perf_counter()
            w, optimality_error, _ = method.solve(found)  # step 4
            coefficient_seconds = perf_counter() - began
            w = on_grid(method.shrink(w))
            if not w.any():  # optimal up to rounding: all rounds to come would be this one
                return NO_VIOLATED_CONSTRAINT
            loss_before = method.training_loss
            error = method.update_weights(found, w)  # step 5
            loss = method.training_loss
            gains = method.extend(builder, found, w)  # step 3
            finished = Round(
                number,
                w,
                edge,
                optimality_error,
                error,
                share_out(loss_before - loss, gains),
                training_loss=loss,
                coefficient_seconds=coefficient_seconds,
            )
            reasons = [reason for callback in callbacks if (reason := callback(finished))]
            if reasons:
                return reasons[0]
    except KeyboardInterrupt:
        # The rounds so far are a model of their own: boosting only ever adds to it.
        return INTERRUPTED
    return MAX_ROUNDS
