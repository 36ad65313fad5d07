"""Progress in a notebook, shown by a stand-in for IPython's display."""

import itertools
import subprocess
import sys

import pytest

from marginboost.boosting.notebook_progress import NotebookProgress
from marginboost.boosting.round import Round


class Display:
    """Keeps what is shown, as `IPython.display.display` and its handle are called."""

    def __init__(self):
        self.shown = []

    def __call__(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(data)
        return self

    def update(self, data, *, raw):
        assert raw
        self.shown.append(data)


def finished(number, **more):
    return Round(number, None, 0.1, 0.0, 0.5, (), seconds=2.0, seconds_left=1.0, **more)


def test_one_output_is_redrawn_five_times_per_second(monkeypatch):
    seconds = itertools.count(0.0, 0.05)
    monkeypatch.setattr("time.perf_counter", lambda: next(seconds))
    display = Display()
    progress = NotebookProgress(40, display)
    for number in range(1, 41):
        progress(finished(number))
    progress.close("max_rounds")
    assert 5 < len(display.shown) < 20
    last = display.shown[-1]
    assert last["text/plain"] == "40 of 40 rounds, training error 50.00 %, 2.0 s, all rounds done"
    assert '<progress max="40" value="40"' in last["text/html"]
    assert "1.0 s left" in display.shown[0]["text/html"]


@pytest.mark.parametrize(
    ("reason", "words"),
    [("early_stopping", "no longer improves"), ("no_violated_constraint", "would not help"),
     ("interrupted", "interrupted"), ("max_time", "time limit"), ("callback", "by a callback")],
)  # fmt: skip
def test_the_end_is_in_plain_words(reason, words):
    display = Display()
    progress = NotebookProgress(9, display)
    progress(finished(1, validation_error=0.25, validation_loss=0.5))
    progress.close(reason)
    text = display.shown[-1]["text/plain"]
    assert words in text
    assert "validation error 25.00 %" in text


def test_a_fit_without_rounds():
    display = Display()
    NotebookProgress(9, display).close("no_violated_constraint")
    assert display.shown[0]["text/plain"].startswith("0 of 9 rounds, more rounds")


def test_a_front_end_that_fails_does_not_end_the_fit():
    calls = []

    def fail(*arguments, **settings):
        calls.append(arguments)
        raise RuntimeError("the front end is gone")

    progress = NotebookProgress(9, fail)
    progress(finished(1))
    progress.close("max_rounds")
    assert len(calls) == 1


def test_ipython_is_not_imported_to_look_for_it():
    code = """
import sys
from sklearn.datasets import load_iris
from marginboost import MCBoostClassifier
MCBoostClassifier(2, verbose=1).fit(*load_iris(return_X_y=True))
assert "IPython" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "round 1/2" in done.stderr
