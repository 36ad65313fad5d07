"""How much of the time that a user gives is over."""

from __future__ import annotations

import time

__all__ = ["TimeLimit"]

# The only clock that a search reads; tests replace it.
clock = time.monotonic


class TimeLimit:
    """A time that begins now.

    Parameters
    ----------
    seconds : float
        How long it is.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = clock()

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return clock() - self._began
