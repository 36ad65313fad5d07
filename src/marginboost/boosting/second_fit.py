"""Fits beside the fit of the model, without some of its rows."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from marginboost.boosting.calibration import (
    Calibration,
    best_calibration,
    calibrated_rows,
    class_frequencies,
    held_out_share,
    logs_of,
)
from marginboost.boosting.loop import INTERRUPTED, MAX_ROUNDS, boost
from marginboost.data.row_view import RowView
from marginboost.model.builder import NoEnsemble

if TYPE_CHECKING:
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Algorithm, Options
    from marginboost.data.rows import Rows
    from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["CalibrationFit", "SecondFit"]

Result = TypeVar("Result")


class StoppedError(Exception):
    """The result is no longer wanted."""


class SecondFit(AbstractContextManager["SecondFit[Result]"], ABC, Generic[Result]):
    """Work in threads of its own, or, where there is no thread to spare, when its result is asked for.

    Fits side by side keep threads busy where one small fit could not. While it is entered the work may
    go on; afterwards nobody is left at work.

    Parameters
    ----------
    interrupts : Interrupts
        A Ctrl-C ends this work too.
    beside : int
        How many threads of its own it has.
    """

    def __init__(self, interrupts: Interrupts, *, beside: int) -> None:
        self._interrupts = interrupts
        self._changed = threading.Condition()
        self._over = self._stopped = False
        self._found: Result | None = None
        self._failure: BaseException | None = None
        self._threads: list[threading.Thread] = []
        for number in range(beside):
            thread = threading.Thread(target=self._run, args=(number,), daemon=True)
            self._threads.append(thread)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        with self._changed:
            self._stopped = self._over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    @abstractmethod
    def _work(self, number: int) -> Result:
        """Do the work of a thread, which has a number, with a call of `_check` now and then."""

    def _wait(self) -> Result:
        """Wait for the result. An exception in the work is raised here."""
        if not self._threads:
            return self._work(0)
        # In steps, so that Ctrl-C gets through on every system.
        for thread in self._threads:
            while thread.is_alive():
                thread.join(0.1)
        if self._failure is not None:
            raise self._failure
        if self._found is None:
            raise StoppedError
        return self._found

    def _run(self, number: int) -> None:
        try:
            self._found = self._work(number)
        except StoppedError:
            pass
        except BaseException as failure:
            self._failure = failure

    def _check(self) -> None:
        if self._stopped:
            raise StoppedError
        if self._interrupts.heard:
            raise KeyboardInterrupt


class CalibrationFit(SecondFit[Calibration]):
    """A fit without some rows, for as many rounds as the first, and its calibration on those rows.

    It runs one round behind the first fit.

    Parameters
    ----------
    algorithm : Algorithm
        Makes the method.
    engine : object
        Runs it.
    data : Rows
        The rows of the first fit.
    options : Options
        Of the first fit.
    interrupts : Interrupts
        A Ctrl-C ends this fit too.
    beside : int
        How many threads of its own it has: one or none.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        engine: Any,
        data: Rows,
        options: Options,
        interrupts: Interrupts,
        *,
        beside: int,
    ) -> None:
        super().__init__(interrupts, beside=beside)
        self._algorithm, self._engine, self._data = algorithm, engine, data
        self._options = options
        self._share = held_out_share(data.n_counted, data.n_classes)
        self._bounds = data.hash_bounds(algorithm.seed, self._share)
        self._n_rounds = 0  # that the first fit has done
        self.held_out: CalibrationRows | None = None  # what the result was found by

    def step(self, finished: Round) -> None:
        """Take note of a round of the first fit."""
        with self._changed:
            self._n_rounds = finished.number
            self._changed.notify_all()

    def result(self, n_rounds: int) -> Calibration:
        """Wait for the calibration after as many rounds as the first fit has kept."""
        with self._changed:
            self._n_rounds, self._over = n_rounds, True
            self._changed.notify_all()
        return self._wait()

    def _work(self, number: int) -> Calibration:
        """Fit without some rows, and calibrate on those."""
        options = self._options
        data = self._data.relearned(RowView(self._algorithm.seed, self._bounds))
        method = self._algorithm.make_method(self._engine, data, self._bounds, 1)
        builder = NoEnsemble(data.binned.n_features, data.n_classes)
        reason = boost(method, options.n_rounds, builder, self._follow, horizon=self._horizon)
        if reason == INTERRUPTED:
            raise KeyboardInterrupt
        held_out = self._engine.held_out()
        if not len(held_out.labels):  # fewer than five rows of every class
            return Calibration(self._algorithm.scale)
        n_rows = self._share * data.n_counted
        frequencies = class_frequencies(data)
        logs, labels, weight, copies = logs_of(held_out)
        found = best_calibration(logs, labels, weight, frequencies, n_rows)
        self.held_out = calibrated_rows(logs, labels, weight, copies, found, frequencies)
        return found

    def _horizon(self, number: int) -> int:
        """Return how many rounds are sure to be asked for: all before the first fit's last."""
        return self._n_rounds - number

    def _follow(self, finished: Round) -> str | None:
        """Wait for the first fit, and stop where it has stopped."""
        self._check()
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._n_rounds > finished.number)
            more = self._n_rounds > finished.number
        self._check()
        return None if more else MAX_ROUNDS
