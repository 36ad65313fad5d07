"""A second fit beside the first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from marginboost.boosting.round import Round

# Work calls this now and then; it raises where nobody wants the result any more.
Check = Callable[[], None]
Found = TypeVar("Found")


class StoppedError(Exception):
    """The result is not wanted any more."""


class Pace:
    """Keeps a second fit a round behind the first, so that it does as many rounds and no more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._n_rounds = 0
        self._over = False

    def step(self, finished: Round) -> None:
        """Take note of a round of the first fit."""
        with self._changed:
            self._n_rounds = finished.number
            self._changed.notify_all()

    def end(self, n_rounds: int) -> None:
        """Say that the first fit is over, after so many rounds."""
        with self._changed:
            self._n_rounds, self._over = n_rounds, True
            self._changed.notify_all()

    def has_more(self, n_done: int) -> bool:
        """Tell whether a second fit that has done some rounds has another to do; may have to wait."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._n_rounds > n_done)
            return self._n_rounds > n_done


class SecondFit(Generic[Found]):
    """Work for a result, in a thread of its own or, where there is none to spare, when asked for it.

    Two fits side by side keep two threads busy where one small fit could not.

    Parameters
    ----------
    work : callable
        Takes a `Check` and returns the result. It leaves the interpreter's lock alone most of the time.
    beside : bool
        Whether it has a thread of its own.
    """

    def __init__(self, work: Callable[[Check], Found], *, beside: bool) -> None:
        self._work = work
        self._stopped = threading.Event()
        self._found: Found | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True) if beside else None
        if self._thread is not None:
            self._thread.start()

    def result(self) -> Found:
        """Wait for it; an exception in the work is raised here."""
        if self._thread is None:
            return self._work(self._check)
        # In steps, so that Ctrl-C gets through on every system.
        while self._thread.is_alive():
            self._thread.join(0.1)
        if self._failure is not None:
            raise self._failure
        if self._found is None:
            raise StoppedError
        return self._found

    def stop(self) -> None:
        """End the work at its next check, and wait for that."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _check(self) -> None:
        if self._stopped.is_set():
            raise StoppedError

    def _run(self) -> None:
        try:
            self._found = self._work(self._check)
        except StoppedError:
            pass
        except BaseException as failure:
            self._failure = failure
