"""Columns of other libraries' own kinds: intervals, dates, wide integers, nested values, text."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from support import assert_same_model, embedded

from marginboost import MarginBoostClassifier, MCBoostClassifier

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("make", [pa.Table.from_arrays, pa.RecordBatch.from_arrays])
def test_names_that_repeat_in_arrow(make):
    X, y = embedded("iris")
    twice = make([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["a", "a"])
    with pytest.raises(ValueError, match="must be unique; got a twice"):
        MCBoostClassifier(3).fit(twice, y)
    model = MCBoostClassifier(3).fit(pa.table({"a": X[:, 0], "b": X[:, 1]}), y)
    with pytest.raises(ValueError, match="must be unique; got a twice"):
        model.predict(twice)


@pytest.mark.parametrize(
    "dtype", [pl.Int128, pl.UInt128] if hasattr(pl, "UInt128") else [pl.Int128]
)
def test_integers_of_128_bits(dtype):
    X, y = embedded("iris")
    plain = pl.DataFrame(X.round().astype(int), schema=list("abcd"))
    wide = plain.with_columns(pl.col("a", "c").cast(dtype))
    for settings in ({}, {"categorical_features": ["a"]}):
        model = MCBoostClassifier(5, **settings)
        assert_same_model(clone(model).fit(wide, y), clone(model).fit(plain, y))


@pytest.mark.parametrize(
    ("values", "got"),
    [([(1, 2), (3, 4)], "tuple"), ([[1], [2]], "list"), ([{"a": 1}, {"b": 2}], "dict")],
)
def test_categories_that_are_neither_text_nor_numbers(values, got):
    column = np.empty(40, dtype=object)
    column[:] = values * 20
    frame = pd.DataFrame({"a": np.arange(40.0), "B": column})
    says = f"all text or all numbers; got {got} in column 'B'. Convert them to text"
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier(2, categorical_features=["B"]).fit(frame, [0, 1] * 20)
    if got == "tuple":
        with pytest.raises(ValueError, match=says):
            MCBoostClassifier(2).fit(frame.astype({"B": "category"}), [0, 1] * 20)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_intervals_are_categories(tmp_path, closed):
    X, y = embedded("iris")
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": pd.cut(X[:, 2], [0, 2, 5, 6.5, 9], right=closed == "right")}
    )
    frame.loc[:3, "b"] = np.nan
    model = MarginBoostClassifier(8, random_state=0).fit(frame, y)
    names = ("(0.0, 2.0]", "(2.0, 5.0]", "(5.0, 6.5]", "(6.5, 9.0]")
    if closed == "left":
        names = ("[0.0, 2.0)", "[2.0, 5.0)", "[5.0, 6.5)", "[6.5, 9.0)")
    assert set(model.encoding_.categories[1]) <= set(names)
    assert len(model.encoding_.categories[1]) >= 3
    texts = dict(zip(frame["b"].cat.categories, names, strict=True))
    as_text = frame.assign(b=[texts.get(value) for value in frame["b"]])
    assert_same_model(model, clone(model).fit(as_text, y))
    # Without the categorical type, and with whole numbers as ends, they are the same intervals.
    plain = frame.assign(b=pd.arrays.IntervalArray(frame["b"]))
    assert_same_model(model, clone(model).fit(plain, y))
    whole = pd.DataFrame({"a": [5.0], "b": pd.Categorical([pd.Interval(0, 2, closed=closed)])})
    model.save(tmp_path / "model")
    for known in (model, MarginBoostClassifier.load(tmp_path / "model")):
        scores = known.decision_function(frame)
        np.testing.assert_array_equal(scores, known.decision_function(as_text))
        np.testing.assert_array_equal(
            known.decision_function(whole), known.decision_function(whole.assign(b=names[0]))
        )
        row = [frame["a"][9], frame["b"][9]]
        np.testing.assert_array_equal(known.compile().decision_function(row), scores[9])


def test_dates_in_a_frame_say_what_to_do():
    days = pd.date_range("2026-01-01", periods=40)
    for column in (days, list(days.date)):
        frame = pd.DataFrame({"a": np.arange(40.0), "b": column})
        with pytest.raises(
            ValueError, match=r"in column 'b'\. Turn dates into numbers \(the days since"
        ):
            MCBoostClassifier(2).fit(frame, [0, 1] * 20)


def test_complex_numbers_are_rejected():
    column = np.arange(40) + 1j
    for values in (column, list(column)):
        frame = pd.DataFrame({"a": np.arange(40.0), "b": values})
        with pytest.raises(
            ValueError, match=r"real numbers; got complex ones in column 'b'\. Pass"
        ):
            MCBoostClassifier(2).fit(frame, [0, 1] * 20)
    model = MCBoostClassifier(2).fit(frame.assign(b=column.real), [0, 1] * 20)
    with pytest.raises(ValueError, match="got complex ones in column 'b'"):
        model.predict(frame)


@pytest.mark.parametrize("make", [list, np.array, lambda rows: np.array(rows, dtype=object)])
def test_text_in_an_array_gets_a_hint(make):
    rows = [[1.0, "red", "x"], [2.0, "blue", "y"]] * 20
    says = (
        r"got text such as 'red' in column 1\. Pass categorical_features=\[1, 2\], or a data frame"
    )
    for model in (MCBoostClassifier(2), MarginBoostClassifier(2)):
        with pytest.raises(ValueError, match=says):
            model.fit(make(rows), [0, 1] * 20)
    MCBoostClassifier(2, categorical_features=[1, 2]).fit(np.array(rows, dtype=object), [0, 1] * 20)
    model = MCBoostClassifier(2).fit(np.random.default_rng(0).normal(size=(40, 3)), [0, 1] * 20)
    with pytest.raises(ValueError, match=r"Column 1 of X must hold numbers, .* text such as 'red'"):
        model.predict(make(rows))


def test_labels_keep_their_letters():
    """A column is named as it is written."""
    frame = pd.DataFrame({"A": [1.0, 2.0] * 20, "Town": ["x", "y"] * 20})
    model = MCBoostClassifier(2).fit(frame, [0, 1] * 20)
    with pytest.raises(ValueError, match="Column 'Town' of X must hold categories that are text"):
        model.predict(frame.assign(Town=1.0))
