"""The linear candidate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cuda_on_host import named_device
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from support import assert_same_margin_boost

from marginboost import MarginBoostClassifier, load
from marginboost.backends import choose as backends
from marginboost.boosting import choose, linear
from marginboost.estimators import candidates


def straight(n=300, *, n_classes=3, seed=0):
    """Labels whose log-odds are linear in the columns."""
    slopes = np.random.default_rng(0).normal(size=(5, n_classes))
    rng = np.random.default_rng([1, seed])
    X = rng.normal(size=(n, 5))
    scores = 2.0 * X @ slopes + rng.gumbel(size=(n, n_classes))
    return X.astype(np.float32), scores.argmax(axis=1)


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(candidates, "MOST_ROUNDS", 10)


@pytest.fixture(scope="module")
def fitted():
    X, y = straight()
    return X, y, MarginBoostClassifier(random_state=0).fit(X, y)


def part(model):
    found = [one for one in model.chosen_["parts"] if one["name"] == "linear"]
    return found[0] if found else None


def alone(**settings):
    model = MarginBoostClassifier(random_state=0, **settings)
    model._linear_alone = True
    return model


def test_straight_data_get_a_linear_part(fitted):
    X, y, model = fitted
    assert part(model)["share"] >= 0.5
    assert part(model)["penalty"] in linear.PENALTIES
    trees = MarginBoostClassifier(random_state=0, loss="logistic").fit(X, y)
    assert part(trees) is None
    fresh, labels = straight(2000, seed=1)
    assert log_loss(labels, model.predict_proba(fresh)) < log_loss(
        labels, trees.predict_proba(fresh)
    )


def test_alone_it_is_a_regression():
    """With a bin per value it differs from scikit-learn's by the bounds of far values alone."""
    X, y = load_wine(return_X_y=True)
    model = alone().fit(X, y)
    assert [one["name"] for one in model.chosen_["parts"]] == ["linear"]
    z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    other = LogisticRegression(C=1.0 / part(model)["penalty"], max_iter=1000).fit(z, y)
    ours, theirs = model.decision_function(X), other.decision_function(z)
    ours, theirs = (scores - scores.mean(axis=1, keepdims=True) for scores in (ours, theirs))
    assert np.abs(ours - theirs).max() < 0.1 * np.abs(theirs).max()
    assert (ours.argmax(axis=1) == theirs.argmax(axis=1)).mean() > 0.98


def test_contributions_add_up_and_the_file_keeps_the_part(fitted, tmp_path):
    X, _, model = fitted
    explained = model.explain(X[:5])
    total = explained.contributions.sum(axis=1) + explained.base
    np.testing.assert_array_equal(total, model.decision_function(X[:5]))
    model.save(tmp_path / "model.mb")
    again = load(tmp_path / "model.mb")
    assert again.chosen_ == model.chosen_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (model.split_gains_ >= 0.0).all()
    assert len(model.split_gains_) == len(model.ensemble_.feature)


def mixed():
    """Numbers with gaps, categories, and rows that are equal."""
    X, y = straight(200)
    frame = pd.DataFrame(X, columns=list("abcde")).round(1)
    frame.loc[::7, "a"] = np.nan
    frame["f"] = pd.Categorical(
        np.array(["red", "green", "blue", "grey"])[(y + np.arange(200)) % 4]
    )
    frame = pd.concat([frame, frame.iloc[:30]], ignore_index=True)
    return frame, np.concatenate([y, y[:30]])


@pytest.mark.parametrize("changed", [{"n_jobs": 2}, {"engine": "reference"}, {"device": "cuda"}])
def test_engines_and_threads_give_the_same_bits(few_rounds, monkeypatch, changed):
    if "device" in changed:
        there = named_device("emulated")
        monkeypatch.setattr(backends, "cuda_device", lambda: there)
    X, y = mixed()
    model = MarginBoostClassifier(random_state=0, n_jobs=1).fit(X, y)
    assert part(model) is not None
    other = clone(model).set_params(**changed).fit(X, y)
    assert_same_margin_boost(other, model)
    assert other.chosen_ == model.chosen_


def test_the_order_of_rows_does_not_matter(few_rounds):
    X, y = mixed()
    model = MarginBoostClassifier(random_state=0).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    other = clone(model).fit(X.iloc[order], y[order])
    assert part(model) is not None
    assert_same_margin_boost(other, model)


def test_an_integer_weight_is_a_repetition(few_rounds):
    X, y = mixed()
    times = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = alone().fit(X, y, times)
    repeated = alone().fit(X.loc[X.index.repeat(times)], np.repeat(y, times))
    assert_same_margin_boost(weighted, repeated)


def test_sparse_rows_get_the_linear_part_of_dense_ones(few_rounds):
    X, y = straight()
    X[np.abs(X) < 0.7] = 0.0
    dense = MarginBoostClassifier(random_state=0).fit(X, y)
    other = clone(dense).fit(sparse.csr_array(X), y)
    assert part(dense) is not None
    assert_same_margin_boost(other, dense)


@pytest.mark.parametrize(
    "given",
    [{"loss": "logistic"}, {"max_leaf_nodes": 4}, {"max_depth": 2}, {"monotonic_cst": {0: 1}}],
)
def test_what_is_given_for_trees_leaves_trees_alone(few_rounds, given):
    X, y = straight(n_classes=2)
    assert part(MarginBoostClassifier(random_state=0, **given).fit(X, y)) is None


@pytest.mark.parametrize(("name", "value"), [("MOST_ROWS", 299), ("MOST_PRODUCTS", 4000)])
def test_large_data_have_none(few_rounds, monkeypatch, name, value):
    monkeypatch.setattr(linear, name, value)
    X, y = straight()
    assert part(MarginBoostClassifier(random_state=0).fit(X, y)) is None


def test_validation_rows_choose_the_penalty(few_rounds):
    X, y = straight(400)
    model = MarginBoostClassifier(random_state=0).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert part(model) is not None
    assert len(model.validation_losses_) == model.n_iter_
    only = alone().fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert np.isfinite(only.validation_losses_).all()
    found = log_loss(y[300:], model.predict_proba(X[300:]))
    assert model.chosen_["held_out_loss"] == pytest.approx(found)


def test_ctrl_c_keeps_the_trees(few_rounds, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(linear._native, "fit_regression", interrupted, raising=True)
    X, y = straight()
    with pytest.warns(UserWarning, match="Interrupted"):
        model = MarginBoostClassifier(random_state=0).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert part(model) is None


def test_without_columns_there_is_no_linear_part():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    for model in (MarginBoostClassifier(random_state=0), alone()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), 0.5)


@pytest.mark.parametrize("joins", [True, False])
def test_on_clean_data_it_must_not_make_more_errors(monkeypatch, few_rounds, joins):
    X, y = straight(n_classes=2)
    X[:, 0] = y + X[:, 0] * 0.05
    joined = linear._joined

    def wrong(trials):
        scores = joined(trials)
        return scores._replace(logs=-scores.logs)

    if not joins:
        monkeypatch.setattr(linear, "_joined", wrong)
    seen = []
    blend = choose.blend_fits
    monkeypatch.setattr(
        choose, "blend_fits", lambda run, fits: seen.append(fits) or blend(run, fits)
    )
    MarginBoostClassifier(random_state=0).fit(X, y)
    assert seen[0][0].is_clean
    assert len(seen[0]) == (2 if joins else 1)
