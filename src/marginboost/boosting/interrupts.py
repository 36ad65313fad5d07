"""Ctrl-C in a fit: the first one ends it, and the model is kept whatever comes after."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager
from types import FrameType
from typing import Self

__all__ = ["Interrupts"]


class Interrupts(AbstractContextManager["Interrupts"]):
    """While this is entered Ctrl-C raises KeyboardInterrupt once, and not while a model is put together.

    Only where Python's own handler is in place, and in the main thread, where signals come in; else
    everything is as it was.
    """

    def __init__(self) -> None:
        self._ours = False
        self._raised = False
        self._putting_together = False
        self._late = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._ours = True
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._ours = False
        if self._late and failure[0] is None:  # the fit has its model, and the program its Ctrl-C
            raise KeyboardInterrupt

    def put_together(self) -> None:
        """Say that the model is put together from now on, until `done`."""
        self._putting_together = True

    def done(self) -> None:
        """Say that there is a model."""
        self._putting_together = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._raised:
            return
        if self._putting_together:
            self._late = True
            return
        self._raised = True
        raise KeyboardInterrupt
