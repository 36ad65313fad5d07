"""Progress on the terminal."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from marginboost.boosting.record import Round

__all__ = ["BarProgress", "LineProgress", "Progress", "make_progress"]

# Seconds between two looks of a display that is rewritten.
_A_LOOK = 0.1


class Progress(Protocol):
    """Shows how far a fit is."""

    def __call__(self, finished: Round) -> None:
        """Take note of a round."""
        ...

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        ...


def make_progress(n_rounds: int) -> Progress | None:
    """Return what shows the progress on stderr: a bar in a terminal, where rich is installed.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    """
    stream = sys.stderr
    if stream is None or getattr(stream, "closed", False):  # a program without a window may have none
        return None
    if stream.isatty():
        try:
            return BarProgress(n_rounds, stream)
        except ModuleNotFoundError:
            pass
    return LineProgress(n_rounds, stream)


class _Forgiving:
    """A stream that says nothing any more once it cannot be written to; the fit goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._works = True
        self.encoding = getattr(stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Tell whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return its number, by which the size of a terminal is told."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write, if that is possible."""
        self._attempt(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Let it be seen, if that is possible."""
        self._attempt(self._stream.flush)

    def _attempt(self, deed: Callable[[], object]) -> None:
        if self._works:
            try:
                deed()
            except (OSError, ValueError):  # a pipe without an end, a terminal that was closed
                self._works = False


class LineProgress:
    """Shows the rounds in plain text.

    In a terminal one line is rewritten a few times a second; elsewhere a line is printed after
    rounds 1, 2, 5, 10, 20, 50, ... and after the last.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    stream : text stream
        Where to write.
    """

    def __init__(self, n_rounds: int, stream: TextIO) -> None:
        self._n_rounds = n_rounds
        self._stream = _Forgiving(stream)
        self._live = stream.isatty()
        self._shown = time.perf_counter()
        self._last: Round | None = None

    def __call__(self, finished: Round) -> None:
        """Take note of a round."""
        self._last = finished
        if self._live:
            now = time.perf_counter()
            if now - self._shown >= _A_LOOK:
                self._shown = now
                self._rewrite(self._line(finished))
        elif str(finished.number).rstrip("0") in ("1", "2", "5"):
            self._write(self._line(finished) + "\n")

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        rounds = "no round" if self._last is None else self._line(self._last)
        if self._live:
            self._rewrite(f"{rounds}  [{reason}]\n")
        else:
            self._write(f"ended: {rounds}  [{reason}]\n")

    def _rewrite(self, line: str) -> None:
        self._write("\r\x1b[K" + line)  # clears what a longer line would leave behind

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _line(self, finished: Round) -> str:
        return (
            f"round {finished.number:>{len(str(self._n_rounds))}}/{self._n_rounds}"
            + "".join(f"  {text}" for text in _numbers(finished))
            + f"  {finished.seconds:6.1f} s, {finished.seconds_left:.1f} s left"
        )


class BarProgress:
    """Shows a bar, drawn by rich.

    Parameters
    ----------
    n_rounds : int
        The most rounds there will be.
    stream : text stream
        A terminal.

    Raises
    ------
    ModuleNotFoundError
        If rich is not installed.
    """

    def __init__(self, n_rounds: int, stream: TextIO) -> None:
        rich: Any = importlib.import_module("rich.progress")
        console: Any = importlib.import_module("rich.console").Console(
            file=_Forgiving(stream)
        )
        columns = (
            rich.TextColumn("round {task.completed:.0f}/{task.total:.0f}"),
            rich.BarColumn(bar_width=10),
            rich.TextColumn("{task.fields[numbers]}"),
            rich.TextColumn("{task.fields[time]}"),
        )
        # Drawn by us alone: a thread of its own would outlive a fit that fails.
        self._bar: Any = rich.Progress(
            *columns,
            console=console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("fit", total=n_rounds, numbers="", time="")
        self._shown = -math.inf
        self._bar.start()

    def __call__(self, finished: Round) -> None:
        """Take note of a round."""
        self._bar.update(
            self._task,
            completed=finished.number,
            numbers=_in_short(finished),
            time=f"{finished.seconds_left:.1f} s left",
        )
        now = time.perf_counter()
        if now - self._shown >= _A_LOOK:
            self._shown = now
            self._bar.refresh()

    def close(self, reason: str) -> None:
        """Show the last round and why the fit ended."""
        self._bar.update(self._task, time=f"\\[{reason}]", refresh=True)
        self._bar.stop()


def _in_short(finished: Round) -> str:
    """Tell what is known of a round, for a bar beside it on a line of 80."""
    told = []
    if not math.isnan(finished.training_loss):
        told.append(f"loss {finished.training_loss:.3g}")
    if not math.isnan(finished.training_error):
        told.append(f"error {100 * finished.training_error:.2f} %")
    if not math.isnan(finished.validation_error):
        error, loss = finished.validation_error, finished.validation_loss
        told.append(f"validation {100 * error:.2f} % ({loss:.3g})")
    return " ".join(told)


def _numbers(finished: Round) -> list[str]:
    """Tell what is known of a round."""
    known = [
        ("loss", finished.training_loss, "{:.4g}"),
        ("training error", 100 * finished.training_error, "{:6.2f} %"),
        ("validation loss", finished.validation_loss, "{:.4f}"),
        ("validation error", 100 * finished.validation_error, "{:6.2f} %"),
    ]
    told = [f"{name} {form.format(value)}" for name, value, form in known if not math.isnan(value)]
    return [*told, f"edge {finished.edge:.2e}"]
