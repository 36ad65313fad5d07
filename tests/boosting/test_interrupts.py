"""Ctrl-C: the first ends the fit, and none loses the model."""

import itertools
import signal
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone
from support import assert_same_ensemble, assert_same_model, noisy_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier, SAMMEClassifier
from marginboost.boosting import train as training
from marginboost.boosting.interrupts import Interrupts
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.validation import Validation

EVERY = pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(6, random_state=0),
        MCBoostClassifier(6),
        SAMMEClassifier(6, max_depth=3),
    ],
    ids=str,
)


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(200, 4, 3, n_values=25)


@pytest.fixture
def ctrl_c():
    """Python's usual handler, and what presses Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_only_the_first_ctrl_c_counts(ctrl_c):
    with Interrupts():
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
        ctrl_c()
        ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()


def test_a_ctrl_c_that_got_lost_ends_the_fit(ctrl_c, noisy, monkeypatch):
    """Python drops exceptions from finalizers; the end of the round ends the fit all the same."""
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: dropped.append(told.exc_type))

    class Dropping:
        def __del__(self):
            ctrl_c()

    def look(finished):
        if finished.number == 3:
            Dropping()

    model = MCBoostClassifier(50, callbacks=[look])
    with pytest.warns(UserWarning, match="keeps the 3 rounds"):
        model.fit(*noisy)
    assert dropped == [KeyboardInterrupt]
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 3)


def test_a_late_ctrl_c_comes_after_the_model(ctrl_c):
    done = []

    def put_together():
        with Interrupts() as interrupts:
            interrupts.deferred = True
            ctrl_c()
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        put_together()
    assert done


def left_by_a_ctrl_c():
    """Enter, and be gone without leaving, as when Ctrl-C comes at the first line of `__exit__`."""
    Interrupts().__enter__()


def test_a_handler_that_stayed_behind_takes_every_ctrl_c(ctrl_c):
    """It took the second for the same as the first, and a test of clusters waited for it."""
    left_by_a_ctrl_c()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_next_fit_takes_over_from_a_handler_that_stayed_behind(ctrl_c):
    left_by_a_ctrl_c()
    with Interrupts() as interrupts:
        interrupts.deferred = True
        ctrl_c()
        interrupts._late = False
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fit_within_a_fit_leaves_the_outer_one_its_handler(ctrl_c):
    with Interrupts() as outer:
        handler = signal.getsignal(signal.SIGINT)
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) == handler
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
    assert outer.heard


def test_another_handler_stays():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True]


def test_in_a_thread_nothing_changes(noisy):
    models = []
    thread = threading.Thread(target=lambda: models.append(MCBoostClassifier(3).fit(*noisy)))
    thread.start()
    thread.join()
    assert models[0].n_iter_ == 3


@EVERY
def test_a_second_ctrl_c_does_not_lose_the_model(noisy, model, ctrl_c, monkeypatch):
    assemble = training.assemble

    def impatient(*arguments):
        ctrl_c()
        return assemble(*arguments)

    monkeypatch.setattr(training, "assemble", impatient)

    def press(finished):
        if finished.number == 3:
            ctrl_c()

    model = clone(model).set_params(callbacks=[press], n_estimators=50)
    with pytest.warns(UserWarning, match="keeps the 3 rounds"):
        model.fit(*noisy)
    assert (model.n_iter_, model.stop_reason_) == (3, "interrupted")


@EVERY
def test_a_ctrl_c_that_comes_late_is_passed_on_and_the_model_is_there(
    noisy, model, ctrl_c, monkeypatch
):
    assemble = training.assemble

    def late(*arguments):
        ctrl_c()
        return assemble(*arguments)

    monkeypatch.setattr(training, "assemble", late)
    model = clone(model)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert model.n_iter_ == 6
    assert np.isfinite(model.predict_proba(noisy[0])).all()


@pytest.mark.parametrize("early_stopping", [False, True])
def test_ctrl_c_while_validation_rows_are_scored(noisy, ctrl_c, monkeypatch, early_stopping):
    evaluate, calls = Validation.evaluate, itertools.count()

    def interrupted(self):
        if next(calls) == 4:
            ctrl_c()
        return evaluate(self)

    monkeypatch.setattr(Validation, "evaluate", interrupted)
    model = MCBoostClassifier(50, early_stopping=early_stopping)
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(*noisy, X_val=noisy[0], y_val=noisy[1])
    assert model.stop_reason_ == "interrupted"
    assert len(model.validation_losses_) == 4
    plain = MCBoostClassifier(model.n_iter_).fit(*noisy)
    assert_same_ensemble(model.ensemble_, plain.ensemble_)
    assert model.validation_score_ == pytest.approx(model.score(*noisy))


def test_ctrl_c_in_the_rounds_of_an_earlier_fit_leaves_the_model(noisy, ctrl_c, monkeypatch):
    model = MCBoostClassifier(5, warm_start=True).fit(*noisy).set_params(n_estimators=9)
    before = clone(model).set_params(n_estimators=5).fit(*noisy)
    restore, calls = MCBoost.restore_round, itertools.count()

    def interrupted(self, *arguments):
        if next(calls) == 3:
            ctrl_c()
        return restore(self, *arguments)

    monkeypatch.setattr(MCBoost, "restore_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert_same_model(model, before)
