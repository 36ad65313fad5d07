"""The candidate whose trees see all of few columns with few values."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier
from marginboost.estimators import candidates
from tests.choice_problems import problem, rule_problem


def parts(model):
    return {part["name"]: part for part in model.chosen_["parts"]}


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_rules_that_others_miss(seed, monkeypatch):
    X, y = rule_problem(seed=seed)
    train = np.arange(len(y)) < 700

    def n_wrong():
        model = MarginBoostClassifier(random_state=0).fit(X[train], y[train])
        return model, np.count_nonzero(model.predict(X[~train]) != y[~train])

    model, wrong = n_wrong()
    assert "rules" in parts(model)
    monkeypatch.setattr(candidates, "MOST_ROWS_OF_RULES", 0)
    without, more = n_wrong()
    assert "rules" not in parts(without)
    assert wrong < 0.75 * more


def test_where_it_is_clean_those_for_noise_are_left_out():
    """Also where the first candidate is not; numbers count as well as text."""
    X, y = rule_problem()
    codes = X.apply(lambda column: column.map({"x": 0.0, "y": 1.0, "z": 2.0}))
    model = MarginBoostClassifier(random_state=0).fit(codes, y)
    assert parts(model).keys() <= {"margin", "rules", "linear"}
    assert parts(model)["rules"]["n_estimators"] >= 100
    assert model.chosen_["held_out_error"] < 0.05


def test_a_clean_first_candidate_and_it_are_judged_by_the_same_rows():
    X, y = rule_problem(2_500, n_rules=2)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert parts(model).keys() <= {"margin", "rules", "linear"}
    assert np.isfinite(model.chosen_["held_out_loss"])


def test_validation_rows_judge_it_too():
    X, y = rule_problem()
    train = np.arange(len(y)) < 700
    model = MarginBoostClassifier(random_state=0)
    model.fit(X[train], y[train], X_val=X[~train], y_val=y[~train])
    assert "rules" in parts(model)


def test_noise_and_columns_of_many_values_do_without():
    X, y = problem()
    assert "rules" not in parts(MarginBoostClassifier(random_state=0).fit(X, y))
    X, y = rule_problem(noise=0.5)
    assert np.isfinite(MarginBoostClassifier(random_state=0).fit(X, y).chosen_["held_out_loss"])


def test_decisions_are_the_same_for_any_threads_and_order_of_rows():
    X, y = rule_problem(600, noise=0.1)
    other = np.random.default_rng(0).permutation(len(y))
    found = [
        MarginBoostClassifier(random_state=0, n_jobs=n_jobs).fit(X.iloc[rows], y[rows])
        for n_jobs, rows in ((1, slice(None)), (3, slice(None)), (2, other))
    ]
    expected = found[0].predict_proba(X)
    for model in found[1:]:
        assert model.chosen_ == found[0].chosen_
        np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_parameters_that_are_given_make_it_the_first():
    X, y = rule_problem()
    model = MarginBoostClassifier(max_features=1.0, random_state=0).fit(X, y)
    assert "rules" not in parts(model)
