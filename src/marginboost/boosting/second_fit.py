"""A second fit beside the first."""

from __future__ import annotations

import threading
from collections.abc import Callable

# Work calls this now and then; it raises where nobody wants the result any more.
Check = Callable[[], None]


class StoppedError(Exception):
    """The result is not wanted any more."""


class SecondFit:
    """Work for a number, in a thread of its own or, where there is none to spare, when asked for it.

    Two fits side by side keep two threads busy where one small fit could not.

    Parameters
    ----------
    work : callable
        Takes a `Check` and returns the number. It leaves the interpreter's lock alone most of the time.
    beside : bool
        Whether it has a thread of its own.
    """

    def __init__(self, work: Callable[[Check], float], *, beside: bool) -> None:
        self._work = work
        self._stopped = threading.Event()
        self._found = float("nan")
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True) if beside else None
        if self._thread is not None:
            self._thread.start()

    def result(self) -> float:
        """Wait for the number; an exception in the work is raised here."""
        if self._thread is None:
            return self._work(self._check)
        # In steps, so that Ctrl-C gets through on every system.
        while self._thread.is_alive():
            self._thread.join(0.1)
        if self._failure is not None:
            raise self._failure
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
