"""Trials of a candidate: fits without some rows, and what their scores of those rows are worth."""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.calibration import (
    Floats,
    best_step,
    held_out_share,
    logs_of,
    mean_log_loss,
    scale_of,
)
from marginboost.boosting.loop import EARLY_STOPPING, INTERRUPTED, MAX_ROUNDS, boost
from marginboost.boosting.second_fit import SecondFit
from marginboost.data.row_view import RowView
from marginboost.model.builder import NoEnsemble

if TYPE_CHECKING:
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Candidate
    from marginboost.data.rows import Rows

__all__ = ["HeldOutScores", "Trial", "Trials", "n_trials", "share_of_errors"]

# Rounds after which the held-out rows are scored.
CHECKPOINTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 65, 80, 100, 125, 150, 200, 250, 300)
# A trial ends after so many checkpoints without an improvement.
PATIENCE = 3
# After so many rounds a trial ends where its loss stays above so many times another candidate's.
ROUNDS_TO_COMPARE, HOPELESS = 30, 1.1
# Fewer rows are held out more often: (fewer rows than this, trials).
TRIALS = ((500, 4), (1500, 3), (4000, 2))
# Held-out rows of one trial that tell whether data are clean.
ROWS_TO_TELL = 90


def n_trials(n_counted: int) -> int:
    """Return how many trials a candidate gets."""
    return next((trials for most, trials in TRIALS if n_counted < most), 1)


class HeldOutScores(NamedTuple):
    """Scores of rows that a fit did not see.

    Attributes
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i].
    labels : int64 array
        Class number of each row.
    weight : float64 array
        Weight of each row, with all its copies.
    copies : int64 array
        How often each row counts.
    """

    logs: Floats
    labels: NDArray[np.int64]
    weight: Floats
    copies: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The weighted share of rows that another class scores as high as their own."""
        return share_of_errors(self.logs, self.labels, self.weight)


def share_of_errors(logs: Floats, labels: NDArray[np.int64], weight: Floats) -> float:
    """Return the weighted share of rows that another class scores as high as their own."""
    others = logs.copy()
    others[np.arange(len(others)), labels] = -np.inf
    return float(weight[others.max(axis=1) >= 0.0].sum() / weight.sum())


@dataclass(slots=True)
class Trial:
    """One fit without some rows.

    Attributes
    ----------
    n_rounds : list of int
        Rounds after which the held-out rows were scored.
    losses : list of float
        Their mean log loss, at the scale of least loss.
    scores : list of HeldOutScores
        Their scores, with logs in single precision.
    """

    n_rounds: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    scores: list[HeldOutScores] = field(default_factory=list)

    def after(self, n_rounds: int) -> int:
        """Return the position of the last checkpoint that is not after a round."""
        return max(int(np.searchsorted(self.n_rounds, n_rounds, side="right")) - 1, 0)

    @property
    def is_over(self) -> bool:
        """Whether the loss has not fallen for a while."""
        return int(np.argmin(self.losses)) < len(self.losses) - PATIENCE

    def is_hopeless(self, most_rounds: int, to_beat: float) -> bool:
        """Whether the loss will stay far above another's.

        It is taken to fall, with each doubling of the rounds, as much as it did with the last one.
        """
        now = self.n_rounds[-1]
        if now < ROUNDS_TO_COMPARE:
            return False
        least = min(self.losses)
        fall = min(self.losses[: self.after(now // 2) + 1]) - least
        return least - fall * math.log2(most_rounds / now) > HOPELESS * to_beat


class Trials(SecondFit[list[Trial]]):
    """The trials of a candidate, some beside the fit of the model.

    The first says how many rounds the others have, and whether there are others.

    Parameters
    ----------
    candidate : Candidate
        What is tried.
    n_wanted : int
        How many trials there are.
    engines : sequence of objects
        Run the trials that are beside the first fit, each in a thread of its own.
    data : Rows
        The rows of the first fit.
    seed : int
        The rows of each trial are held out by this number and those that follow.
    interrupts : Interrupts
        A Ctrl-C ends the trials too.
    deadline : float
        When trials must end, by `time.perf_counter`.
    clean : float
        If the first trial has a smaller error, on enough rows, it is the only one.
    to_beat : float
        The least loss of the first trial of other candidates.
    """

    def __init__(
        self,
        candidate: Candidate,
        n_wanted: int,
        engines: Sequence[Any],
        data: Rows,
        seed: int,
        interrupts: Interrupts,
        *,
        deadline: float,
        clean: float = 0.0,
        to_beat: float = math.inf,
    ) -> None:
        super().__init__(interrupts, beside=len(engines))
        self._deadline = deadline
        self._clean = clean
        self._to_beat = to_beat
        self._candidate, self._engines, self._data, self._seed = candidate, engines, data, seed
        self._share = held_out_share(data.n_counted, data.n_classes)
        self._trials = [Trial() for _ in range(n_wanted)]
        self._left = list(enumerate(self._trials))
        self._lock = threading.Lock()
        self._last = 0  # round of the first trial
        self._most = candidate.n_rounds
        self._first_is_over = threading.Event()
        self.is_clean = False  # so that the first trial is the only one

    @property
    def n_rows(self) -> float:
        """About how many rows are held out, in all trials."""
        return self._share * self._data.n_counted * len(self._trials)

    def last_round(self) -> int | None:
        """Return the last round of the first trial; None before it is over."""
        return self._last if self._first_is_over.is_set() else None

    def run_first(self, engine: Any) -> None:
        """Run the first trial here and now."""
        self._run_next(engine)

    def results(self, engine: Any) -> list[Trial]:
        """Run the trials that are left, with an engine that is idle, and wait for the others."""
        while self._run_next(engine):
            pass
        if self._threads:
            self._wait()
        return self._trials

    def first_alone(self, n_rounds: int) -> list[Trial]:
        """End the first trial after so many rounds, if it has not ended yet, and leave out the others."""
        with self._lock:
            self._left.clear()
        self._most = n_rounds
        if self._threads:
            self._wait()
        return self._trials[:1]

    def _work(self, number: int) -> list[Trial]:
        while self._run_next(self._engines[number]):
            pass
        return self._trials

    def _run_next(self, engine: Any) -> bool:
        """Run the next trial; return whether there was one."""
        taken = self._take(first=True)
        if taken is None:
            while not self._first_is_over.wait(0.1):  # in steps, so that Ctrl-C gets through
                self._check()
            taken = self._take(first=False)
        if taken is None:
            return False
        number, trial = taken
        try:
            self._run_trial(engine, number, trial)
            if number == 0 and self._looks_clean(trial):
                self.is_clean = True
                with self._lock:
                    self._left.clear()
                    del self._trials[1:]
        finally:
            if number == 0:
                self._first_is_over.set()
        return True

    def _take(self, *, first: bool) -> tuple[int, Trial] | None:
        """Take the next trial, or the first one, if it is left."""
        with self._lock:
            if not self._left or (first and self._left[0][0] > 0):
                return None
            return self._left.pop(0)

    def _looks_clean(self, trial: Trial) -> bool:
        """Whether a trial has few errors, and enough rows to tell."""
        if not trial.losses or self._share * self._data.n_counted < ROWS_TO_TELL:
            return False
        return trial.scores[int(np.argmin(trial.losses))].error < self._clean

    def _is_over(self, trial: Trial) -> bool:
        """Whether more rounds would change nothing."""
        if not trial.n_rounds or trial.n_rounds[-1] < self._candidate.least_rounds:
            return False
        if trial.is_over:
            return True
        # Few rows, which have several trials, say too little.
        alone = len(self._trials) == 1
        return alone and trial.is_hopeless(self._candidate.n_rounds, self._to_beat)

    def _run_trial(self, engine: Any, number: int, trial: Trial) -> None:
        """Fit without some rows, and score those after some rounds."""
        seed = self._seed + number
        bounds = self._data.hash_bounds(seed, self._share)
        data = self._data.relearned(RowView(seed, bounds))
        method = self._candidate.make_method(engine, data, bounds, 1 + number, seed)
        builder = NoEnsemble(data.binned.n_features, data.n_classes)
        done = 0
        step = 0
        order = None
        # The fit of the model ends with the first trial: later rounds could not be chosen.
        most = self._candidate.n_rounds if number == 0 else self._last

        def score(n_rounds: int) -> None:
            nonlocal step, order
            held_out = engine.held_out()
            order = held_out.order() if order is None else order
            scores = HeldOutScores(*logs_of(held_out, order))
            if not len(scores.labels):
                return
            step = best_step(scores.logs, scores.weight, self.n_rows, near=step)
            trial.n_rounds.append(n_rounds)
            trial.losses.append(mean_log_loss(scores.logs * scale_of(step), scores.weight))
            trial.scores.append(scores._replace(logs=scores.logs.astype(np.float32)))

        def follow(finished: Round) -> str | None:
            nonlocal done
            self._check()
            done = finished.number
            if done >= self._most or perf_counter() >= self._deadline:
                return MAX_ROUNDS
            if done not in CHECKPOINTS:
                return None
            score(done)
            return EARLY_STOPPING if self._is_over(trial) else None

        def horizon(number: int) -> int:
            place = bisect_left(CHECKPOINTS, number)
            return min(*CHECKPOINTS[place : place + 1], most, most) - number + 1

        if boost(method, most, builder, follow, horizon=horizon) == INTERRUPTED:
            raise KeyboardInterrupt
        if not trial.n_rounds or trial.n_rounds[-1] < done:
            score(done)
        if number == 0:
            self._last = done
