"""What a fit decides where the user leaves it to it."""

import json
import math
import warnings

import numpy as np
import pytest
from choice_problems import NAMES, problem, rare_problem
from cuda_on_host import named_device
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import assert_same_margin_boost

from marginboost import MarginBoostClassifier, MCBoostClassifier, load
from marginboost.backends import choose as backends
from marginboost.boosting import choose, trial
from marginboost.boosting.trial import n_trials
from marginboost.data import row_view
from marginboost.estimators import candidates
from marginboost.model.archive import Archive
from marginboost.model.choice_field import ChoiceField
from marginboost.model.file_text import ModelFileError


@pytest.fixture(scope="module")
def noisy():
    X, y = problem()
    return X, y, MarginBoostClassifier(random_state=0).fit(X, y)


# --- the decisions --------------------------------------------------------------------------------


def test_noisy_data_get_a_sum_of_fits(noisy):
    X, _, model = noisy
    parts = model.chosen_["parts"]
    assert {part["name"] for part in parts} <= NAMES
    shares = [part["share"] for part in parts]
    assert sum(shares) == 1.0
    assert shares == sorted(shares, reverse=True)
    assert model.n_iter_ == sum(part["fits"] * part["n_estimators"] for part in parts)
    assert model.n_iter_ == len(model.train_errors_)
    assert len(list(model.staged_predict(X))) == model.n_iter_


def test_clean_data_get_the_large_margin_alone():
    X, y = problem(600, noise=0.0, n_classes=2)
    X[:, 0] = y * 4.0 + X[:, 0] * 0.1
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert {part["name"] for part in model.chosen_["parts"]} <= {"margin", "linear"}
    assert model.chosen_["held_out_error"] < choose.CLEAN


def test_few_errors_alone_do_not_make_rare_classes_clean():
    """Always predicting the frequent class has an error of 3 %, and has learned nothing."""
    X, y, share = rare_problem(7_000)
    model = MarginBoostClassifier(random_state=0).fit(X[:3_000], y[:3_000])
    assert model.chosen_["held_out_error"] < choose.CLEAN
    parts = {part["name"]: part["n_estimators"] for part in model.chosen_["parts"]}
    assert parts.keys() & {"large", "small"}
    assert max(parts.values()) < 100
    # Half of the way from the class frequencies to the probabilities that the rows were drawn with.
    least, frequencies, found = (
        log_loss(y[3_000:], shares)
        for shares in (
            share[3_000:],
            np.full(4_000, y[:3_000].mean()),
            model.predict_proba(X[3_000:]),
        )
    )
    assert found < (least + frequencies) / 2


def test_rare_classes_that_are_told_apart_are_clean():
    X, y, _ = rare_problem(3_000)
    X[:, 3] = y + 0.1 * X[:, 3]
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert {part["name"] for part in model.chosen_["parts"]} <= {"margin", "linear"}


def test_the_held_out_scores_are_honest(noisy):
    """They are about what rows show that come afterwards, not what the training rows show."""
    X, y = problem(4240)
    model = MarginBoostClassifier(random_state=0).fit(X[:240], y[:240])
    error = 1.0 - model.score(X[240:], y[240:])
    loss = log_loss(y[240:], model.predict_proba(X[240:]))
    assert model.chosen_["held_out_error"] == pytest.approx(error, abs=0.1)
    assert model.chosen_["held_out_loss"] == pytest.approx(loss, abs=0.15)
    assert model.score(X[:240], y[:240]) > 1.0 - model.chosen_["held_out_error"] + 0.05


def test_the_choice_beats_the_fixed_setting_on_noise():
    gains = []
    for seed in range(4):
        X, y = problem(1200, noise=0.4, seed=seed)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.6, random_state=0)
        chosen, fixed = (
            MarginBoostClassifier(n, random_state=0).fit(X, y).predict_proba(X_test)
            for n in ("auto", 100)
        )
        gains.append(log_loss(y_test, fixed) - log_loss(y_test, chosen))
    assert np.mean(gains) > 0.02


def test_a_first_trial_that_is_clean_decides(monkeypatch):
    """Also where the error after the rounds that are kept is above the limit."""
    monkeypatch.setattr(trial.Trials, "_looks_clean", lambda trials, first: True)
    monkeypatch.setattr(choose, "CLEAN", 0.0)
    model = MarginBoostClassifier(random_state=0).fit(*problem())
    assert {part["name"] for part in model.chosen_["parts"]} <= {"margin", "linear"}


def test_few_rows_are_held_out_more_often():
    assert [n_trials(n) for n in (100, 1000, 3000, 100_000)] == [4, 3, 2, 1]


def test_held_out_rows_are_sorted_once_a_trial(monkeypatch):
    calls = []
    merged = row_view.merged
    monkeypatch.setattr(row_view, "merged", lambda *rows: calls.append(1) or merged(*rows))
    model = MarginBoostClassifier(random_state=0).fit(*problem())
    assert len(model.chosen_["parts"]) > 1
    assert len(calls) == 3 * n_trials(240)


# --- what the user gives, stays -------------------------------------------------------------------


def test_given_settings_are_kept_in_all_parts():
    X, y = problem()
    given = {"loss": "logistic", "max_leaf_nodes": 5, "subsample": 1.0}
    model = MarginBoostClassifier(random_state=0, **given).fit(X, y)
    for part in model.chosen_["parts"]:
        assert {name: part[name] for name in given} == given


def test_settings_that_leave_nothing_to_choose_are_fitted_once():
    X, y = problem()
    given = {
        "loss": "logistic",
        "max_leaf_nodes": 5,
        "learning_rate": 0.3,
        "max_features": 1.0,
        "subsample": 1.0,
    }
    model = MarginBoostClassifier(random_state=0, **given).fit(X, y)
    assert len(model.chosen_["parts"]) == 1


@pytest.mark.parametrize(
    "settings",
    [{"n_estimators": 7}, {"calibrate": False}, {"early_stopping": True}, {"warm_start": True}],
)
def test_nothing_is_chosen_where_the_user_says_so(settings):
    X, y = problem()
    model = MarginBoostClassifier(random_state=0, **settings).fit(X, y)
    (part,) = model.chosen_["parts"]
    assert part == {
        "name": "given",
        "share": 1.0,
        "fits": 1,
        "n_estimators": model.n_iter_,
        "loss": "exponential",
        "learning_rate": 0.2,
        "max_leaf_nodes": 31,
        "max_features": 0.5,
        "subsample": 0.5,
    }
    assert math.isnan(model.chosen_["held_out_error"])


@pytest.mark.parametrize("name", ["n_estimators", "learning_rate", "max_features", "subsample"])
def test_other_words_than_auto_are_refused(name):
    X, y = problem(60)
    with pytest.raises(ValueError, match=f"{name} must be .*, or \"auto\"; got 'most'"):
        MarginBoostClassifier(**{name: "most"}).fit(X, y)


def test_other_classifiers_know_no_auto():
    X, y = problem(60)
    with pytest.raises(ValueError, match="n_estimators must be an integer at least 1; got 'auto'"):
        MCBoostClassifier("auto").fit(X, y)


# --- the same decisions everywhere ----------------------------------------------------------------


@pytest.fixture
def few_rounds(monkeypatch):
    """One short trial per candidate: what is slow is not the choice."""
    monkeypatch.setattr(trial, "TRIALS", ())
    monkeypatch.setattr(candidates, "MOST_ROUNDS", 3)


def test_the_reference_engine_chooses_the_same(few_rounds):
    X, y = problem(90)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    other = clone(model).set_params(engine="reference").fit(X, y)
    assert len(model.chosen_["parts"]) > 1
    assert other.chosen_ == model.chosen_
    assert_same_margin_boost(other, model)


@pytest.mark.parametrize("settings", [{"n_jobs": 1}, {"n_jobs": 3}])
def test_threads_choose_the_same(noisy, settings):
    X, y, model = noisy
    other = clone(model).set_params(**settings).fit(X, y)
    assert other.chosen_ == model.chosen_
    assert_same_margin_boost(other, model)


@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_a_gpu_chooses_the_same(monkeypatch, few_rounds, device):
    there = named_device(device)
    monkeypatch.setattr(backends, "cuda_device", lambda: there)
    X, y = problem(60)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    other = clone(model).set_params(device="cuda").fit(X, y)
    assert other.chosen_ == model.chosen_
    assert_same_margin_boost(other, model)


@pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")
def test_a_cluster_chooses_the_same(few_rounds, client):
    da = pytest.importorskip("dask.array")
    X, y = problem(90)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    other = clone(model).fit(da.from_array(X, chunks=(80, -1)), da.from_array(y, chunks=80))
    assert other.chosen_ == model.chosen_
    assert_same_margin_boost(other, model)


def test_the_order_of_rows_does_not_matter(noisy):
    X, y, model = noisy
    order = np.random.default_rng(0).permutation(len(y))
    assert_same_margin_boost(clone(model).fit(X[order], y[order]), model)


def test_an_integer_weight_is_a_repetition():
    X, y = problem(60)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = MarginBoostClassifier(random_state=0).fit(X, y, sample_weight=weight)
    repeated = MarginBoostClassifier(random_state=0).fit(
        np.repeat(X, weight, 0), np.repeat(y, weight)
    )
    assert weighted.chosen_ == repeated.chosen_
    assert_same_margin_boost(weighted, repeated)


# --- files, callbacks, interrupts -----------------------------------------------------------------


def test_a_file_keeps_the_choice(noisy, tmp_path):
    X, _, model = noisy
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.chosen_ == model.chosen_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_explanations_of_a_sum_add_up(noisy):
    X, _, model = noisy
    explained = model.explain(X[:20])
    total = explained.contributions.sum(axis=1) + explained.base
    scores = model.decision_function(X[:20])
    np.testing.assert_array_equal(total, np.take_along_axis(scores, explained.classes, axis=1))


def test_a_callback_ends_the_fit():
    X, y = problem()
    model = MarginBoostClassifier(random_state=0, callbacks=[lambda finished: finished.number == 3])
    model.fit(X, y)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ <= 3


def test_a_callback_in_a_later_fit_keeps_the_earlier_ones():
    X, y = problem()
    seen = []

    def stop_in_the_second(finished):
        seen.append(finished.number)
        return seen.count(1) == 2

    model = MarginBoostClassifier(random_state=0, callbacks=[stop_in_the_second]).fit(X, y)
    assert model.stop_reason_ == "callback"
    assert {part["name"] for part in model.chosen_["parts"]} <= {"margin", "linear"}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_time_leaves_a_model(n_jobs):
    X, y = problem()
    model = MarginBoostClassifier(random_state=0, max_time=1e-9, n_jobs=n_jobs).fit(X, y)
    assert model.stop_reason_ == "max_time"
    assert model.n_iter_ == 1


def test_rows_without_signal_give_the_class_frequencies():
    X, y = np.zeros((100, 2)), np.repeat([0, 1], [20, 80])
    with pytest.warns(UserWarning, match="No split is possible"):
        model = MarginBoostClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.2, 0.8]])


def test_trials_that_find_no_split():
    """Twelve rows can be split with five on each side, the ten that a trial sees cannot."""
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MarginBoostClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_too_few_rows_to_hold_out_any():
    X, y = problem(8, n_classes=2, noise=0.0)
    model = MarginBoostClassifier(random_state=0, min_samples_leaf=1).fit(X, y)
    assert model.predict_proba(X).shape == (8, 2)
    json.dumps(model.chosen_)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts": 3},
        {"parts": [{"share": 2.0}]},
        {"held_out_error": -1.0},
        {"more": 1},
    ],
)
def test_a_corrupted_choice_is_refused(noisy, wrong):
    _, _, model = noisy
    archive = Archive({}, {})
    ChoiceField().put(archive, "chosen_", model.chosen_)
    archive.entries["chosen_"] |= wrong
    with pytest.raises(ModelFileError):
        ChoiceField().take(archive, "chosen_")
