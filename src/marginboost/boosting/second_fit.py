"""A second fit beside the first, to calibrate it."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from marginboost.boosting.calibration import (
    Calibration,
    calibrate_held_out,
    class_frequencies,
    held_out_share,
)
from marginboost.boosting.loop import INTERRUPTED, MAX_ROUNDS, boost
from marginboost.model.builder import NoEnsemble

if TYPE_CHECKING:
    from marginboost.boosting.interrupts import Interrupts
    from marginboost.boosting.round import Round
    from marginboost.boosting.train import Algorithm, Options
    from marginboost.data.rows import Rows

__all__ = ["CalibrationFit"]


class StoppedError(Exception):
    """The result is no longer wanted."""


class CalibrationFit(AbstractContextManager["CalibrationFit"]):
    """A fit without some rows, for as many rounds as the first, and its calibration on those rows.

    It runs in a thread of its own, one round behind the first fit; or, where there is no thread to spare,
    when it is asked for the result. Two fits side by side keep two threads busy where one small fit
    could not. While it is entered the work may go on; afterwards nobody is left at work.

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
    beside : bool
        Whether it has a thread of its own.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        engine: Any,
        data: Rows,
        options: Options,
        interrupts: Interrupts,
        *,
        beside: bool,
    ) -> None:
        self._algorithm, self._engine, self._data = algorithm, engine, data
        self._options, self._interrupts = options, interrupts
        self._share = held_out_share(data.n_counted, data.n_classes)
        self._bounds = data.hash_bounds(algorithm.seed, self._share)
        self._changed = threading.Condition()
        self._n_rounds = 0  # that the first fit has done
        self._over = self._stopped = False
        self._found: Calibration | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True) if beside else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        with self._changed:
            self._stopped = self._over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def step(self, finished: Round) -> None:
        """Take note of a round of the first fit."""
        with self._changed:
            self._n_rounds = finished.number
            self._changed.notify_all()

    def result(self, n_rounds: int) -> Calibration:
        """Wait for the calibration after as many rounds as the first fit has kept.

        An exception in the work is raised here.
        """
        with self._changed:
            self._n_rounds, self._over = n_rounds, True
            self._changed.notify_all()
        if self._thread is None:
            return self._calibration()
        # In steps, so that Ctrl-C gets through on every system.
        while self._thread.is_alive():
            self._thread.join(0.1)
        if self._failure is not None:
            raise self._failure
        if self._found is None:
            raise StoppedError
        return self._found

    def _run(self) -> None:
        try:
            self._found = self._calibration()
        except StoppedError:
            pass
        except BaseException as failure:
            self._failure = failure

    def _calibration(self) -> Calibration:
        """Fit without some rows, and calibrate on those."""
        data, options = self._data, self._options
        method = self._algorithm.make_method(self._engine, data, self._bounds, 1)
        builder = NoEnsemble(data.binned.n_features, data.n_classes)
        if boost(method, options.n_rounds, builder, self._follow) == INTERRUPTED:
            raise KeyboardInterrupt
        held_out = self._engine.held_out()
        if not len(held_out.labels):  # fewer than five rows of every class
            return Calibration(self._algorithm.scale)
        n_rows = self._share * data.n_counted
        return calibrate_held_out(held_out, class_frequencies(data), n_rows)

    def _follow(self, finished: Round) -> str | None:
        """Wait for the first fit, and stop where it has stopped."""
        with self._changed:
            while not self._over and self._n_rounds <= finished.number:
                self._changed.wait()
            more = self._n_rounds > finished.number
        if self._stopped:
            raise StoppedError
        if self._interrupts.heard:
            raise KeyboardInterrupt
        return None if more else MAX_ROUNDS
