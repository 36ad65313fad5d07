"""Positions in columns of many categories, and rows that have no part in their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import TargetEncoder

from marginboost import MarginBoostClassifier, MCBoostClassifier, load
from marginboost.backends.host import Host
from marginboost.data.category_shares import (
    FREQUENT,
    N_FOLDS,
    UNIT,
    category_shares,
    has_many,
    least_rows_of_many,
)
from marginboost.data.row_view import RowView


def households(n=1_500, n_households=150, n_classes=4, seed=0):
    """Households that like one class more than others, and a number that says something too."""
    rng = np.random.default_rng(seed)
    house = rng.integers(0, n_households, n)
    taste = rng.gumbel(size=(n_households, n_classes)) * 1.5
    price = rng.normal(size=(n, n_classes)).round(1)
    y = (taste[house] - price + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    frame = pd.DataFrame(price, columns=list("abcd")[:n_classes])
    frame["house"] = pd.Categorical([f"h{number:03}" for number in house])
    return frame, y


def prepared(frame, y, weight=None, **settings):
    model = MarginBoostClassifier(**settings)
    return Host("native", 1).prepare(model._requirements(None), frame, y, weight)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_positions_are_those_of_an_encoder_of_scikit_learn(n_classes):
    frame, y = households(n_classes=n_classes)
    made = prepared(frame, y).encoding
    oracle = TargetEncoder(smooth=10.0).fit(frame[["house"]], y).encodings_
    found = [p * UNIT for p in made.positions if p is not None]
    assert len(found) == len(oracle) == (1 if n_classes == 2 else 4)
    for position in found:
        # One for every class; with two classes, the second's or what is left.
        apart = [min(np.abs(position - o).max(), np.abs(position - (1 - o)).max()) for o in oracle]
        assert min(apart) < UNIT


def test_the_rows_of_a_fold_have_no_part_in_their_positions():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, size=(N_FOLDS, 80, 3))
    frequent = counts.sum(axis=(0, 2)) >= FREQUENT
    assert 0 < frequent.sum() < len(frequent)
    found = category_shares(counts, 3)
    for fold in range(N_FOLDS):
        usual = counts.sum(axis=(0, 1)) / counts.sum()
        rest = np.delete(counts, fold, axis=0).sum(axis=0)
        shares = (rest + 10.0 * usual) / (rest.sum(axis=1, keepdims=True) + 10.0)
        for of_fold, of_all in zip(found.of_fold, found.positions, strict=True):
            apart = [np.abs(of_fold[fold] * UNIT - s)[~frequent].max() for s in shares.T]
            assert min(apart) < UNIT
            np.testing.assert_array_equal(of_fold[fold][frequent], of_all[frequent])


def test_bins_are_those_of_positions_without_the_own_fold():
    frame, y = households()
    data, _, encoding = prepared(frame, y)
    folds, codes = data._folds(), data.categories.codes[0]
    assert set(folds) == set(range(N_FOLDS))
    assert np.bincount(folds).min() > 0.5 * len(y) / N_FOLDS
    counts = np.zeros((N_FOLDS, codes.max() + 2, 4), dtype=np.int64)
    np.add.at(counts, (folds, codes, data.labels), 1)
    for number, column in enumerate(np.flatnonzero([p is not None for p in encoding.positions])):
        of_fold = category_shares(counts, 4).of_fold[number]
        expected = np.searchsorted(data.binned.thresholds[column], of_fold[folds, codes])
        np.testing.assert_array_equal(data.binned.bins[column], expected)


def test_copies_of_a_row_are_in_one_fold():
    frame, y = households(400, 80)
    data = prepared(pd.concat([frame, frame]), np.concatenate([y, y])).rows
    hashes = data.copies.of_content(0)
    for one in np.unique(hashes):
        assert len(set(data._folds()[hashes == one])) == 1


def test_rows_that_are_held_out_have_no_part_in_any():
    frame, y = households()
    data = prepared(frame, y).rows
    view = RowView(3, data.hash_bounds(3, 0.3))
    (counts,) = data.category_counts(view)
    assert counts.shape[0] == N_FOLDS
    assert counts.sum() == data.without(view).n_rows


def test_names_that_say_nothing_do_no_harm():
    """Each name has three rows on average: their labels could be learned by heart."""
    rng = np.random.default_rng(0)
    frame, y = households(1_200, 400)
    frame["house"] = rng.permutation(frame["house"])
    train = np.arange(len(y)) < 800
    without = frame.drop(columns="house")
    models = [
        MarginBoostClassifier(random_state=0).fit(X[train], y[train]) for X in (frame, without)
    ]
    scores = [m.score(X[~train], y[~train]) for m, X in zip(models, (frame, without), strict=True)]
    assert scores[0] > scores[1] - 0.03


@pytest.mark.parametrize("seed", range(3))
def test_households_are_worth_knowing(seed):
    frame, y = households(seed=seed)
    train = np.arange(len(y)) < 1_000
    without = frame.drop(columns="house")
    scores = [
        MarginBoostClassifier(100, random_state=0)
        .fit(X[train], y[train])
        .score(X[~train], y[~train])
        for X in (frame, without)
    ]
    assert scores[0] > scores[1] + 0.08


def test_which_columns_have_many():
    def counts(n_categories, n_rows, n_classes=3):
        table = np.zeros((n_categories + 1, n_classes), dtype=np.int64)
        table[:-1, 0] = n_rows
        return table

    assert not has_many(counts(64, 5))
    assert has_many(counts(65, 5))
    assert not has_many(counts(100, 1))  # no row has another to learn from
    assert has_many(counts(100, 14))
    assert not has_many(counts(100, 15))  # the own label hardly matters among so many
    assert not has_many(counts(3_000, 5, 1_000))  # the counts of the folds would not fit in memory
    with_single_rows = np.vstack([counts(2_900, 1, 1_000)[:-1], counts(70, 2, 1_000)])
    assert least_rows_of_many(with_single_rows) == 2  # without those of one row they fit
    assert least_rows_of_many(with_single_rows[2_000:]) == 1


def test_a_category_of_one_row_is_kept():
    """A row of a category of two learns from the other alone: so can a new row from one."""
    rng = np.random.default_rng(0)
    pair = np.repeat(np.arange(1_000), 2)
    y = np.repeat(rng.integers(3, size=1_000), 2)
    alone = rng.random(2_000) < 0.1
    y[alone] = rng.integers(3, size=alone.sum())
    frame = pd.DataFrame({"pair": [f"p{n}" for n in pair], "number": rng.normal(size=2_000)})
    train = rng.random(2_000) < 0.7
    model = MarginBoostClassifier(random_state=0).fit(frame[train], y[train])
    once = np.bincount(pair[train], minlength=1_000)[pair] == 1
    assert model.score(frame[~train & once], y[~train & once]) > 0.75
    # Where the other was not seen either, a third is right by chance.
    assert model.score(frame[~train & ~once], y[~train & ~once]) < 0.5


def test_many_categories_are_not_lost(recwarn):
    """Of few rows each; before, values in fewer than ten rows counted as missing."""
    frame, y = households(600, 100)
    model = MCBoostClassifier(20).fit(frame, y)
    assert not recwarn.list
    assert model.feature_importances_[-1] > 0


def test_models_with_many_categories_are_kept_and_exported_exactly(tmp_path):
    frame, y = households(500, 90)
    frame.loc[::17, "house"] = None
    model = MarginBoostClassifier(30, random_state=0).fit(frame, y)
    expected = model.predict_proba(frame)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(frame), expected)
    compiled = model.compile()
    np.testing.assert_array_equal(compiled.predict_proba(frame), expected)
    row = frame.iloc[3].tolist()
    np.testing.assert_array_equal(compiled.predict_proba([row])[0], expected[3])


def test_many_categories_in_onnx():
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    frame, y = households(500, 90)
    model = MarginBoostClassifier(30, random_state=0).fit(frame, y)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    feeds = {name: frame[[name]].to_numpy(np.float32) for name in "abcd"}
    feeds["house"] = frame[["house"]].to_numpy(object)
    (found,) = session.run(["probabilities"], feeds)
    exact = frame.assign(**{name: frame[name].astype("f4").astype("f8") for name in "abcd"})
    np.testing.assert_allclose(found, model.predict_proba(exact), rtol=0, atol=1e-6)
