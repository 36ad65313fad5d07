"""Copies that are no observations of their own: nothing is learned of a row that is held out."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from marginboost import MarginBoostClassifier, MarginBoostClassifierCV, MCBoostClassifier
from marginboost.data import agreement

pytestmark = pytest.mark.filterwarnings("ignore:On the rows that were held out:UserWarning")

N = 800


@pytest.fixture(scope="module")
def noise():
    """Labels that nothing can be learned of, for learned rows and as many others."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(2 * N, 6)), (rng.random(2 * N) < 0.3).astype(int)


def written_again(X, y, how):
    """Return rows, labels and weights."""
    rng = np.random.default_rng(1)
    if how == "weights":
        return X, y, rng.integers(1, 4, len(y))
    if how == "bootstrap":
        return X, y, np.bincount(rng.integers(len(y), size=len(y)), minlength=len(y))
    times = np.full(len(y), 2)
    if how == "balanced classes":  # the rare class is repeated until it is as frequent as the other
        times = np.where(y == 1, rng.integers(2, 4, len(y)), 1)
    return np.repeat(X, times, axis=0), np.repeat(y, times), None


@pytest.mark.parametrize("how", ["weights", "bootstrap", "all twice", "balanced classes"])
def test_noise_is_not_learned(noise, how):
    X, y = noise
    X_learned, y_learned, weight = written_again(X[:N], y[:N], how)
    model = MarginBoostClassifier(random_state=0).fit(X_learned, y_learned, weight)
    share = np.average(y_learned, weights=weight)
    chance = log_loss(y[N:], np.full(N, share))
    assert log_loss(y[N:], model.predict_proba(X[N:])) < 1.06 * chance


def test_noise_is_learned_where_copies_are_held_out_one_by_one(noise, monkeypatch):
    """The test before this one would see it."""
    monkeypatch.setattr(agreement, "LEAST_REPEATED", 2.0)
    X, y = noise
    rows = written_again(X[:N], y[:N], "weights")
    model = MarginBoostClassifier(random_state=0).fit(*rows)
    assert log_loss(y[N:], model.predict_proba(X[N:])) > 1.15 * log_loss(y[N:], np.full(N, 0.3))


def test_early_stopping_sees_through_copies(noise):
    X, y = noise
    rows = written_again(X[:N], y[:N], "all twice")
    stopped = MCBoostClassifier(60, max_depth=3, early_stopping=True).fit(*rows)
    assert stopped.n_iter_ < 30


@pytest.mark.parametrize("n_distinct", [1, 2, 3])
def test_few_rows_that_were_written_down_many_times(n_distinct):
    """As if they had been written down once: too few to hold any out, and no reason to stop."""
    X = np.arange(2.0 * n_distinct)[:, None]
    y = np.repeat([0, 1], n_distinct)
    model = MarginBoostClassifier(random_state=0).fit(np.tile(X, (100, 1)), np.tile(y, 100))
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_the_tuner_sees_through_copies(noise):
    """Its out-of-fold score is that of rows that it has not learned."""
    X, y = noise
    rows = written_again(X[:300], y[:300], "all twice")
    model = MarginBoostClassifierCV(time_limit=3, random_state=0).fit(*rows)
    chance = log_loss(y[N:], np.full(N, 0.3))
    assert model.oof_loss_ > 0.95 * log_loss(y[:300], np.full(300, y[:300].mean()))
    assert log_loss(y[N:], model.predict_proba(X[N:])) < 1.1 * chance
