"""Progress on the terminal, or in a notebook."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from marginboost.boosting.notebook_progress import NotebookProgress
from marginboost.boosting.stop_words import describe_stop
from marginboost.shell import is_notebook

if TYPE_CHECKING:
    from marginboost.boosting.round import Round

__all__ = ["Lines", "Progress", "Steps", "make_lines", "make_progress", "make_steps"]

_REFRESH_SECONDS = 0.1
_BAR_WIDTH = 20
_CLEAR = "\r\x1b[K"  # back to the start of the line, and nothing behind it


def make_progress(n_rounds: int) -> Progress | NotebookProgress | None:
    """Return what shows the progress of a fit: a notebook's output, or stderr.

    None if stderr cannot be written to.
    """
    if is_notebook():
        from IPython.display import display  # noqa: PLC0415 - a kernel runs, so it is loaded

        return NotebookProgress(n_rounds, display)
    stream = sys.stderr  # a program without a window may have none
    if stream is None or getattr(stream, "closed", False):
        return None
    return Progress(n_rounds, stream)


def make_lines() -> Lines | None:
    """Return what writes lines to stderr; None if stderr cannot be written to.

    A notebook shows stderr on red, as if it were an error, so lines go to stdout there.
    """
    stream = sys.stdout if is_notebook() else sys.stderr
    return None if stream is None or getattr(stream, "closed", False) else Lines(stream)


def make_steps(what: str, n_steps: int) -> Callable[[int], None]:
    """Return what shows the steps before the first round; it gets the number of those done."""
    stream = sys.stdout if is_notebook() else sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return lambda n_done: None
    return Steps(what, n_steps, stream)


class Writer:
    """Writes text; once the stream cannot be written to, nothing is shown any more.

    Parameters
    ----------
    stream : text stream
        Where to write.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream

    def _write(self, text: str) -> None:
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):  # a pipe without a reader, a terminal that was closed
                self._stream = None


class Lines(Writer):
    """Writes lines."""

    def __call__(self, text: str) -> None:
        """Write a line."""
        self._write(f"{text}\n")


class Steps(Writer):
    """Shows the steps that prepare a fit.

    In a terminal one line is rewritten. Elsewhere about ten lines are printed.

    Parameters
    ----------
    what : str
        What a step is, in the plural.
    n_steps : int
        Number of steps.
    stream : text stream
        Where to write.
    """

    def __init__(self, what: str, n_steps: int, stream: TextIO) -> None:
        super().__init__(stream)
        self._what, self._n_steps = what, n_steps
        self._live = stream.isatty()
        self._began = time.perf_counter()
        self._tenth = 0

    def __call__(self, n_done: int) -> None:
        """Show that so many steps are done."""
        seconds = time.perf_counter() - self._began
        over = n_done == self._n_steps
        left = "" if over else f", {seconds / n_done * (self._n_steps - n_done):.1f} s left"
        line = f"{n_done:,} of {self._n_steps:,} {self._what}  {seconds:.1f} s{left}"
        if self._live:
            self._write(f"{_CLEAR}{line}" + "\n" * over)
        elif 10 * n_done // self._n_steps > self._tenth:
            self._tenth = 10 * n_done // self._n_steps
            self._write(f"{line}\n")


class Progress(Writer):
    """Shows the rounds of a fit.

    In a terminal one line is rewritten, at most ten times per second. Elsewhere a line is printed after
    rounds 1, 2, 5, 10, 20, 50, ... and after the last. Once the stream cannot be written to, nothing is
    shown any more, and the fit goes on.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    stream : text stream
        Where to write.
    """

    def __init__(self, n_rounds: int, stream: TextIO) -> None:
        super().__init__(stream)
        self._n_rounds = n_rounds
        self._live = stream.isatty()
        self._refreshed = -math.inf
        self._last: Round | None = None

    def __call__(self, finished: Round) -> None:
        """Show a round, if it is time to."""
        self._last = finished
        if not self._live:
            if str(finished.number).rstrip("0") in ("1", "2", "5"):
                left = f", {finished.seconds_left:.1f} s left\n"
                self._write(self._count(finished) + _in_full(finished) + left)
        elif time.perf_counter() - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = time.perf_counter()
            room = _columns(self._stream) - 1  # a full line would make some terminals scroll
            line = self._line(finished, f"{finished.seconds_left:.1f} s left", room)
            self._write(line[: room + len(_CLEAR)])

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        why = f"({describe_stop(reason)})\n"
        if self._last is None:
            self._write(f"ended: no round  {why}")
        elif self._live:
            self._write(self._line(self._last, why, _columns(self._stream)))
        else:
            self._write(f"ended: {self._count(self._last)}{_in_full(self._last)}  {why}")

    def _count(self, finished: Round) -> str:
        return f"round {finished.number:>{len(str(self._n_rounds))}}/{self._n_rounds}"

    def _line(self, finished: Round, ending: str, room: int) -> str:
        """Return numbers, and a bar between them that takes the room that is left."""
        begin, numbers = self._count(finished), f"{_in_short(finished)} {ending}"
        width = min(_BAR_WIDTH, room - len(begin) - len(numbers) - 1)
        done = width * finished.number // self._n_rounds
        bar = f" {'#' * done}{'.' * (width - done)}" if width > 3 else ""
        return f"{_CLEAR}{begin}{bar}{numbers}"


def _columns(stream: TextIO | None) -> int:
    try:
        return (stream and os.get_terminal_size(stream.fileno()).columns) or 80
    except (OSError, ValueError):  # a terminal in name only
        return 80


def _in_short(finished: Round) -> str:
    """Return what is known of a round, for one line of a terminal."""
    loss, error = finished.training_loss, finished.training_error
    text = "" if math.isnan(loss) else f" loss {loss:.3g}"
    text += "" if math.isnan(error) else f" error {100 * error:.2f} %"
    if math.isnan(finished.validation_error):
        return text
    return f"{text} validation {100 * finished.validation_error:.2f} % ({finished.validation_loss:.3g})"


def _in_full(finished: Round) -> str:
    """Return what is known of a round, for a file."""
    known = (
        ("loss", finished.training_loss, "{:.4g}"),
        ("training error", 100 * finished.training_error, "{:6.2f} %"),
        ("validation loss", finished.validation_loss, "{:.4f}"),
        ("validation error", 100 * finished.validation_error, "{:6.2f} %"),
    )
    text = "".join(f"  {name} {form.format(x)}" for name, x, form in known if not math.isnan(x))
    return f"{text}  {finished.seconds:6.1f} s"
