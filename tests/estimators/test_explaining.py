"""Classifiers that explain themselves."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from support import embedded, random_problem

from marginboost import (
    AdaBoostMHClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
)
from marginboost.data.encoding import Encoding
from marginboost.model.explanation import explain
from marginboost.model.shapes import feature_shapes

STUMPS = MCBoostClassifier(40)
TREES = MarginBoostClassifier(10, random_state=0)


def total(explanation):
    return explanation.base + explanation.contributions.sum(axis=1)


@pytest.mark.parametrize("model", [STUMPS, TREES, SAMMEClassifier(20), AdaBoostMHClassifier(20)])
def test_contributions_add_up(model):
    X, y = embedded("wine")
    model = model.fit(X, y)
    explanation = model.explain(X)
    scores = model.decision_function(X)
    assert (explanation.scores == scores).all()
    assert (total(explanation) == scores).all()
    order = np.random.default_rng(0).permutation(X.shape[1])
    assert (explanation.base + explanation.contributions[:, order].sum(axis=1) == scores).all()
    assert np.ptp(explanation.base, axis=0).max() < 1e-11
    unused = ~np.isin(np.arange(X.shape[1]), model.ensemble_.feature)
    assert not explanation.contributions[:, unused].any()


def test_the_largest_classes_alone():
    X, y = embedded("digits")
    model = TREES.fit(X[:500], y[:500])
    every, some = model.explain(X[:60]), model.explain(X[:60], top=3)
    assert some.contributions.shape == (60, 64, 3)
    assert (np.diff(some.scores, axis=1) <= 0).all()
    assert (model.classes_[some.classes[:, 0]] == model.predict(X[:60])).all()
    wanted = np.take_along_axis(every.contributions, some.classes[:, None], axis=2)
    assert (some.contributions == wanted).all()
    assert (total(some) == some.scores)[:, 0].all()
    assert model.explain(X[:2], top=99).contributions.shape == (2, 64, 10)


def test_two_classes_have_two_scores():
    X, y = embedded("breast_cancer")
    model = STUMPS.fit(X, y)
    explanation = model.explain(X[:50])
    difference = explanation.scores[:, 1] - explanation.scores[:, 0]
    assert (difference == model.decision_function(X[:50])).all()


def test_sparse_rows():
    X, y = embedded("digits")
    model = TREES.fit(X[:300], y[:300])
    dense, thin = model.explain(X[:40], top=2), model.explain(sparse.csr_array(X[:40]), top=2)
    assert (dense.contributions == thin.contributions).all()
    assert thin.top_features(3) == dense.top_features(3)


def test_names_and_values_are_told():
    frame = load_wine(as_frame=True)
    model = STUMPS.fit(frame.data, np.array(["red", "rosé", "white"])[frame.target])
    explanation = model.explain(frame.data[:3])
    name, value, amount = explanation.top_features(0, "white", 1)[0]
    assert name in frame.data.columns
    assert value == f"{frame.data[name][0]:g}"
    place = list(frame.data.columns).index(name)
    assert amount == explanation.contributions[0, place, 2]
    assert np.abs(explanation.contributions[0, :, 2]).max() == abs(amount)
    assert name in repr(model.explain(frame.data[:1], top=1)) or "class" in repr(explanation)
    table = explanation.to_frame()
    assert isinstance(table, pd.DataFrame)
    line = table[(table["row"] == 0) & (table["class"] == "white") & (table["feature"] == name)]
    assert line["contribution"].to_list() == [amount]
    assert explanation.importances().shape == (13,)
    with pytest.raises(ValueError, match="pass a larger `top` to explain more"):
        model.explain(frame.data[:1], top=1).top_features(0, "no such class")
    with pytest.raises(ValueError, match="row must be one of the 3 rows"):
        explanation.top_features(3)


def test_covers_do_not_depend_on_order_weights_or_engine():
    X, y = random_problem(9000, 4, 3, n_values=30, seed=2)
    model = MCBoostClassifier(5, max_bins=20)
    cover = model.fit(X, y).ensemble_.leaf_cover
    assert 3700 < cover[:2].sum() < 4500  # some rows only
    order = np.random.default_rng(0).permutation(len(X))
    assert (model.fit(X[order], y[order]).ensemble_.leaf_cover == cover).all()
    half = model.set_params(engine="reference").fit(X[:1500], y[:1500]).ensemble_.leaf_cover
    twice = np.tile(X[:1500], (2, 1)), np.tile(y[:1500], 2)
    assert half[:2].sum() == 1500
    assert model.fit(*twice).ensemble_.leaf_cover[:2].sum() > 0


def test_few_distinct_rows_are_covered_all_the_same():
    X = np.repeat([[0.0], [1.0]], 20_000, axis=0)
    model = MCBoostClassifier(2, max_bins=4).fit(X, X[:, 0].astype(int))
    assert model.ensemble_.leaf_cover.sum() > 0
    assert model.explain(X[:1]).contributions.any()


def test_wrong_questions():
    X, y = embedded("iris")
    with pytest.raises(ValueError, match="top must be"):
        STUMPS.fit(X, y).explain(X, top=0)
    with pytest.raises(ValueError, match="4 features"):
        STUMPS.explain(X[:, :3])
    with pytest.raises(ValueError, match="must come from a model of stumps"):
        TREES.fit(X, y).feature_shapes()


# --- shapes ---------------------------------------------------------------------------------------


def test_shapes_are_the_contributions():
    X, y = embedded("wine")
    model = STUMPS.fit(X, y)
    contributions = model.explain(X).contributions
    shapes = model.feature_shapes()
    assert [shape.name for shape in shapes] == [f"x{j}" for j in range(13)]
    for j, shape in enumerate(shapes):
        assert shape.values.shape == (len(shape.thresholds) + 1, 3)
        assert shape.is_flat == (j not in model.ensemble_.feature)
        told = np.array([shape(value) for value in X[:, j]])
        np.testing.assert_allclose(told, contributions[:, j], atol=1e-12)
        assert not shape.learned_missing


def test_shapes_of_missing_values_and_categories():
    """Two columns of X: numbers, some missing, and three categories in two orders."""
    X, y = random_problem(300, 4, 3, n_values=6, seed=4)
    encoding = Encoding(
        2,
        np.array([0, 0, 1, 1], dtype=np.int32),
        np.array([-np.inf, np.inf, -1.0, 7.0]),
        (None, ("a", "b", "<c>")),
        (None, None, np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0])),
    )
    rng = np.random.default_rng(0)
    raw = np.stack([X[:, 0], rng.integers(0, 3, 300)], axis=1).astype(float)
    raw[rng.random(raw.shape) < 0.2] = np.nan
    y = (np.nan_to_num(raw[:, 0], nan=5) > 3) * 1 + (np.nan_to_num(raw[:, 1], nan=1) == 1)
    ordered = encoding.apply(raw)
    finite = np.where(np.isinf(ordered), np.copysign(1000.0, ordered), ordered)
    ensemble = MCBoostClassifier(30).fit(finite, y).ensemble_
    # What separates the missing values from all others are the largest numbers, as in a real fit.
    threshold = ensemble.threshold
    apart = np.copysign(np.finfo(np.float64).max, threshold)
    ensemble = replace(ensemble, threshold=np.where(np.abs(threshold) > 100, apart, threshold))
    shapes = feature_shapes(ensemble, encoding, ("number", "letter"))
    scores = ensemble.decision_function(ordered)
    classes = np.tile(np.arange(3), (300, 1))
    contributions, _ = explain(ensemble, encoding, ordered, classes, scores)
    assert shapes[0].learned_missing
    assert np.isfinite(shapes[0].thresholds).all()
    assert np.abs(shapes[0].thresholds).max() < 10
    for j, shape in enumerate(shapes):
        names = raw[:, j] if j == 0 else [None if np.isnan(v) else "ab<"[int(v)] for v in raw[:, j]]
        told = np.array([shape("<c>" if v == "<" else v) for v in names])
        np.testing.assert_allclose(told, contributions[:, j], atol=1e-12)


# --- frames ---------------------------------------------------------------------------------------


def table_with_gaps(n=240):
    """Two columns of numbers, one with gaps, and one of text with gaps; and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    size = np.where(rng.random(n) < 0.2, np.nan, np.round(rng.normal(y, 1.0), 1))
    colour = np.array(["red", "<green>", "blue"])[np.where(rng.random(n) < 0.3, 0, y)].astype(
        object
    )
    colour[rng.random(n) < 0.1] = None
    sizes = [None if np.isnan(value) else value for value in size.tolist()]
    table = {"size": sizes, "colour": colour.tolist(), "noise": rng.normal(size=n).tolist()}
    return table, np.array(["small", "middle", "large"])[y]


def test_frames_are_explained_by_their_own_words():
    table, y = table_with_gaps()
    frame = pd.DataFrame(table)
    model = MCBoostClassifier(40, max_bins=32).fit(frame, y)
    explanation = model.explain(frame)
    assert (explanation.scores == model.decision_function(frame)).all()
    assert explanation.contributions.shape == (len(y), 3, 3)
    assert (
        np.abs(total(explanation) - explanation.scores) <= np.spacing(np.abs(explanation.base))
    ).all()
    for j, (name, values) in enumerate(table.items()):
        shape = model.feature_shapes()[j]
        assert shape.name == name
        told = np.array([shape(value) for value in values])
        np.testing.assert_allclose(told, explanation.contributions[:, j], atol=1e-12)
    size, colour, _ = model.feature_shapes()
    assert size.learned_missing
    assert sorted(colour.categories) == ["<green>", "blue", "red"]
    assert (colour("never seen") == colour.missing).all()
    for i in range(20):
        assert explanation.value_of(i, 1) == (table["colour"][i] or "missing or unseen")
        size = table["size"][i]
        assert explanation.value_of(i, 0) == ("missing" if size is None else f"{size:g}")


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "columns in another order"])
def test_kinds_of_frames_do_not_matter(kind):
    table, y = table_with_gaps()
    model = MarginBoostClassifier(5, random_state=0).fit(pd.DataFrame(table), y)
    wanted = model.explain(pd.DataFrame(table), top=2)
    given = pd.DataFrame(table)[["noise", "colour", "size"]]
    if kind == "polars":
        given = pytest.importorskip("polars").DataFrame(table)
    elif kind == "pyarrow":
        given = pytest.importorskip("pyarrow").table(table)
    found = model.explain(given, top=2)
    assert (found.contributions == wanted.contributions).all()
    assert found.top_features(0) == wanted.top_features(0)
    assert (total(found) == found.scores).mean() > 0.9


def test_rows_held_out_by_early_stopping_do_not_empty_the_cover():
    X, y = random_problem(12_000, 4, 3, seed=1)
    for model in (MCBoostClassifier(5, max_bins=32), MarginBoostClassifier(5, random_state=0)):
        model.set_params(early_stopping=True).fit(X, y)
        n_rows = model.ensemble_.leaf_cover[: model.ensemble_.leaf_offsets[1]].sum()
        assert 3700 < n_rows < 4500
        assert model.class_count_.sum() < 12_000


def test_for_shap(monkeypatch):
    X, y = embedded("wine")
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(y == 1, "red", "white")})
    model = MarginBoostClassifier(10, random_state=0).fit(frame, y)
    # In the place of the package; tests/oracle/test_shap.py has the real one.
    package = SimpleNamespace(
        Explanation=lambda values, **others: SimpleNamespace(values=values, **others)
    )
    monkeypatch.setitem(sys.modules, "shap", package)
    ours = model.explain(frame[:4])
    theirs = ours.to_shap()
    assert theirs.values is ours.contributions
    assert theirs.base_values is ours.base
    assert theirs.feature_names == ["a", "kind"]
    assert theirs.output_names == ["0", "1", "2"]
    assert theirs.display_data[:, 1].tolist() == ["white"] * 4
    one = model.explain(frame[::30], top=1).to_shap()
    assert one.values.shape == (6, 2)
    assert one.output_names is None
    two = model.explain(frame[::30], top=2).to_shap()
    assert two.output_names == ["rank 1", "rank 2"]
    dense = MarginBoostClassifier(2, random_state=0).fit(sparse.csr_matrix(X), y)
    shown = dense.explain(sparse.csr_matrix(X[:3])).to_shap()
    assert (shown.data == X[:3]).all()
    assert shown.display_data is None
    with pytest.raises(ValueError, match=r"columns of categories: \[1\]"):
        model.to_shap()
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        ours.to_shap()
