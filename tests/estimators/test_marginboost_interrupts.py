"""MarginBoostClassifier, watched and interrupted, in the fit and in its calibration."""

import gc
import io
import itertools
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support import assert_same_ensemble, noisy_problem
from support import assert_same_margin_boost as assert_same
from support import small_margin_boost as small

import marginboost
from marginboost.boosting import second_fit as module
from marginboost.boosting.methods.marginboost import MarginBoost


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(150, 4, 3, n_values=30)


def test_progress(noisy, monkeypatch, capfd):
    small(30).fit(*noisy)
    assert capfd.readouterr() == ("", "")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    small(30, verbose=1).fit(*noisy)
    assert stream.getvalue().splitlines()[-1].endswith("(all rounds done)")


def interrupt_at(monkeypatch, call):
    """Raise KeyboardInterrupt before a given round in the main thread, through all fits."""
    real, calls = MarginBoost.take_ahead, itertools.count(1)

    def take_ahead(self, *arguments):
        if threading.current_thread() is threading.main_thread() and next(calls) == call:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(MarginBoost, "take_ahead", take_ahead)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_finished_rounds(noisy, monkeypatch, n_jobs):
    interrupt_at(monkeypatch, 7)
    model, threads = small(50, n_jobs=n_jobs), threading.active_count()
    with pytest.warns(UserWarning, match="keeps the 6 rounds"):
        model.fit(*noisy)
    assert threading.active_count() == threads  # the second fit has ended as well
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == len(model.train_errors_) == 6
    complete = small(6, calibrate=False).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    np.testing.assert_array_equal(model.predict_proba(noisy[0]), complete.predict_proba(noisy[0]))


def test_an_interrupt_before_the_first_round_is_passed_on(noisy, monkeypatch):
    interrupt_at(monkeypatch, 1)
    model, threads = small(50), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert threading.active_count() == threads
    assert not hasattr(model, "ensemble_")
    monkeypatch.undo()
    assert_same(model.fit(*noisy), small(50).fit(*noisy))


@pytest.mark.parametrize("call", [9, 12])
def test_an_interrupt_of_the_calibration_keeps_the_model(noisy, monkeypatch, call):
    interrupt_at(monkeypatch, call)
    model = small(8, n_jobs=1)  # one fit after the other
    with pytest.warns(UserWarning, match="keeps the 8 rounds"):
        model.fit(*noisy)
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    complete = small(8, calibrate=False).fit(*noisy)
    assert_same_ensemble(model.ensemble_, complete.ensemble_)
    assert model.probability_scale_ == complete.probability_scale_ == 2.0
    np.testing.assert_array_equal(model.predict_proba(noisy[0]), complete.predict_proba(noisy[0]))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_at_the_end_of_the_calibration_leaves_a_model(noisy, monkeypatch, n_jobs):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "best_calibration", interrupted)
    model = small(8, n_jobs=n_jobs)
    with pytest.warns(UserWarning, match="keeps the 8 rounds"):
        model.fit(*noisy)
    assert_same_ensemble(model.ensemble_, small(8, calibrate=False).fit(*noisy).ensemble_)
    assert np.isfinite(model.predict_proba(noisy[0])).all()
    # Nothing as long as the data stays behind.
    assert max(np.size(value) for value in vars(model).values()) < len(noisy[1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_the_second_fit_is_raised(noisy, monkeypatch, n_jobs):
    def failing(*arguments):
        raise RuntimeError("no scale")

    monkeypatch.setattr(module, "best_calibration", failing)
    with pytest.raises(RuntimeError, match="no scale"):
        small(8, n_jobs=n_jobs).fit(*noisy)


def test_a_signal_ends_a_long_fit_early(noisy):
    """As Ctrl-C does: SIGINT in the main thread, between any two of its instructions."""
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # Hypothesis watches the collector, and an interrupt inside of a callback is lost
    sender = threading.Thread(target=signal.raise_signal, args=[signal.SIGINT])

    def send(finished):
        if finished.number == 20:
            sender.start()

    model = small(500_000, learning_rate=1e-3, callbacks=[send])
    try:
        with pytest.warns(UserWarning, match="Interrupted"):
            model.fit(*noisy)
    finally:
        sender.join()
        gc.enable()
        signal.signal(signal.SIGINT, before)
    assert model.stop_reason_ == "interrupted"
    assert 0 < model.n_iter_ == len(model.train_errors_) < 500_000
    assert np.isfinite(model.decision_function(noisy[0])).all()


@pytest.mark.filterwarnings("ignore:Interrupted")
def test_an_interrupt_at_any_line_leaves_a_sound_model():
    """KeyboardInterrupt may come between any two lines of the boosting's Python code."""
    package = Path(marginboost.__file__).parent
    watched = (str(package / "boosting"), str(package / "estimators" / "marginboost.py"))
    X, y = noisy_problem(60, 2, 2, n_values=8)
    settings = {"subsample": 1.0, "max_leaf_nodes": 3, "calibrate": True, "n_jobs": 1}
    complete, kept = small(2, **settings).fit(X, y), set()
    for at_line in itertools.count(1):
        lines = itertools.count(1)

        def trace(frame, event, _, lines=lines, at_line=at_line):
            if not frame.f_code.co_filename.startswith(watched):
                return None
            if event == "line" and next(lines) == at_line:
                raise KeyboardInterrupt
            return trace

        model, outer = small(2, **settings), sys.gettrace()
        sys.settrace(trace)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            continue  # before the loop, in its first round, or after its last
        finally:
            sys.settrace(outer)
        n = model.n_iter_
        kept.add((n, model.probability_scale_ == complete.probability_scale_))
        first = complete.ensemble_.node_offsets[n]
        np.testing.assert_array_equal(model.ensemble_.feature, complete.ensemble_.feature[:first])
        assert len(model.train_errors_) == n
        if model.stop_reason_ == "max_rounds":  # there are not so many lines
            break
    assert {n for n, _ in kept} == {1, 2}
    assert (2, False) in kept
