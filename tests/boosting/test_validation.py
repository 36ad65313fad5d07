"""Scores of validation rows, moved on round by round."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.metrics import log_loss as sklearn_log_loss
from support import boosted, make_method, make_tree_method, noisy_problem, training_set

from marginboost.boosting.calibration import best_step, scale_of
from marginboost.boosting.loop import boost
from marginboost.boosting.validation import UNSEEN, Validation, ValidationRows
from marginboost.model.builder import EnsembleBuilder


def rows_of(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return ValidationRows(X, np.asarray(y), weight, math.inf)  # as many as leave no doubt


def best_scale(validation):
    """Return the scale of least log loss, by bisection."""
    logs, _, weight, n_rows = validation._logs()
    return scale_of(best_step(logs, weight, n_rows))


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
        best = best_scale(anew)
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
    found, best = validation.evaluate(), best_scale(validation)
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
