"""Rounds that are found in one call are those that are found one by one."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier
from marginboost.boosting.methods import marginboost as method
from marginboost.boosting.rounds_ahead import most_ahead


def problem(n_classes, n_rows=300, levels=None):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 6)) + 0.7 * (y[:, None] % np.arange(2, 8))
    return (X if levels is None else np.round(X * levels)), y


def fitted(X, y, ahead, monkeypatch, **parameters):
    with monkeypatch.context() as patch:
        if not ahead:
            patch.setattr(method, "most_ahead", lambda *shape: 0)
        return MarginBoostClassifier(random_state=3, n_jobs=1, **parameters).fit(X, y)


CASES = {
    "defaults": (3, None, {}),
    "two classes": (2, None, {"n_estimators": 40}),
    "classes that share lanes": (30, None, {"n_estimators": 20}),
    "logistic": (4, None, {"n_estimators": 40, "loss": "logistic"}),
    "copies of rows": (3, 0.4, {"n_estimators": 40}),
    "all rows and features": (3, None, {"n_estimators": 30, "subsample": 1.0, "max_features": 1.0}),
    "an end before the last round": (2, None, {"n_estimators": 400, "learning_rate": 1.0}),
    "ordered classes": (5, None, {"n_estimators": 40, "cost_matrix": "ordinal"}),
    "ordered classes, logistic": (
        *(5, None),
        {"n_estimators": 40, "cost_matrix": "ordinal", "loss": "logistic"},
    ),
    "shallow": (5, None, {"n_estimators": 30, "max_depth": 2, "max_leaf_nodes": 5}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_model_has_the_same_bits(case, monkeypatch):
    n_classes, levels, parameters = CASES[case]
    X, y = problem(n_classes, levels=levels)
    one = fitted(X, y, False, monkeypatch, **parameters)
    some = fitted(X, y, True, monkeypatch, **parameters)
    assert some.n_iter_ == one.n_iter_
    assert some.stop_reason_ == one.stop_reason_
    assert some.chosen_ == one.chosen_
    for name in ("train_errors_", "split_gains_", "feature_importances_"):
        assert np.array_equal(getattr(some, name), getattr(one, name)), name
    assert np.array_equal(some.decision_function(X), one.decision_function(X))
    assert np.array_equal(some.predict_proba(X), one.predict_proba(X))


def test_rounds_are_found_ahead(monkeypatch):
    """The cases above compare two things: not one with itself."""
    calls = []
    boost = method.TreeWeights.boost_rounds
    monkeypatch.setattr(
        method.TreeWeights,
        "boost_rounds",
        lambda self, draws, *rest: calls.append(draws.n_rounds) or boost(self, draws, *rest),
    )
    X, y = problem(3)
    MarginBoostClassifier(n_estimators=40, n_jobs=1, calibrate=False).fit(X, y)
    assert calls == [32, 8]


def test_a_callback_that_ends_the_fit_gets_its_rounds():
    X, y = problem(3)
    model = MarginBoostClassifier(
        n_estimators=40, random_state=0, callbacks=[lambda finished: finished.number == 5]
    ).fit(X, y)
    plain = MarginBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert model.n_iter_ == 5
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("shape", "rounds"),
    [
        ((10, 4, 3), 32),
        ((16_000, 16, 26), 32),
        ((100_000, 30, 10), 25),
        ((10**7, 30, 10), 1),
        ((464_809, 54, 7), 3),
        ((464_809, 54, 7, 16), 30),
    ],
)
def test_calls_are_short(shape, rounds):
    assert most_ahead(*shape) == rounds
