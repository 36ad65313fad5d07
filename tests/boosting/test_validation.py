"""Scores of validation rows, moved on round by round, and when their loss ends a fit."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.metrics import log_loss as sklearn_log_loss
from support import boosted, make_method, make_tree_method, noisy_problem, training_set

from marginboost.boosting.loop import CALLBACK, EARLY_STOPPING, MAX_TIME, boost
from marginboost.boosting.monitor import Monitor
from marginboost.boosting.round import Round
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import UNSEEN, Validation, ValidationRows, ValidationScore
from marginboost.model.builder import EnsembleBuilder


def rows_of(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return ValidationRows(X, np.asarray(y), weight, math.inf)  # as many as leave no doubt


@pytest.mark.parametrize("make", [make_method, make_tree_method])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_round_by_round_is_all_at_once(make, form):
    X, y = noisy_problem(150, 4, 3)
    data = training_set(X, y)
    weight = np.random.default_rng(0).uniform(0.5, 2, 150)
    validation = Validation(rows_of(form(X), y, weight), 3, 1)
    builder = EnsembleBuilder(4, 3)
    seen = []

    def look(finished):
        seen.append(validation.add(builder.last_round()))

    boost(make(data, "exponential", eta=0.5), 6, builder, look)
    whole = builder.build()
    for F, judged in zip(whole.staged(X), seen, strict=True):
        anew = Validation(rows_of(X, y, weight), 3, 1)
        anew._scores[:] = F
        assert anew.evaluate().error == judged.error
        # Wherever the search begins it ends as good as at the best.
        best = anew.best_scale()
        least = sklearn_log_loss(y, softmax(best * F, axis=1), sample_weight=weight)
        assert anew.evaluate().loss == pytest.approx(least, rel=1e-4)
        assert judged.loss == pytest.approx(least, rel=1e-4)
        wrong = F.argmax(axis=1) != y
        assert judged.error == pytest.approx(np.average(wrong, weights=weight))
        right = sklearn_log_loss(y, softmax(judged.scale * F, axis=1), sample_weight=weight)
        assert judged.loss == pytest.approx(right, rel=1e-12)
    assert validation.replace(whole).error == seen[-1].error


def test_rows_of_other_classes():
    F = np.random.default_rng(0).normal(size=(40, 3))
    y = np.random.default_rng(1).integers(0, 3, 40)
    mixed = np.where(np.arange(40) < 10, UNSEEN, y)
    validation = Validation(rows_of(F, mixed), 3, 1)
    validation._scores[:] = F
    known = Validation(rows_of(F[10:], y[10:]), 3, 1)
    known._scores[:] = F[10:]
    found, right = validation.evaluate(), known.evaluate()
    assert (found.loss, found.scale) == (right.loss, right.scale)
    assert found.error == pytest.approx((10 + 30 * right.error) / 40)
    none = Validation(rows_of(F, np.full(40, UNSEEN)), 3, 1).evaluate()
    assert none.error == 1.0
    assert math.isnan(none.loss)


@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("right", [0.2, 0.6, 1.0])
def test_scores_of_any_size(size, right):
    """Exponentials do not overflow, and Newton's method finds the scale from afar."""
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    F[np.arange(200), y] += np.where(rng.random(200) < right, 2.0, -1.0) + (3 * right == 3)
    validation = Validation(rows_of(F, y), 4, 1)
    validation._scores[:] = size * F
    found, best = validation.evaluate(), validation.best_scale()
    least = sklearn_log_loss(y, softmax(best * size * F, axis=1))
    assert found.loss == pytest.approx(least, rel=1e-3, abs=1e-6)
    assert 2.0**-14 <= found.scale <= 16.0


def test_the_last_round_alone():
    X, y = noisy_problem(100, 3, 3)
    _, whole = boosted(make_tree_method(training_set(X, y), "exponential"), 3)
    builder = EnsembleBuilder.of(whole)
    assert len(builder) == 3
    other = EnsembleBuilder(3, 3)
    boost(make_tree_method(training_set(X, y), "exponential"), 3, other, lambda finished: None)
    last = other.last_round()
    assert (last.n_rounds, last.n_trees) == (1, 1)
    scores = whole.decision_function(X, n_rounds=2)
    last.add_scores(X, scores)
    np.testing.assert_array_equal(scores, whole.decision_function(X))


# --- stopping -------------------------------------------------------------------------------------


def ends_at(losses, n_iter_no_change, tol):
    stopping = EarlyStopping(n_iter_no_change, tol)
    return next((at for at, loss in enumerate(losses) if stopping.is_over(loss)), None)


def test_when_a_loss_has_not_improved():
    assert ends_at([3, 2, 1, 1, 1, 1], 2, 0.0) == 4
    assert ends_at([3, 2, 1, 0.5, 0.2], 1, 0.0) is None
    assert ends_at([1, 2, 3, 0.5, 2, 2, 2], 3, 0.0) == 6
    assert ends_at([1, 2, 3, 0.5, 2, 2, 2], 2, 0.0) == 2
    # What falls by little adds up.
    assert ends_at([1 - 0.04 * t for t in range(20)], 3, 0.1) is None
    assert ends_at([1 - 0.04 * t for t in range(20)], 2, 0.1) == 2


# --- watching -------------------------------------------------------------------------------------


def finished(number, **known):
    return Round(number, np.ones(1), 0.1, 0.0, 0.5, (), **known)


def test_why_a_watch_ends_a_fit(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    losses = iter([3.0, 2.0, 2.0, 2.0])
    monitor = Monitor(
        10, began=99.0, evaluate=lambda: ValidationScore(0.25, next(losses), 1.0),
        stopping=EarlyStopping(2, 0.0), max_time=50.0,
    )  # fmt: skip
    now[0] = 102.0
    assert monitor(finished(1)) is None
    assert monitor.rounds[0].seconds == 3.0
    assert monitor.rounds[0].seconds_left == 18.0
    assert (monitor.rounds[0].validation_error, monitor.rounds[0].validation_loss) == (0.25, 3.0)
    assert monitor(finished(2)) is None
    assert monitor(finished(3)) is None
    assert monitor(finished(4)) == EARLY_STOPPING
    slow = Monitor(10, began=99.0, max_time=3.0)
    assert slow(finished(1)) == MAX_TIME
    assert slow.rounds[0].seconds_left == 0.0
    seen = []
    assert Monitor(10, began=99.0, callbacks=[lambda r: True, seen.append])(finished(1)) == CALLBACK
    assert len(seen) == 1


def test_rounds_of_an_earlier_fit():
    followed, seen = [], []
    stopping = EarlyStopping(2, 0.0)
    monitor = Monitor(
        10, began=0.0, evaluate=lambda: ValidationScore(0.5, 1.0, 1.0), stopping=stopping,
        callbacks=[seen.append], listeners=[followed.append],
    )  # fmt: skip
    monitor.restore(finished(1), 1.5)
    monitor.restore(finished(2), 2.5)
    assert [r.seconds for r in monitor.rounds] == [1.5, 2.5]
    assert monitor(finished(3)) == EARLY_STOPPING
    assert monitor.rounds[2].seconds > 2.5
    assert (len(followed), len(seen)) == (3, 1)
