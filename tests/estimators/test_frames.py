"""Every kind of input gives the same model, missing values and categories included."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from support import assert_same_model, embedded

from marginboost import MarginBoostClassifier, MCBoostClassifier, SAMMEClassifier

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MODELS = {
    "margin": MarginBoostClassifier(6, random_state=0),
    "stumps": MCBoostClassifier(10),
    "trees": MCBoostClassifier(4, max_depth=3, loss="logistic"),
    "samme": SAMMEClassifier(4, max_depth=2),
}


def columns():
    """Four columns of numbers and one of text, all with gaps, as lists; and labels."""
    X, y = embedded("iris")
    rng = np.random.default_rng(0)
    X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    colour = np.array(["red", "green", "blue"])[np.where(rng.random(150) < 0.4, 0, y)]
    colour = np.where(rng.random(150) < 0.1, None, colour.astype(object))
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    lists = {name: [None if np.isnan(v) else v for v in X[:, n]] for n, name in enumerate(names)}
    whole = [None if v is None else round(10 * v) for v in lists["petal width"]]
    return {**lists, "petal width": whole, "colour": colour.tolist()}, np.array(list("abc"))[y]


def pandas_nullable(table):
    frame = pd.DataFrame(table)
    return frame.astype({"petal width": "Int64", "sepal length": "Float64", "colour": "string"})


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda table: pd.DataFrame(table, dtype=object),
    "pandas nullable": pandas_nullable,
    "pandas category": lambda table: pd.DataFrame(table).astype({"colour": "category"}),
    "polars": pl.DataFrame,
    "polars categorical": lambda table: pl.DataFrame(table).cast({"colour": pl.Categorical}),
    "polars enum": lambda table: pl.DataFrame(table).cast(
        {"colour": pl.Enum(["red", "green", "blue", "never"])}
    ),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda table: pa.table(
        {**table, "colour": pa.array(table["colour"]).dictionary_encode()}
    ),
}


def as_objects(table):
    """What is no frame and needs the column of categories to be named."""
    return np.array(list(table.values()), dtype=object).T


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame(kind, name):
    table, y = columns()
    frame = FRAMES[kind](table)
    model = clone(MODELS[name]).fit(frame, y)
    plain = clone(MODELS[name]).set_params(categorical_features=[4])
    plain.fit(as_objects(table), y)
    assert_same_model(model, plain)
    assert model.feature_names_in_.tolist() == list(table)
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(scores, plain.decision_function(as_objects(table)))
    # Rows come and go: a frame of some rows predicts what the whole predicts for them.
    some = FRAMES[kind]({key: values[40:60] for key, values in table.items()})
    np.testing.assert_array_equal(model.decision_function(some), scores[40:60])
    np.testing.assert_array_equal(model.predict(some), model.predict(frame)[40:60])


@pytest.mark.parametrize("kind", FRAMES)
def test_names_are_what_counts(kind):
    table, y = columns()
    model = MarginBoostClassifier(5, random_state=0).fit(FRAMES[kind](table), y)
    expected = model.predict_proba(FRAMES[kind](table))
    shuffled = {key: table[key] for key in reversed(table)}
    np.testing.assert_array_equal(model.predict_proba(FRAMES[kind](shuffled)), expected)
    renamed = {key.replace("sepal width", "width"): values for key, values in table.items()}
    with pytest.raises(
        ValueError, match=r"unseen at fit time:\n- width\n.*missing:\n- sepal width"
    ):
        model.predict(FRAMES[kind](renamed))
    del renamed["width"]
    with pytest.raises(ValueError, match=r"yet now missing:\n- sepal width"):
        model.predict(FRAMES[kind](renamed))


@pytest.mark.parametrize("name", ["margin", "stumps", "trees"])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_with_gaps(form, name):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (200, 6)) * rng.normal(size=(200, 6)).round(1)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    X[rng.random(X.shape) < 0.1] = np.nan
    dense = clone(MODELS[name]).fit(X, y)
    if not dense._sparse_formats:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            clone(dense).fit(sparse.csr_matrix(X), y)
        return
    there = sparse.csr_matrix(X).asformat(form)
    model = clone(MODELS[name]).fit(there, y)
    assert_same_model(model, dense)
    np.testing.assert_array_equal(model.decision_function(there), dense.decision_function(X))


def letters(y):
    return ["cab"[code] for code in y]


LABELS = {
    "text": lambda y: np.array(["no", "maybe", "yes, of course"])[y],
    "objects": lambda y: np.array(["no", "maybe", "yes"], dtype=object)[y],
    "gaps": lambda y: np.array([-7, 3, 1000])[y],
    "whole floats": lambda y: np.array([-1.0, 0.0, 12.0])[y],
    "bytes of integers": lambda y: np.array([0, 5, 255], dtype=np.uint8)[y],
    "list": letters,
    "pandas": lambda y: pd.Series(["c", "a", "b"])[y].reset_index(drop=True),
    "pandas category": lambda y: pd.Series(pd.Categorical.from_codes(y, ["x", "z", "y"])),
    "pandas nullable": lambda y: pd.Series(y, dtype="Int64"),
    "polars": lambda y: pl.Series(letters(y)),
    "polars categorical": lambda y: pl.Series(letters(y), dtype=pl.Categorical),
    "pyarrow": lambda y: pa.chunked_array([letters(y)]),
    "pyarrow dictionary": lambda y: pa.array(letters(y)).dictionary_encode(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind(kind):
    X, y = embedded("iris")
    labels = LABELS[kind](y)
    model = MCBoostClassifier(10).fit(X, labels)
    distinct = sorted(set(np.asarray(labels).tolist()))
    assert model.classes_.tolist() == distinct
    codes = MCBoostClassifier(10).fit(X, np.searchsorted(distinct, np.asarray(labels)))
    np.testing.assert_array_equal(model.predict(X), np.array(distinct)[codes.predict(X)])
    assert model.score(X, labels) == codes.score(X, np.searchsorted(distinct, np.asarray(labels)))


def test_labels_that_are_missing():
    X, y = embedded("iris")
    for labels in (
        pl.Series([None if code == 0 else "a" for code in y]),
        np.where(y > 0, "a", None),
    ):
        with pytest.raises(ValueError, match=r"a label for every row; got .* at row 0 and 49 more"):
            MCBoostClassifier(3).fit(X, labels)


def test_unseen_categories_are_missing_values():
    table, y = columns()
    frame = pd.DataFrame(table)
    model = MarginBoostClassifier(8, random_state=0).fit(frame, y)
    gone = model.decision_function(frame.assign(colour=None))
    np.testing.assert_array_equal(model.decision_function(frame.assign(colour="violet")), gone)
    as_category = frame.assign(colour=pd.Categorical(["violet"] * 150))
    np.testing.assert_array_equal(model.decision_function(as_category), gone)


def test_which_columns_hold_categories():
    X, y = embedded("iris")
    codes = np.round(X[:, :2])
    frame = pd.DataFrame(codes, columns=["a", "b"]).assign(c=X[:, 2])
    by_name = MCBoostClassifier(5, categorical_features=["b", "a"]).fit(frame, y)
    by_number = MCBoostClassifier(5, categorical_features=[0, 1]).fit(frame.to_numpy(), y)
    by_truth = MCBoostClassifier(5, categorical_features=[True, True, False]).fit(frame, y)
    typed = frame.astype({"a": "category", "b": "category"})
    by_type = MCBoostClassifier(5).fit(typed, y)
    for model in (by_number, by_truth, by_type):
        assert_same_model(model, by_name)
    assert by_name.encoding_.categories[0] == (5.0, 6.0, 7.0)  # 4 and 8 are rare
    assert by_name.encoding_.categories[2] is None
    np.testing.assert_array_equal(by_type.predict(frame), by_name.predict(typed))


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("a", r'must be "from_dtype", None, or a list of columns; got \'a\''),
        (["z"], "must name columns of X; got 'z', which is none"),
        ([3], "numbers from 0 to 1; got 3"),
        ([0.5], "numbers from 0 to 1; got 0.5"),
        ([True], "truth value for each of the 2 columns; got 1"),
        ([[0]], "array of shape"),
        (
            None,
            "Column 'b' of X holds text or categories, but categorical_features does not list it",
        ),
    ],
)
def test_mistakes_with_categorical_features(wanted, says):
    frame = pd.DataFrame({"a": [1.0, 2.0] * 10, "b": ["x", "y"] * 10})
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier(2, categorical_features=wanted).fit(frame, [0, 1] * 10)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pd.to_datetime(["2026-01-01", "2026-01-02"] * 10), "got Datetime.* in column 'b'"),
        ([[1], [2]] * 10, r"got \[1\] in column 'b'"),
        (["x", 1] * 10, "all text or all numbers; got int and str in column 'b'"),
    ],
)
def test_columns_that_are_neither_numbers_nor_categories(column, says):
    frame = pd.DataFrame({"a": [1.0, 2.0] * 10, "b": column})
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier(2).fit(frame, [0, 1] * 10)


def test_columns_that_change_their_kind():
    frame = pd.DataFrame({"a": [1.0, 2.0] * 20, "b": ["x", "y"] * 20})
    model = MCBoostClassifier(2).fit(frame, [0, 1] * 20)
    with pytest.raises(
        ValueError, match="Column 'b' of X must hold categories that are text, as in fit"
    ):
        model.predict(frame.assign(b=1.0))
    with pytest.raises(
        ValueError, match="Column 'a' of X must hold numbers, as in fit; got categories"
    ):
        model.predict(frame.assign(a="x"))
    # Nothing at all is no other kind.
    np.testing.assert_array_equal(
        model.decision_function(frame.assign(b=np.nan)),
        model.decision_function(frame.assign(b="?")),
    )


def test_names_that_are_no_names():
    X, y = embedded("iris")
    frame = pd.DataFrame(X)
    model = MCBoostClassifier(3).fit(frame, y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), model.predict(X))
    with pytest.raises(TypeError, match="must be text, or none"):
        MCBoostClassifier(3).fit(frame.rename(columns={0: "a"}), y)
    with pytest.raises(ValueError, match="must be unique; got a twice"):
        MCBoostClassifier(3).fit(pd.DataFrame(X, columns=list("abca")), y)
    with pytest.warns(
        UserWarning, match="X has feature names, but MCBoostClassifier was fitted without"
    ):
        model.predict(pd.DataFrame(X, columns=list("abcd")))
    named = MCBoostClassifier(3).fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(frame)
    with pytest.raises(ValueError, match="X has 3 features, but MCBoostClassifier is expecting 4"):
        model.predict(frame[[0, 1, 2]])
    with pytest.raises(ValueError, match=r"lazy one\. Pass X\.collect"):
        MCBoostClassifier(3).fit(pl.DataFrame(X).lazy(), y)


def test_a_compiled_model_reads_the_same_rows():
    table, y = columns()
    frame = pd.DataFrame(table)
    rows = as_objects(table)
    for made in MODELS.values():
        model = clone(made).fit(frame, y)
        compiled = model.compile()
        expected = model.decision_function(frame)
        np.testing.assert_array_equal(compiled.decision_function(rows), expected)
        one = [compiled.decision_function(row) for row in rows[:20].tolist()]
        np.testing.assert_array_equal(one, expected[:20])
        strange = [*rows[0][:4], "never seen"]
        missing = [*rows[0][:4], None]
        np.testing.assert_array_equal(
            compiled.decision_function(strange), compiled.decision_function(missing)
        )


def test_no_warning_for_a_frame_as_it_was_fitted():
    table, y = columns()
    for make in FRAMES.values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            MCBoostClassifier(2).fit(make(table), y).predict(make(table))


@pytest.mark.parametrize("kind", ["pandas", "pandas objects", "polars", "pyarrow"])
def test_columns_in_which_nothing_is_known(kind):
    """A frame of one row with a gap does not say what the gap is one of."""
    table = {"a": np.array([1.0, 2.0, 3.0, 4.0] * 10), "b": np.array(["x", "y"] * 20)}
    model = MCBoostClassifier(3).fit(pd.DataFrame(table), table["b"])
    gaps = {"a": [None, None], "b": [None, None]}
    expected = model.decision_function(pd.DataFrame({"a": [np.nan, np.nan], "b": ["?", "?"]}))
    np.testing.assert_array_equal(model.decision_function(FRAMES[kind](gaps)), expected)


def test_names_of_a_record_batch():
    table, y = columns()
    batch = pa.RecordBatch.from_pydict(table)
    model = MarginBoostClassifier(5, random_state=0).fit(batch, y, X_val=batch, y_val=y)
    plain = MarginBoostClassifier(5, random_state=0).fit(pa.table(table), y, X_val=batch, y_val=y)
    assert_same_model(model, plain)
    assert model.feature_names_in_.tolist() == list(table)
    turned = batch.select(list(reversed(table)))
    np.testing.assert_array_equal(model.predict(turned), plain.predict(pa.table(table)))
