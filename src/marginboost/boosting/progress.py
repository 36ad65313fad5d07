"""Progress on the terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from marginboost.boosting.record import Round


class Progress:
    """A callback that shows how far a fit is.

    In a terminal one line is rewritten a few times a second; elsewhere a line is printed after
    rounds 1, 2, 5, 10, 20, 50, ... and after the last.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    stream : text stream, default sys.stderr
        Where to write.
    """

    def __init__(self, n_rounds: int, stream: TextIO | None = None) -> None:
        self._n_rounds = n_rounds
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._start = self._shown = time.perf_counter()
        self._last: Round | None = None

    def __call__(self, finished: Round) -> None:
        """Take note of a round."""
        self._last = finished
        now = time.perf_counter()
        if self._live:
            if now - self._shown >= 0.1:
                self._shown = now
                self._rewrite(self._line(finished, now))
        elif str(finished.number + 1).rstrip("0") in ("1", "2", "5"):
            self._stream.write(self._line(finished, now) + "\n")

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        rounds = "no round" if self._last is None else self._line(self._last, time.perf_counter())
        if self._live:
            self._rewrite(f"{rounds}  [{reason}]\n")
        else:
            self._stream.write(f"ended: {rounds}  [{reason}]\n")
        self._stream.flush()

    def _rewrite(self, line: str) -> None:
        self._stream.write("\r\x1b[K" + line)  # clears what a longer line would leave behind
        self._stream.flush()

    def _line(self, finished: Round, now: float) -> str:
        done = finished.number + 1
        spent = now - self._start
        left = spent / done * (self._n_rounds - done)
        error = finished.training_error
        return (
            f"round {done:>{len(str(self._n_rounds))}}/{self._n_rounds}"
            + ("" if math.isnan(error) else f"  training error {100 * error:6.2f} %")
            + f"  edge {finished.edge:.2e}  {spent:6.1f} s, {left:.1f} s left"
        )
