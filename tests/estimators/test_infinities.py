"""Infinities are ordinary large numbers: in fits, predictions, explanations, files and ONNX."""

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from support import assert_same_model

import marginboost
from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
)

INF, NAN, LARGE = np.inf, np.nan, 1e300

MODELS = {
    "margin": MarginBoostClassifier(12, random_state=0),
    "margin logistic": MarginBoostClassifier(5, loss="logistic", random_state=0, max_leaf_nodes=5),
    "stumps": MCBoostClassifier(15),
    "trees": MCBoostClassifier(6, max_depth=3),
    "samme": SAMMEClassifier(5, max_depth=2),
    "mh": AdaBoostMHClassifier(5),
    "ecc": AdaBoostECCClassifier(5, random_state=0),
    "gradboost": GradBoostClassifier(5),
    "jointboost": JointBoostClassifier(3),
}
ALL = pytest.mark.parametrize("name", MODELS)


def problem(gaps=False):
    """Return rows whose infinities say much of the class; the last column has nothing but these."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    X = np.round(rng.normal(size=(400, 4)) + y[:, None], 1)
    X[(y == 2) & (rng.random(400) < 0.6), 0] = INF
    X[(y == 0) & (rng.random(400) < 0.6), 1] = -INF
    X[rng.random(400) < 0.1, 1] = INF
    X[:, 3] = np.where(rng.random(400) < 0.3 + 0.2 * y, INF, -INF)
    if gaps:
        X[rng.random(400) < 0.2, 0] = NAN
        X[rng.random(400) < 0.2, 1] = NAN
    return X, y


def scores(model, X):
    return model.decision_function(X)


@ALL
def test_they_are_as_good_as_large_numbers(name):
    """The bins are the same, and so is all that follows from them."""
    X, y = problem()
    large = np.clip(X, -LARGE, LARGE)
    model, other = clone(MODELS[name]).fit(X, y), clone(MODELS[name]).fit(large, y)
    np.testing.assert_array_equal(scores(model, X), scores(other, large))
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(large))
    assert np.isfinite(model.ensemble_.threshold).all()
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("name", ["margin", "stumps", "trees"])
@pytest.mark.parametrize("gaps", [False, True])
def test_engines_agree(name, gaps):
    X, y = problem(gaps)
    model = clone(MODELS[name]).fit(X, y)
    slow = clone(MODELS[name]).set_params(engine="reference").fit(X, y)
    assert_same_model(model, slow)
    by_columns = sparse.csc_array(X)
    if model.__sklearn_tags__().input_tags.sparse:
        assert_same_model(model, clone(MODELS[name]).fit(by_columns, y))
        np.testing.assert_array_equal(scores(model, by_columns), scores(model, X))


def test_few_bins():
    """Infinities keep a bin of their own, whatever the limit."""
    X, y = problem()
    for max_bins in (2, 3, 5):
        model = MCBoostClassifier(20, max_bins=max_bins).fit(X, y)
        assert (
            scores(model, [[INF, 0, 0, 0]])[0].tolist() != scores(model, [[9, 0, 0, 0]])[0].tolist()
        )


def test_the_most_finite_numbers_are_apart_from_infinity():
    top = np.finfo(np.float64).max
    X = np.array([[top], [INF], [-top], [-INF], [1.0]] * 20)
    y = np.array([0, 1, 2, 2, 0] * 20)
    model = MCBoostClassifier(20).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


def test_a_first_gap_is_the_median_of_the_finite_numbers():
    X, y = problem()
    model = MarginBoostClassifier(10, random_state=0).fit(X, y)
    known = np.sort(X[np.isfinite(X[:, 1]), 1])
    assert model.encoding_.fill[1] == known[(len(known) - 1) // 2]
    row = np.array([[0.0, NAN, 0.0, INF]])
    filled = np.where(np.isnan(row), model.encoding_.fill, row)
    np.testing.assert_array_equal(scores(model, row), scores(model, filled))


SPECIAL = np.array(
    np.meshgrid([INF, -INF, NAN, 0.5], [INF, -INF, NAN, 1.5], [0.0], [INF, -INF, 2.0])
)
SPECIAL = SPECIAL.reshape(4, -1).T


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", ["margin", "stumps", "trees", "mh"])
def test_every_way_to_predict_is_the_same(name, gaps, tmp_path):
    X, y = problem(gaps)
    model = clone(MODELS[name]).fit(X, y)
    expected = scores(model, SPECIAL)
    assert len(np.unique(expected, axis=0)) > 3
    compiled = model.compile()
    np.testing.assert_array_equal(compiled.decision_function(SPECIAL), expected)
    for row, of_row in zip(SPECIAL, expected, strict=True):
        np.testing.assert_array_equal(compiled.decision_function(row.tolist()), of_row)
    model.save(tmp_path / "model.safetensors")
    loaded = marginboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(scores(loaded, SPECIAL), expected)
    float32 = SPECIAL.astype(np.float32)
    session = onnxruntime.InferenceSession(
        model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(["scores"], {"X": float32})
    np.testing.assert_allclose(found, scores(model, float32), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("gaps", [False, True])
def test_explanations(gaps):
    X, y = problem(gaps)
    for name in ("margin", "stumps"):
        model = clone(MODELS[name]).fit(X, y)
        explanation = model.explain(SPECIAL)
        total = explanation.contributions.sum(axis=1) + explanation.base
        np.testing.assert_allclose(total, scores(model, SPECIAL), rtol=0, atol=1e-9)
    for j, shape in enumerate(model.feature_shapes()):
        assert np.isfinite(shape.thresholds).all()
        added = [shape(value) for value in SPECIAL[:, j]]
        np.testing.assert_allclose(added, explanation.contributions[:, j], rtol=0, atol=1e-9)


def test_weights_stay_finite():
    X, y = problem()
    with pytest.raises(ValueError, match="infinity"):
        MCBoostClassifier(2).fit(X, y, sample_weight=np.where(y == 0, INF, 1.0))


# --- what may be given ----------------------------------------------------------------------------

ROW = [1.5, None, INF, 0.0]
TABLES = {
    "list": [ROW],
    "tuple": (tuple(ROW),),
    "objects": np.array([ROW], dtype=object),
    "objects with NA": np.array([[1.5, pd.NA, INF, 0.0]], dtype=object),
    "nullable": pd.DataFrame({
        "a": pd.array([1.5], dtype="Float64"), "b": pd.array([pd.NA], dtype="Int64"),
        "c": pd.array([INF], dtype="Float64"), "d": pd.array([False], dtype="boolean"),
    }),
    "no truth value": pd.DataFrame({
        "a": pd.array([1.5], dtype="Float32"), "b": pd.array([pd.NA], dtype="boolean"),
        "c": [INF], "d": pd.array([0], dtype="UInt8"),
    }),
    "polars": pl.DataFrame(
        [ROW], schema={"a": pl.Float64, "b": pl.Int32, "c": pl.Float32, "d": pl.Float64}, orient="row"
    ),
    "pyarrow": pa.table({"a": [1.5], "b": pa.array([None], pa.int64()), "c": [INF], "d": [0]}),
}  # fmt: skip
ROWS = {
    "list": ROW,
    "tuple": tuple(ROW),
    "objects": np.array(ROW, dtype=object),
    "objects with NA": np.array([1.5, pd.NA, INF, 0.0], dtype=object),
    "pandas": pd.Series([1.5, None, INF, 0.0]),
    "nullable": pd.Series([1.5, pd.NA, INF, 0.0], dtype="Float64"),
    "polars": pl.Series(ROW),
    "pyarrow": pa.array(ROW),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", TABLES)
def test_one_rule_for_classifiers_and_compiled_models(kind, gaps):
    model = MarginBoostClassifier(10, random_state=0).fit(*problem(gaps))
    expected = model.predict_proba(np.array([[1.5, NAN, INF, 0.0]]))
    np.testing.assert_array_equal(model.predict_proba(TABLES[kind]), expected)
    np.testing.assert_array_equal(model.compile().predict_proba(TABLES[kind]), expected)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", ROWS)
def test_one_row(kind, gaps):
    model = MarginBoostClassifier(10, random_state=0).fit(*problem(gaps))
    expected = model.predict_proba(np.array([[1.5, NAN, INF, 0.0]]))[0]
    np.testing.assert_array_equal(model.compile().predict_proba(ROWS[kind]), expected)
    assert model.compile().predict(ROWS[kind]) == model.classes_[expected.argmax()]


def test_objects_in_a_fit():
    X, y = problem(gaps=True)
    objects = X.astype(object)
    objects[np.isnan(X)] = pd.NA
    assert_same_model(MCBoostClassifier(5).fit(objects, y), MCBoostClassifier(5).fit(X, y))
