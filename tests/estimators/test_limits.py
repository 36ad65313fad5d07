"""Limits of time and memory."""

import numpy as np
import pytest
from every_method import MODELS
from sklearn.base import clone
from support import assert_same_ensemble, noisy_problem, tick

from marginboost import MarginBoostClassifier, MCBoostClassifier


@pytest.fixture(scope="module")
def noisy():
    X, y = noisy_problem(300, 4, 4, n_values=30)
    return X[:200], y[:200], X[200:], y[200:]


# --- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [MCBoostClassifier(), MarginBoostClassifier(n_jobs=1), MarginBoostClassifier(n_jobs=2)],
    ids=str,
)
def test_a_limit_of_time(noisy, model, monkeypatch):
    X, y = noisy[:2]
    tick(monkeypatch, 1.0)
    model = clone(model).set_params(n_estimators=10**6, max_time=100.0).fit(X, y)
    assert model.stop_reason_ == "max_time"
    assert 0 < model.n_iter_ == len(model.fit_seconds_) <= 100
    assert (model.fit_seconds_[:-1] < 100.0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_second_fit_ends_where_the_first_did(noisy, n_jobs):
    """So the scale of the probabilities does not depend on the threads."""
    stop = [lambda finished: finished.number == 7]
    model = MarginBoostClassifier(100, random_state=0, callbacks=stop, n_jobs=n_jobs).fit(
        *noisy[:2]
    )
    other = MarginBoostClassifier(7, random_state=0).fit(*noisy[:2])
    assert model.stop_reason_ == "callback"
    assert_same_ensemble(model.ensemble_, other.ensemble_)
    assert model.probability_scale_ == other.probability_scale_


# --- memory ---------------------------------------------------------------------------------------


def test_memory_is_told_before(noisy):
    X, y, X_val, _ = noisy
    for model in MODELS.values():
        needed = model.estimate_memory(X, y)
        assert isinstance(needed, int)
        assert needed > 200 * 4
        assert model.estimate_memory(X, y, X_val) > needed
        assert clone(model).set_params(early_stopping=True).estimate_memory(X, y) != needed
        assert not hasattr(model, "classes_")
    big = MCBoostClassifier().estimate_memory(
        np.broadcast_to(0.0, (10**7, 100)), np.arange(10**7) % 50
    )
    assert 10**9 < big < 10**11
    assert MarginBoostClassifier().estimate_memory(X.tolist(), y.tolist()) > 0


def test_memory_of_validation_rows_counts(noisy, monkeypatch):
    X, y, X_val, y_val = noisy
    model = MCBoostClassifier(3)
    enough = model.estimate_memory(X, y)
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: enough)
    model.fit(X, y)
    with pytest.raises(ValueError, match="This fit needs about"):
        model.fit(X, y, X_val=X_val, y_val=y_val)
