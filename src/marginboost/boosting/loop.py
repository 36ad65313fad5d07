"""The paper's Algorithm 1, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.round import Callback, Round, share_of_fall

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

    What a round finds (`found`) is a weak classifier, or one for each output; only the method
    itself looks into it.
    """

    @property
    def training_loss(self) -> float:
        """The mean loss of a row after the start or the last update; NaN where it is not known."""
        ...

    def start(self) -> None:
        """Set the initial weights."""
        ...

    def look_ahead(self, n_rounds: int) -> None:
        """Allow so many rounds, the next included, to be found before they are asked for."""
        ...

    def take_ahead(self, builder: EnsembleBuilder, number: int) -> Round | None:
        """Take the next round whole, if it was found before it was asked for."""
        ...

    def train_weak_classifier(self) -> Any | None:
        """Find the best weak classifier; None where there is nothing left to learn from."""
        ...

    def edge(self, found: Any) -> float:
        """Return its edge, in the units of the stopping rule."""
        ...

    def is_optimal(self, edge: float) -> bool:
        """Return whether an edge is too small to go on."""
        ...

    def solve(self, found: Any) -> Solution:
        """Compute the coefficients of what was found."""
        ...

    def shrink(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shorten the step, and round it to the grid of coefficients."""
        ...

    def update_weights(self, found: Any, w: NDArray[np.float64]) -> float:
        """Update the sample weights; return the training error, or NaN where it is not known."""
        ...

    def extend(
        self, builder: EnsembleBuilder, found: Any, w: NDArray[np.float64]
    ) -> Sequence[float] | NDArray[np.float64]:
        """Add the round to the ensemble; return what each new split gains, in any unit."""
        ...

    def keep_rounds(self, builder: EnsembleBuilder, n_rounds: int) -> None:
        """Undo what rounds after the first `n_rounds` did to those."""
        ...


class Step(NamedTuple):
    """A step that a round takes.

    Attributes
    ----------
    found : object
        What `train_weak_classifier` found.
    w : float64 array
        Its coefficients, shortened.
    edge : float
        Its edge.
    optimality_error : float
        Of the coefficients, before they were shortened.
    seconds : float
        That the coefficients took.
    """

    found: Any
    w: NDArray[np.float64]
    edge: float
    optimality_error: float
    seconds: float


def boost(
    method: Method,
    n_rounds: int,
    builder: EnsembleBuilder,
    callback: Callback,
    earlier: Iterable[Round] = (),
    horizon: Callable[[int], int] | None = None,
) -> str:
    """Boost for at most `n_rounds` rounds; every round goes to the builder and the callback.

    Parameters
    ----------
    method : Method
        The steps of a round.
    n_rounds : int
        Most rounds.
    builder : EnsembleBuilder
        Collects the rounds; has none yet.
    callback : Callback
        Gets every round; a reason that it returns ends the fit after it.
    earlier : iterable of Round
        Rounds of a model that the fit resumes, taken one by one as the method is led through them;
        see `marginboost.boosting.resume`.
    horizon : callable, optional
        Gets the number of the next round; returns how many rounds from there on may be found at once,
        because nobody looks at the engine between them. By default one.

    Returns
    -------
    str
        Why it ended.
    """
    method.start()
    for _ in earlier:
        pass
    try:
        for number in range(len(builder) + 1, n_rounds + 1):
            if horizon is not None:
                method.look_ahead(horizon(number))
            finished = method.take_ahead(builder, number)
            if finished is None:
                step = find_step(method)
                if step is None:
                    return NO_VIOLATED_CONSTRAINT
                finished = take_step(method, builder, number, step)
            reason = callback(finished)
            if reason:
                return reason
    except KeyboardInterrupt:
        # The rounds so far are a model of their own: boosting only ever adds to it.
        return INTERRUPTED
    return MAX_ROUNDS


def find_step(method: Method) -> Step | None:
    """Find the step of the next round; None where there is nothing left to gain."""
    found = method.train_weak_classifier()  # step 1
    if found is None:
        return None
    edge = method.edge(found)
    if method.is_optimal(edge):  # step 2
        return None
    began = perf_counter()
    w, optimality_error, _ = method.solve(found)  # step 4
    seconds = perf_counter() - began
    w = method.shrink(w)
    if not w.any():  # optimal up to rounding: all rounds to come would be this one
        return None
    return Step(found, w, edge, optimality_error, seconds)


def take_step(method: Method, builder: EnsembleBuilder, number: int, step: Step) -> Round:
    """Update the weights, and add the round to the ensemble."""
    loss_before = method.training_loss
    error = method.update_weights(step.found, step.w)  # step 5
    loss = method.training_loss
    gains = np.asarray(method.extend(builder, step.found, step.w), dtype=np.float64)  # step 3
    return Round(
        number,
        step.w,
        step.edge,
        step.optimality_error,
        error,
        gains * share_of_fall(loss_before - loss, float(gains.sum())),
        training_loss=loss,
        coefficient_seconds=step.seconds,
    )
