"""Who looks on while a fit runs: callables, and scikit-learn's own callbacks."""

import importlib
import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from support import assert_same_ensemble, noisy_problem

from marginboost import (
    MarginBoostClassifier,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)

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


@EVERY
def test_every_round_is_told(noisy, model, monkeypatch):
    told = []
    # Every round takes a second; a step of its coefficients takes a second at least.
    monkeypatch.setattr("time.perf_counter", lambda: float(len(told)))
    monkeypatch.setattr("marginboost.boosting.loop.perf_counter", itertools.count().__next__)
    model = clone(model).set_params(callbacks=[told.append])
    model.fit(*noisy, X_val=noisy[0][:50], y_val=noisy[1][:50])
    assert [r.number for r in told] == list(range(1, 7))
    np.testing.assert_array_equal([r.training_error for r in told], model.train_errors_)
    np.testing.assert_array_equal([r.training_loss for r in told], model.train_losses_)
    np.testing.assert_array_equal([r.validation_error for r in told], model.validation_errors_)
    np.testing.assert_array_equal([r.validation_loss for r in told], model.validation_losses_)
    assert [r.seconds for r in told] == list(range(6))
    np.testing.assert_array_equal([r.seconds for r in told], model.fit_seconds_)
    # Another fit beside this one, for calibration, may read the clock in between.
    # MarginBoost's engine finds coefficients with the tree.
    least = 0 if isinstance(model, MarginBoostClassifier) else 1
    assert all(r.coefficient_seconds >= least for r in told)
    assert [r.seconds_left for r in told] == [(6 - n) * ((n - 1) / n) for n in range(1, 7)]
    plain = clone(model).set_params(callbacks=None).fit(*noisy)
    assert_same_ensemble(plain.ensemble_, model.ensemble_)


@pytest.mark.parametrize("yes", [True, np.True_, 1])
def test_a_callback_ends_the_fit(noisy, yes):
    seen = []
    stop = [lambda finished: yes if finished.number == 4 else None, seen.append]
    model = MCBoostClassifier(50, callbacks=stop).fit(*noisy)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == len(seen) == 4
    assert_same_ensemble(model.ensemble_, MCBoostClassifier(4).fit(*noisy).ensemble_)


def test_an_error_of_a_callback_is_raised(noisy):
    def fail(finished):
        raise ZeroDivisionError("in a callback")

    with pytest.raises(ZeroDivisionError, match="in a callback"):
        MCBoostClassifier(5, callbacks=[fail]).fit(*noisy)


def own_loss(model, F, y):
    """Return every row's loss, as the model has it."""
    rows = np.arange(len(y))
    if isinstance(model, SAMMEClassifier):
        return np.exp(F.mean(axis=1) - F[rows, y])
    e = np.exp(F - F[rows, y][:, None])
    e[rows, y] = 0.0
    return (np.log1p(e) if model.loss == "logistic" else e).sum(axis=1)


@pytest.mark.parametrize(
    "model",
    [
        MCBoostClassifier(6),
        MarginBoostClassifier(6, random_state=0),
        MarginBoostClassifier(6, loss="logistic", random_state=0),
        MultiBoostClassifier(6, keep_path=True),
        SAMMEClassifier(6),
    ],
    ids=repr,
)
def test_what_training_losses_are(noisy, model):
    """A mean over rows with their weights; told by every round, and shared out by its gains."""
    X, y = noisy
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    told = []
    model = clone(model).set_params(
        callbacks=[lambda r: told.append((r.training_loss, sum(r.gains)))]
    )
    model.fit(X, y, weight)
    losses = [
        np.average(own_loss(model, F, y), weights=weight)
        for F in (np.zeros((len(y), 3)), *model._staged_scores(X))
    ]
    np.testing.assert_allclose([loss for loss, _ in told], losses[1:], rtol=1e-6)
    np.testing.assert_allclose([gain for _, gain in told], -np.diff(losses), rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(model.split_gains_.sum(), losses[0] - losses[-1], rtol=1e-6)


# --- scikit-learn's ---------------------------------------------------------------------------------


try:
    callback = importlib.import_module("sklearn.callback")
except ModuleNotFoundError:
    callback = None
needs_sklearn = pytest.mark.skipif(
    callback is None, reason="scikit-learn has no callbacks before 1.9"
)


class Log:
    """Writes down the tasks of a fit; may end it."""

    def __init__(self, last=None):
        self.events, self.scores, self._last = [], [], last

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.events.append(("end", context.task_name, context.task_id))
        self.scores.append(fitted_estimator.score(X, y))
        fitted_estimator.predict_proba(X[:2])
        return context.task_name == "round" and context.task_id == self._last

    def teardown(self, estimator, context):
        self.events.append("teardown")


@needs_sklearn
@EVERY
def test_tasks_of_scikit_learns_callbacks(noisy, model):
    log = Log()
    model = clone(model).set_callbacks(log).fit(*noisy)
    assert log.events[:2] == ["setup", ("begin", "fit", 0)]
    assert log.events[-2:] == [("end", "fit", 0), "teardown"]
    assert log.events[3:-2:2] == [("end", "round", number) for number in range(6)]
    scores = [np.mean(found == noisy[1]) for found in model.staged_predict(noisy[0])]
    np.testing.assert_allclose(log.scores, [*scores, scores[-1]])


@needs_sklearn
def test_a_callback_of_scikit_learn_ends_the_fit(noisy):
    model = MCBoostClassifier(50).set_callbacks(Log(last=2)).fit(*noisy)
    assert (model.n_iter_, model.stop_reason_) == (3, "callback")


@needs_sklearn
def test_a_monitor_that_a_search_passes_on(noisy):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    search = GridSearchCV(MCBoostClassifier(3), {"learning_rate": [0.1, 1.0]}, cv=2)
    assert hasattr(search.set_callbacks(monitor).fit(*noisy), "best_score_")
