"""Progress on the terminal: one line, a few lines, or nothing."""

import io
import itertools
import os
import pty
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support import noisy_problem

from marginboost import MCBoostClassifier
from marginboost.boosting.progress import Progress, make_progress
from marginboost.boosting.round import Round


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_in_a_file_is_a_few_lines(noisy, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    MCBoostClassifier(30, verbose=1).fit(*noisy)
    lines = stream.getvalue().splitlines()
    assert [line.split("/")[0] for line in lines] == [
        "round  1", "round  2", "round  5", "round 10", "round 20", "ended: round 30",
    ]  # fmt: skip
    assert all("training error" in line and "loss" in line for line in lines)
    assert all(line.endswith("s left") for line in lines[:-1])
    assert "left" not in lines[-1]  # nothing is
    assert "edge" not in stream.getvalue()  # a word of the method, not of its users
    assert not any("validation" in line for line in lines)
    assert lines[-1].endswith("(all rounds done)")
    assert "\r" not in stream.getvalue()


def test_progress_in_a_terminal_is_one_line(noisy, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    MCBoostClassifier(30, verbose=1).fit(*noisy)
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.startswith("\r")
    assert "round 30/30" in text
    assert text.endswith("(all rounds done)\n")


def test_progress_of_a_fit_without_rounds(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.warns(UserWarning, match="constant"):
        MCBoostClassifier(30, verbose=1).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert stream.getvalue() == "ended: no round  (more rounds would not help)\n"


def test_quiet_by_default(noisy, capfd):
    MCBoostClassifier(30).fit(*noisy)
    assert capfd.readouterr() == ("", "")


def test_a_live_line_covers_the_one_before(monkeypatch):
    """The time left gets shorter; nothing of a longer line may stay behind it."""
    seconds = itertools.count(0.0, 30.0)
    monkeypatch.setattr("time.perf_counter", lambda: next(seconds))
    stream = Terminal()
    progress = Progress(12, stream)
    for number in range(1, 13):
        progress(Round(number, None, 0.1, 0.0, 0.5, ()))
    progress.close("max_rounds")
    shown = stream.getvalue().rstrip("\n").split("\r")[1:]
    assert len(shown) == 13
    assert all(line.startswith("\x1b[K") for line in shown)  # clears the line


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_a_live_line_has_room_in_the_terminal(monkeypatch, columns):
    """A line that is broken in two could not be rewritten."""
    monkeypatch.setattr("os.get_terminal_size", lambda number: os.terminal_size((columns, 24)))
    stream = Terminal()
    stream.fileno = lambda: 2
    progress = Progress(1000, stream)
    for number in (500, 1000):
        progress._refreshed = -np.inf
        progress(Round(number, None, 0.1, 0.0, 0.5, (), 0.123, 0.4, 1.25, 0.0, 3.0, 3.0))
    progress.close("max_rounds")
    half, whole, last = (line.removeprefix("\x1b[K") for line in stream.getvalue().split("\r")[1:])
    assert max(len(half), len(whole)) < columns
    assert last.endswith(" (all rounds done)\n")  # which may take a second line
    if columns == 200:
        text = "loss 0.123 error 50.00 % validation 40.00 % (1.25)"
        assert half == f"round  500/1000 {'#' * 10}{'.' * 10} {text} 3.0 s left"
        assert last == f"round 1000/1000 {'#' * 20} {text} (all rounds done)\n"


def test_validation_is_shown(noisy, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    MCBoostClassifier(3, verbose=1).fit(*noisy, X_val=noisy[0], y_val=noisy[1])
    assert all("validation loss" in line for line in stream.getvalue().splitlines())


@pytest.mark.parametrize("kind", ["none", "closed", "breaks"])
def test_a_stream_that_cannot_be_written_to_breaks_nothing(noisy, monkeypatch, kind):
    class Broken(Terminal):
        def write(self, text):
            raise BrokenPipeError

    stream = {"none": None, "closed": io.StringIO(), "breaks": Broken()}[kind]
    if kind == "closed":
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert MCBoostClassifier(5, verbose=1).fit(*noisy).n_iter_ == 5
    if kind != "breaks":
        assert make_progress(5) is None


def in_a_terminal(code, **environment):
    """Run a program whose stderr is a terminal; return what is written there."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"} | environment
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stderr=theirs, env=environment) as run:
        os.close(theirs)
        found = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the program has ended
                break
            if not part:
                break
            found += part
    os.close(ours)
    assert run.returncode == 0, found
    return found.decode()


def test_a_bar_in_a_real_terminal():
    text = in_a_terminal(
        """
        import threading
        from sklearn.datasets import load_iris
        from marginboost import MCBoostClassifier
        X, y = load_iris(return_X_y=True)
        model = MCBoostClassifier(30, verbose=1).fit(X, y, X_val=X, y_val=y)
        assert model.n_iter_ == 30 and threading.active_count() == 1
        """
    )
    assert "round 30/30" in text
    for word in ("loss", "error", "validation", "s left", "(all rounds done)"):
        assert word in text
    assert text.count("\n") == 1
    assert text.rstrip().endswith("(all rounds done)")  # all of it has room
