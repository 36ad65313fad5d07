"""Repeats: the mean of several fits takes the place of one where there are few rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from support import assert_same_margin_boost

from marginboost import MarginBoostClassifier, load
from marginboost.boosting import linear, repeats
from marginboost.boosting.repeats import FIRST_STREAM, n_repeats, side_by_side


@pytest.fixture(autouse=True)
def trees_alone(monkeypatch):
    """A linear model is fitted once: it draws nothing."""
    monkeypatch.setattr(linear, "MOST_ROWS", 0)


@pytest.fixture(scope="module")
def clean():
    X, y = load_iris(return_X_y=True)
    return np.delete(X, slice(50, 100), axis=0), np.delete(
        y, slice(50, 100)
    )  # two classes, far apart


@pytest.fixture(scope="module")
def noisy():
    return make_classification(
        240, 6, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.3, random_state=0
    )


def fit(data, **settings):
    return MarginBoostClassifier(random_state=0, **settings).fit(*data)


def fits_of(model):
    return {part["fits"] for part in model.chosen_["parts"]}


@pytest.mark.parametrize(
    ("rows", "classes", "more"),
    [
        (10, 3, 3),
        (3999, 100, 3),
        (3999, 101, 0),
        (4000, 2, 1),
        (19_999, 20, 1),
        (20_000, 2, 0),
        (10**6, 2, 0),
    ],
)
def test_few_rows_and_classes_are_repeated(rows, classes, more):
    assert n_repeats(rows, classes) == more


@pytest.mark.parametrize(
    ("rows", "threads", "fits"),
    [(500, 1, 1), (500, 2, 2), (500, 5, 5), (500, 64, 9), (5_000, 64, 3), (50_000, 64, 2)],
)
def test_fits_run_side_by_side(rows, threads, fits):
    assert side_by_side(rows, 3, threads) == fits


@pytest.mark.parametrize("n_jobs", [1, 3, 9])
def test_many_threads_give_the_same_model(noisy, n_jobs):
    assert_same_margin_boost(fit(noisy, n_jobs=n_jobs), fit(noisy, n_jobs=2))


def test_few_rows_are_fitted_four_times(noisy):
    assert fits_of(fit(noisy)) == {4}


def test_the_model_is_the_mean_of_its_fits(clean, monkeypatch):
    X, _ = clean
    mean = fit(clean)
    assert fits_of(mean) == {4}
    monkeypatch.setattr(repeats, "REPEATS", ())
    first = fit(clean)
    assert fits_of(first) == {1}
    rounds = first.n_iter_
    assert mean.n_iter_ == 4 * rounds
    monkeypatch.setattr(repeats, "REPEATS", ((4000, 1),))
    total = first.decision_function(X)
    for number in range(3):
        monkeypatch.setattr(repeats, "FIRST_STREAM", FIRST_STREAM + number)
        two = fit(clean)
        assert fits_of(two) == {2}
        other = 2.0 * two.decision_function(X) - first.decision_function(X)
        assert not np.allclose(other, first.decision_function(X))
        total = total + other
    np.testing.assert_allclose(mean.decision_function(X), total / 4.0, atol=1e-8)


def test_threads_do_not_matter(noisy):
    assert_same_margin_boost(fit(noisy, n_jobs=1), fit(noisy, n_jobs=2))


def test_where_nothing_is_drawn_there_is_nothing_to_repeat(noisy):
    assert fits_of(fit(noisy, subsample=1.0, max_features=1.0)) == {1}


def test_validation_rows_judge_the_mean(noisy):
    X, y = noisy
    model = MarginBoostClassifier(random_state=0).fit(
        X[:160], y[:160], X_val=X[160:], y_val=y[160:]
    )
    assert fits_of(model) == {4}
    error = 1.0 - model.score(X[160:], y[160:])
    assert model.chosen_["held_out_error"] == pytest.approx(error)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_repeats_that_run_out_of_time_are_left_out(noisy, monkeypatch, n_jobs):
    monkeypatch.setattr(repeats, "perf_counter", lambda: np.inf)
    model = fit(noisy, n_jobs=n_jobs, max_time=1e6)
    assert fits_of(model) == {1}
    assert model.stop_reason_ == "max_time"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_repeat_keeps_the_model_of_the_first_fits(noisy, monkeypatch, n_jobs):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr(repeats, "boost", interrupted)
        with pytest.warns(UserWarning, match="Interrupted"):
            model = fit(noisy, n_jobs=n_jobs)
    assert model.stop_reason_ == "interrupted"
    assert fits_of(model) == {1}
    monkeypatch.setattr(repeats, "REPEATS", ())
    X, _ = noisy
    np.testing.assert_array_equal(model.predict_proba(X), fit(noisy).predict_proba(X))


def test_the_number_of_fits_is_saved(noisy, tmp_path):
    model = fit(noisy)
    model.save(tmp_path / "model.safetensors")
    assert load(tmp_path / "model.safetensors").chosen_ == model.chosen_
