"""MCBoostClassifier, interrupted."""

import gc
import itertools
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support import assert_same_ensemble, random_problem

import marginboost
from marginboost import MCBoostClassifier
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.engine.stumps.native import NativeStumpEngine


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


def test_an_interrupt_keeps_the_finished_rounds(noisy, monkeypatch):
    real = NativeStumpEngine.load

    def load(self, data, weighting):
        real(self, data, weighting)
        search, calls = self.best_stump, iter(range(100))

        def best_stump(*criterion):
            if next(calls) == 6:
                raise KeyboardInterrupt
            return search(*criterion)

        self.best_stump = best_stump

    monkeypatch.setattr(NativeStumpEngine, "load", load)
    model = MCBoostClassifier(50)
    with pytest.warns(UserWarning, match="keeps the 6 rounds"):
        model.fit(*noisy)
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == 6
    complete = MCBoostClassifier(6).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    np.testing.assert_array_equal(model.predict(noisy[0]), complete.predict(noisy[0]))


def test_an_interrupt_before_the_first_round_is_passed_on(noisy, monkeypatch):
    def find(self, engine, criterion=0):
        raise KeyboardInterrupt

    monkeypatch.setattr(StumpLearner, "find", find)
    model = MCBoostClassifier(50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert not hasattr(model, "coef_")


@pytest.fixture
def ctrl_c_interrupts():
    """Python's usual handler: a program started in the background may have been told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_gc_callbacks():
    """Hypothesis watches the garbage collector, and an interrupt inside of a callback is lost."""
    gc.disable()
    yield
    gc.enable()


def test_a_signal_ends_a_long_fit_early(noisy, no_gc_callbacks, ctrl_c_interrupts):
    """As Ctrl-C does: SIGINT in the main thread, at any moment of the fit."""
    assert threading.current_thread() is threading.main_thread()
    n_rounds = 500_000  # far more than there are before the signal comes
    is_under_way = threading.Event()

    def interrupt():
        is_under_way.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    callbacks = [lambda finished: is_under_way.set() if finished.number >= 20 else None]
    model = MCBoostClassifier(n_rounds, learning_rate=1e-3, callbacks=callbacks)
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(*noisy)
    thread.join()
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ < n_rounds
    assert len(model.coef_) == len(model.train_errors_) == model.n_iter_
    assert np.isfinite(model.decision_function(noisy[0])).all()


@pytest.mark.filterwarnings("ignore:Interrupted")
def test_an_interrupt_at_any_line_leaves_a_sound_model(noisy):
    """KeyboardInterrupt may come between any two lines of the package's Python code.

    Those of `data` all come before the first round, where there is no model yet.
    """
    package = str(Path(marginboost.__file__).parent)
    before = str(Path(marginboost.__file__).parent / "data")
    complete = MCBoostClassifier(2).fit(*noisy)
    kept = set()
    for at_line in itertools.count(1):
        lines = itertools.count(1)

        def trace(frame, event, _, lines=lines, at_line=at_line):
            file = frame.f_code.co_filename
            if not file.startswith(package) or file.startswith(before):
                return None
            if event == "line" and next(lines) == at_line:
                raise KeyboardInterrupt
            return trace

        model, outer = MCBoostClassifier(2), sys.gettrace()
        sys.settrace(trace)
        try:
            model.fit(*noisy)
        except KeyboardInterrupt:
            continue  # before the loop, in its first round, or after its last
        finally:
            sys.settrace(outer)
        n = model.n_iter_
        kept.add(n)
        assert len(model.coef_) == len(model.train_errors_) == n
        np.testing.assert_array_equal(model.coef_, complete.coef_[:n])
        np.testing.assert_array_equal(model.ensemble_.feature, complete.ensemble_.feature[:n])
        if model.stop_reason_ == "max_rounds":  # there are not so many lines
            break
    assert kept == {1, 2}
