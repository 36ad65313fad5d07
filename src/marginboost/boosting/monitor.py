"""The monitor of the rounds of a fit: clock, validation rows, callbacks, early stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from marginboost.boosting.loop import CALLBACK, EARLY_STOPPING, INTERRUPTED, MAX_TIME
from marginboost.boosting.round import Round

if TYPE_CHECKING:
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.notebook_progress import NotebookProgress
    from marginboost.boosting.progress import Progress
    from marginboost.boosting.stopping import EarlyStopping
    from marginboost.boosting.validation import ValidationScore

__all__ = ["Monitor"]

# Takes a finished round; what is true, True say, ends the fit.
Observer = Callable[[Round], object]


class Monitor:
    """A callback of the loop that completes the rounds' records, keeps them, and may end the fit.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    began : float
        When the fit began, by `time.perf_counter`.
    evaluate : callable or None
        Score the validation rows after the round; None where there are no validation rows.
    stopping : EarlyStopping or None
        Ends the fit by the validation loss.
    max_time : float or None
        Seconds after which the fit ends, with the round in which they pass.
    callbacks : sequence of callables
        Each gets every round; one that returns True ends the fit.
    progress : Progress, NotebookProgress or None
        Shows the rounds.
    listeners : sequence of callables
        Get every round too, and those of an earlier fit.
    interrupts : Interrupts or None
        Tells of a Ctrl-C whose exception got lost.
    """

    def __init__(
        self,
        n_rounds: int,
        *,
        began: float,
        evaluate: Callable[[], ValidationScore] | None = None,
        stopping: EarlyStopping | None = None,
        max_time: float | None = None,
        callbacks: Sequence[Observer] = (),
        progress: Progress | NotebookProgress | None = None,
        listeners: Sequence[Callable[[Round], None]] = (),
        interrupts: Interrupts | None = None,
    ) -> None:
        self._n_rounds = n_rounds
        self._began = began
        self._evaluate = evaluate
        self._stopping = stopping
        self._max_time = max_time
        self._callbacks = callbacks
        self.progress = progress
        self._listeners = listeners
        self._interrupts = interrupts
        self._n_earlier = 0
        self._spent_before = 0.0
        self.rounds: list[Round] = []
        self._loop_began = time.perf_counter()

    def restore(self, known: Round, seconds: float) -> None:
        """Take note of a round of an earlier fit, which this one goes on with.

        Parameters
        ----------
        known : Round
            The round.
        seconds : float
            When it was over, in the earlier fit.
        """
        if self._evaluate is not None:
            known = _with_score(known, self._evaluate())
        known = known._replace(seconds=seconds)
        self._add(known)
        if self._stopping is not None:
            self._stopping.is_over(known.validation_loss)
        self._n_earlier = len(self.rounds)
        self._spent_before = seconds
        self._loop_began = time.perf_counter()

    def __call__(self, finished: Round) -> str | None:
        """Take note of a round; return why the fit shall end with it, or None."""
        if self._evaluate is not None:
            finished = _with_score(finished, self._evaluate())
        now = time.perf_counter()
        finished = finished._replace(
            seconds=self._spent_before + now - self._began,
            seconds_left=self._left(finished.number, now),
        )
        self._add(finished)
        if self.progress is not None:
            self.progress(finished)
        # All of them are asked: one may have something to write down.
        stops = [bool(callback(finished)) for callback in self._callbacks]
        if self._interrupts is not None and self._interrupts.heard:
            return INTERRUPTED
        if any(stops):
            return CALLBACK
        if self._stopping is not None and self._stopping.is_over(finished.validation_loss):
            return EARLY_STOPPING
        if self._max_time is not None and now - self._began >= self._max_time:
            return MAX_TIME
        return None

    def _add(self, finished: Round) -> None:
        self.rounds.append(finished)
        for listen in self._listeners:
            listen(finished)

    def _left(self, done: int, now: float) -> float:
        a_round = (now - self._loop_began) / (done - self._n_earlier)
        left = a_round * (self._n_rounds - done)
        if self._max_time is not None:
            left = min(left, max(0.0, self._max_time - (now - self._began)))
        return left


def _with_score(finished: Round, score: ValidationScore) -> Round:
    return finished._replace(validation_error=score.error, validation_loss=score.loss)
