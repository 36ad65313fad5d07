"""More fits of the same settings, with other random numbers: a mean depends less on what trees draw."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from marginboost.boosting.loop import INTERRUPTED, MAX_TIME, boost
from marginboost.boosting.second_fit import SecondFit
from marginboost.model.builder import EnsembleBuilder

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Candidate, Run

__all__ = ["Repeat", "Repeats", "n_repeats", "side_by_side"]

# The fewer rows, the more a fit depends on what its trees draw: (fewer rows than this, repeats). One and
# the repeats are a power of two, so that the mean of exact coefficients is exact.
REPEATS = ((4_000, 3), (20_000, 1))
# With more pairs of a row and a class the model would get large: each leaf has a coefficient per class.
MOST_PAIRS = 400_000
# Parts of a model that have repeats.
MOST_PARTS = 3
# Random numbers of the first repeat; the model and its trials have smaller numbers.
FIRST_STREAM = 100


def n_repeats(n_rows: int, n_classes: int) -> int:
    """Return how many more fits there are of each part of a model."""
    if n_rows * n_classes > MOST_PAIRS:
        return 0
    return next((more for most, more in REPEATS if n_rows < most), 0)


def side_by_side(n_rows: int, n_classes: int, n_threads: int) -> int:
    """Return how many fits run side by side: those of few rows could not share threads."""
    return min(n_threads, max(2, MOST_PARTS * n_repeats(n_rows, n_classes)))


class Repeat(NamedTuple):
    """One more fit.

    Attributes
    ----------
    builder : EnsembleBuilder
        Holds its rounds.
    rounds : list of Round
        What is known of each.
    """

    builder: EnsembleBuilder
    rounds: list[Round]


class Repeats(SecondFit[bool]):
    """Repeats of some fits, shared out between engines.

    Parameters
    ----------
    run : Run
        The rows, and what the user asks for.
    fits : sequence of (Candidate, int)
        What to fit, and for how many rounds.
    engines : sequence of objects
        Run the fits that are beside those of `results`, each in a thread of its own.
    """

    def __init__(
        self, run: Run, fits: Sequence[tuple[Candidate, int]], engines: Sequence[Any]
    ) -> None:
        super().__init__(run.interrupts, beside=len(engines))
        self._run_of, self._fits, self._engines = run, fits, engines
        more = n_repeats(run.data.n_counted, run.data.n_classes)
        drawn = [place for place, (candidate, _) in enumerate(fits) if _draws(candidate)]
        self._left = [(place, number) for number in range(more) for place in drawn]
        self._n_wanted = len(self._left)
        self._done: dict[tuple[int, int], Repeat] = {}
        self._n_ended = 0
        self._lock = threading.Lock()
        limit = run.options.max_time
        self._deadline = math.inf if limit is None else run.began + limit

    def results(self, engine: Any) -> list[list[Repeat]]:
        """Fit, with an engine that is idle, and wait for the others; return the repeats of each fit.

        A repeat that runs out of time is left out.
        """
        while self._run_next(engine):
            pass
        if self._threads:
            self._wait()
        return [
            [self._done[key] for key in sorted(self._done) if key[0] == place]
            for place in range(len(self._fits))
        ]

    @property
    def is_complete(self) -> bool:
        """Whether no repeat ran out of time."""
        return self._n_ended == self._n_wanted

    def _work(self, number: int) -> bool:
        while self._run_next(self._engines[number]):
            pass
        return True

    def _run_next(self, engine: Any) -> bool:
        """Run the next repeat; return whether there was one."""
        with self._lock:
            if not self._left:
                return False
            place, number = self._left.pop(0)
        (candidate, n_rounds), data = self._fits[place], self._run_of.data
        seed = self._run_of.algorithm.seed
        method = candidate.make_method(engine, data, None, FIRST_STREAM + number, seed)
        repeat = Repeat(EnsembleBuilder(data.binned.n_features, data.n_classes), [])

        def follow(finished: Round) -> str | None:
            self._check()
            now = perf_counter()
            repeat.rounds.append(finished._replace(seconds=now - self._run_of.began))
            return MAX_TIME if now >= self._deadline else None

        def horizon(after: int) -> int:
            return n_rounds - after + 1

        reason = boost(method, n_rounds, repeat.builder, follow, horizon=horizon)
        if reason == INTERRUPTED:
            raise KeyboardInterrupt
        with self._lock:
            self._n_ended += reason != MAX_TIME
            if reason != MAX_TIME and repeat.builder.n_splits:
                self._done[place, number] = repeat
        return True


def _draws(candidate: Candidate) -> bool:
    """Whether trees see different rows or features, so that a repeat differs from the first fit."""
    return candidate.settings.subsample < 1.0 or candidate.settings.max_features < 1.0
