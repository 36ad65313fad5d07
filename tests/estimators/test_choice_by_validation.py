"""What a fit decides by validation rows that the user gives."""

import math
import warnings

import numpy as np
import pytest
from choice_problems import NAMES, problem, rare_problem
from sklearn.base import clone
from sklearn.metrics import log_loss
from support import assert_same_margin_boost

from marginboost import MarginBoostClassifier
from marginboost.boosting import choose, trial


@pytest.fixture(scope="module")
def validated():
    X, y = problem(600)
    rows = {"X_val": X[300:], "y_val": y[300:]}
    return X, y, MarginBoostClassifier(random_state=0).fit(X[:300], y[:300], **rows)


def test_validation_rows_take_the_place_of_held_out_ones(monkeypatch, validated):
    X, y, model = validated
    parts, chosen = model.chosen_["parts"], model.chosen_
    assert sum(part["share"] for part in parts) == 1.0
    assert {part["name"] for part in parts} <= NAMES
    assert all(part["n_estimators"] in trial.CHECKPOINTS for part in parts)
    assert chosen["held_out_error"] == pytest.approx(1.0 - model.score(X[300:], y[300:]))
    found = log_loss(y[300:], model.predict_proba(X[300:]))
    assert chosen["held_out_loss"] == pytest.approx(found)
    assert model.validation_score_ == pytest.approx(model.score(X[300:], y[300:]))
    assert len(model.validation_losses_) == model.n_iter_ == len(model.train_errors_)
    assert model.calibration_rows_.count().sum() == 300
    monkeypatch.setattr(choose, "Trials", None)  # there are none
    rows = {"X_val": X[300:], "y_val": y[300:]}
    assert_same_margin_boost(clone(model).fit(X[:300], y[:300], **rows), model)


def test_the_fits_are_those_of_all_rows(validated):
    """A part is what a single fit with its settings and rounds gives."""
    X, y, model = validated
    part = model.chosen_["parts"][0]
    names = ("n_estimators", "loss", "learning_rate", "max_leaf_nodes", "max_features", "subsample")
    alone = MarginBoostClassifier(
        **{name: part[name] for name in names}, max_bins=255, random_state=0, calibrate=False
    ).fit(X[:300], y[:300])
    n_nodes = len(alone.ensemble_.feature)
    np.testing.assert_array_equal(model.ensemble_.feature[:n_nodes], alone.ensemble_.feature)
    np.testing.assert_array_equal(model.ensemble_.threshold[:n_nodes], alone.ensemble_.threshold)


def test_clean_validation_rows_leave_one_fit():
    X, y = problem(600, noise=0.0, n_classes=2)
    X[:, 0] = y * 4.0 + X[:, 0] * 0.1
    model = MarginBoostClassifier(random_state=0)
    model.fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    assert {part["name"] for part in model.chosen_["parts"]} <= {"margin", "linear"}
    assert model.n_iter_ >= 100


def test_validation_rows_of_a_rare_class_are_not_clean_either():
    X, y, _ = rare_problem(3_000)
    model = MarginBoostClassifier(random_state=0)
    model.fit(X[:2_000], y[:2_000], X_val=X[2_000:], y_val=y[2_000:])
    assert model.chosen_["held_out_error"] < choose.CLEAN
    assert max(part["n_estimators"] for part in model.chosen_["parts"]) < 100


@pytest.mark.parametrize("settings", [{"n_estimators": 7}, {"calibrate": False}])
def test_nothing_is_chosen_by_validation_rows_where_the_user_says_so(settings):
    X, y = problem()
    model = MarginBoostClassifier(random_state=0, **settings)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.chosen_["parts"][0]["name"] == "given"


def test_validation_rows_of_other_classes_alone_decide_nothing_about_rounds():
    X, y = problem(200)
    model = MarginBoostClassifier(random_state=0, max_time=60)
    known = y < 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X[known], y[known], X_val=X, y_val=y)
    assert math.isfinite(model.chosen_["held_out_loss"])
