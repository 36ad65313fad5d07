"""Ctrl-C in a fit: the first one ends it, and the model is kept whatever comes after."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Self

__all__ = ["Interrupts"]

# Seconds in which the first Ctrl-C gets to where the model is put together.
_AT_ONCE = 1.0


class Interrupts(AbstractContextManager["Interrupts"]):
    """While this is entered Ctrl-C raises KeyboardInterrupt, but not while a model is put together.

    One that comes at once after another is taken for the same. Only where Python's own handler is in
    place, and in the main thread, where signals come in; else everything is as it was.

    A Ctrl-C may come just as this is left, before Python's handler is back. The next Ctrl-C or the next
    fit finds that the function that entered is gone, and puts it back.

    Attributes
    ----------
    heard : bool
        Whether there was one. The exception alone may get lost: Python drops those that are raised while
        it cleans up after something else.
    deferred : bool
        Whether a Ctrl-C waits, as there is a model to keep. It is raised when the fit is over.
    """

    def __init__(self) -> None:
        self.heard = False
        self._ours = False
        self._last = -math.inf
        self.deferred = False
        self._late = False
        self._frame: FrameType | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        frame = sys._getframe(1)
        handler = signal.getsignal(signal.SIGINT)
        earlier = getattr(handler, "__self__", None)
        if isinstance(earlier, Interrupts) and not earlier._is_entered(frame):
            earlier._restore()
            handler = signal.default_int_handler
        if handler is signal.default_int_handler:
            self._ours, self._frame = True, frame
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._ours:
            self._restore()
        if self._late and failure[0] is None:  # the fit has its model, and the program its Ctrl-C
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise a Ctrl-C at once after all, for a while."""
        self.deferred = False
        try:
            yield
        finally:
            self.deferred = True

    def _restore(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._ours, self._frame = False, None

    def _is_entered(self, frame: FrameType | None) -> bool:
        """Return whether the function that entered is the one of a frame, or one that called it."""
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is not None

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self._is_entered(frame):
            self._restore()
            raise KeyboardInterrupt
        now = time.monotonic()
        if now - self._last < _AT_ONCE:
            return
        if self.deferred:
            self._late = True
            return
        self.heard = True
        self._last = now
        raise KeyboardInterrupt
