"""Columns of many categories: what is learned from labels is not learned from held-out rows."""

import numpy as np
import pandas as pd
import pytest
from cuda_on_host import named_device
from sklearn.base import clone
from support import assert_same_margin_boost

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends import choose as backends
from marginboost.boosting import trial
from marginboost.data import category_shares
from marginboost.estimators import candidates
from marginboost.evaluation.sets import set_coverage


@pytest.fixture(autouse=True, params=[category_shares.MANY, 3], ids=["few", "many"])
def kind(request, monkeypatch):
    """Treat towns as a few categories, or as many."""
    monkeypatch.setattr(category_shares, "MANY", request.param)
    monkeypatch.setattr(category_shares, "FREQUENT", 10**6)
    return request.param


def towns(n=600, n_towns=20, *, share=0.5, seed=0):
    """Rows whose class depends on their town in a share of all cases."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    y = np.where(rng.random(n) < share, town % 3, rng.integers(0, 3, n))
    frame = pd.DataFrame({"x": rng.normal(size=n).round(1)})
    frame["town"] = pd.Categorical([f"t{t:03}" for t in town])
    return frame, pd.Series(y)


@pytest.fixture
def few_rounds(monkeypatch):
    """One short trial per candidate."""
    monkeypatch.setattr(trial, "TRIALS", ())
    monkeypatch.setattr(candidates, "MOST_ROUNDS", 3)


def assert_same_choice(one, other):
    assert one.chosen_ == other.chosen_
    assert_same_margin_boost(one, other)
    np.testing.assert_array_equal(one.calibration_rows_.steps, other.calibration_rows_.steps)


def test_towns_that_say_nothing_are_worth_nothing():
    """Orders of all rows would show the labels of the held-out ones."""
    X, y = towns(4_000, 250, share=0.0)
    old = np.arange(len(y)) < 3_000
    model = MarginBoostClassifier(random_state=0).fit(X[old], y[old])
    assert model.chosen_["held_out_error"] > 0.61
    assert model.chosen_["held_out_loss"] > 1.09
    sets = model.predict_set(X[~old], coverage=0.8)
    assert set_coverage(sets, y[~old].to_numpy())[0] > 0.76


def test_the_fit_that_calibrates_does_not_see_them_either():
    X, y = towns(3_000, 250, share=0.0)
    model = MarginBoostClassifier(20, random_state=0).fit(X, y)
    assert model.probability_scale_ < 0.5


def test_the_reference_engine(few_rounds):
    X, y = towns(150, 8)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert model.encoding_.categories[1]
    assert_same_choice(clone(model).set_params(engine="reference").fit(X, y), model)


@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_a_gpu(monkeypatch, few_rounds, device):
    there = named_device(device)
    monkeypatch.setattr(backends, "cuda_device", lambda: there)
    X, y = towns(100, 5)
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert_same_choice(clone(model).set_params(device="cuda").fit(X, y), model)


@pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")
def test_a_cluster(few_rounds, client):
    dd = pytest.importorskip("dask.dataframe")
    X, y = towns(150, 8)
    X.loc[100:] = X.loc[:49].to_numpy()  # copies that lie in other partitions
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    other = clone(model).fit(*(dd.from_pandas(part, npartitions=3) for part in (X, y)))
    assert_same_choice(other, model)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("max_bins", ["auto", 4])
def test_the_order_of_rows_and_threads(n_jobs, max_bins):
    X, y = towns(300, 12)
    X["x"] = 0.0  # so that there are copies, and with few bins, towns that no bin tells apart
    model = MarginBoostClassifier(random_state=0, max_bins=max_bins).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    other = clone(model).set_params(n_jobs=n_jobs).fit(X.iloc[order], y.iloc[order])
    assert_same_choice(other, model)


def test_an_integer_weight_is_a_repetition():
    X, y = towns(100, 5)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = MarginBoostClassifier(random_state=0).fit(X, y, sample_weight=weight)
    places = np.repeat(np.arange(len(y)), weight)
    repeated = MarginBoostClassifier(random_state=0).fit(X.iloc[places], y.iloc[places])
    assert weighted.chosen_ == repeated.chosen_
    assert_same_margin_boost(weighted, repeated)


# --- early stopping -------------------------------------------------------------------------------


def stopped(estimator=MarginBoostClassifier, **settings):
    return estimator(30, early_stopping=True, validation_fraction=0.3, **settings)


def test_validation_rows_do_not_order_categories():
    X, y = towns(3_000, 250, share=0.0)
    model = stopped(random_state=0).fit(X, y)
    assert min(model.validation_losses_) > 1.09


@pytest.mark.parametrize("estimator", [MarginBoostClassifier, MCBoostClassifier])
def test_the_model_predicts_with_the_orders_that_it_was_trained_with(estimator, kind):
    if kind == 3:
        pytest.skip("of many categories rows in training have positions without their own labels")
    X, y = towns(600, 30)
    settings = {} if estimator is MCBoostClassifier else {"random_state": 0}
    model = stopped(estimator, **settings).fit(X, y)
    n_seen, last = model.class_count_.sum(), model.n_iter_ - 1
    n_wrong = n_seen * model.train_errors_[last]
    n_wrong += (len(y) - n_seen) * model.validation_errors_[last]
    assert len(y) * (1.0 - model.score(X, y)) == pytest.approx(n_wrong)


def test_early_stopping_on_other_engines(client):
    dd = pytest.importorskip("dask.dataframe")
    X, y = towns(150, 8)
    model = stopped(random_state=0, max_leaf_nodes=4, calibrate=False).fit(X, y)
    there = clone(model).fit(*(dd.from_pandas(part, npartitions=2) for part in (X, y)))
    for other in (there, clone(model).set_params(engine="reference").fit(X, y)):
        assert_same_margin_boost(other, model)


def test_a_warm_start_has_the_same_orders():
    X, y = towns(300, 12)
    model = stopped(random_state=0, warm_start=True).fit(X, y)
    before, encoding = model.ensemble_.vectors, model.encoding_
    model.set_params(n_estimators=60, n_iter_no_change=40).fit(X, y)  # with other orders, an error
    assert model.encoding_.agrees_with(encoding)
    np.testing.assert_array_equal(model.ensemble_.vectors[: len(before)], before)
