"""Progress of the experiments at a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from experiments.reproduce import Watcher
from experiments.trial import Trial

# Seconds between two updates of a line that is rewritten.
_A_LOOK = 0.1
# Number of lines printed per experiment where a line cannot be rewritten.
_LINES = 10


def make_watcher(stream: TextIO | None = None) -> Watcher:
    """Return what shows the progress: a bar in a terminal, lines elsewhere."""
    stream = sys.stderr if stream is None else stream
    return Bar(stream) if stream.isatty() else Lines(stream)


class Lines:
    """Prints a line after each tenth of an experiment."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._name = ""
        self._start = 0.0
        self._told = 0

    def began(self, name: str) -> None:
        """Print that an experiment begins."""
        self._name, self._told = name, 0
        self._start = time.perf_counter()
        self._write(f"{name}: begins")

    def went_on(self, done: int, total: int, trial: Trial) -> None:
        """Print how far it is after each tenth."""
        tenth = _LINES * done // total
        if tenth > self._told:
            self._told = tenth
            seconds = time.perf_counter() - self._start
            self._write(f"{self._name}: {done:,} of {total:,} trials, {_duration(seconds)}")

    def ended(self, name: str) -> None:
        """Print nothing: the last line or an error has said it."""

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class Bar:
    """Draws one line that is rewritten, with rich."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Any = None
        self._task: Any = None
        self._start = 0.0
        self._shown = 0.0

    def began(self, name: str) -> None:
        """Draw an empty bar."""
        from rich import progress  # noqa: PLC0415  comes with the command line
        from rich.console import Console  # noqa: PLC0415

        # No refresh by a thread, which would write between the lines of others.
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            progress.TextColumn("{task.fields[left]}"),
            progress.TextColumn("{task.fields[trial]}", table_column=_one_line()),
            console=Console(file=self._stream),
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(name, total=1, left="", trial="")
        self._start = time.perf_counter()
        self._bar.start()

    def went_on(self, done: int, total: int, trial: Trial) -> None:
        """Draw how far it is."""
        now = time.perf_counter()
        taken = now - self._start
        told = (
            f"{_duration(taken / done * (total - done))} left" if done < total else _duration(taken)
        )
        # The text may contain what rich takes for markup.
        from rich.markup import escape  # noqa: PLC0415

        self._bar.update(
            self._task, completed=done, total=total, left=told, trial=escape(str(trial))
        )
        if now - self._shown >= _A_LOOK or done == total:
            self._shown = now
            self._bar.refresh()

    def ended(self, name: str) -> None:
        """Leave the line as it is."""
        self._bar.update(self._task, trial="", refresh=True)
        self._bar.stop()


def _one_line() -> Any:
    from rich.table import Column  # noqa: PLC0415

    return Column(no_wrap=True, overflow="ellipsis", ratio=1)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
