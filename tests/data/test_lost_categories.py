"""Columns of categories that say nothing are named."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from support import assert_same_model

from marginboost import MCBoostClassifier, load
from marginboost.data.lost_categories import CategoryWarning

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 400
Y = np.arange(N) % 2
NUMBERS = np.random.default_rng(0).normal(size=N)
COLUMNS = {
    "Day": [str(day)[:10] for day in pd.date_range("2024-01-01", periods=N)],
    "comma": [f"{value:.4f}".replace(".", ",") for value in NUMBERS],
    "id": [f"user {n}" for n in range(N)],
    "digits": [f"{n:04d}" for n in range(N)],
    "town": [f"town {n}" for n in range(250)] + ["Graz"] * 150,
    "half": [f"town {n}" for n in range(200)] + ["Graz"] * 200,
    "few": ["1,5", "2,0"] * (N // 2),
    "month": ["2024-01-01", "2024-02-01"] * (N // 2),
    "plain": ["x", "y"] * (N // 2),
}
RARE = (
    r"values is in 10 rows or more: as categories they are too rare, and the column is not used\."
)
SAYS = {
    "Day": rf"Column 'Day' holds text, and none of its 400 {RARE} They look like dates, such as "
    r"'2025-02-03'\. Turn dates into numbers",
    "comma": rf"Column 'comma' .* {RARE} They look like numbers with decimal commas, such as '.*'\. Read "
    r'the file with decimal commas \(decimal=","',
    "id": rf"Column 'id' .* {RARE} Group its values into fewer categories",
    "digits": rf"Column 'digits' .* {RARE} They look like numbers, such as '0399'\. Convert the column",
    "town": r"250 of its 400 rows have values that are in fewer than 10 rows: .* as missing\. Group",
    "half": None,
    "few": r"treated as categories: .* decimal commas, such as '2,0'.* List it in categorical_features",
    "month": r"treated as categories: a value that was not seen in training counts as missing\. They",
    "plain": None,
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_said_of_a_column(name, kind):
    frame = FRAMES[kind]({"a": NUMBERS, name: COLUMNS[name]})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        MCBoostClassifier(2).fit(frame, Y)
    if SAYS[name] is None:
        assert not told
        return
    (warning,) = told
    assert issubclass(warning.category, UserWarning)
    assert warning.filename == __file__
    with pytest.raises(UserWarning, match=SAYS[name]):
        raise warning.message
    assert str(pickle.loads(pickle.dumps(warning.message))) == str(warning.message)


def test_who_names_a_column_means_categories():
    frame = pd.DataFrame({"a": NUMBERS, "few": COLUMNS["few"]})
    MCBoostClassifier(2, categorical_features=["few"]).fit(frame, Y)  # no warning
    with pytest.warns(CategoryWarning, match="Column 'id' holds text"):
        MCBoostClassifier(2, categorical_features=["few", "id"]).fit(
            frame.assign(id=COLUMNS["id"]), Y
        )


def test_many_columns_get_few_warnings():
    frame = pd.DataFrame({f"id {n}": [f"{n} of {row}" for row in range(N)] for n in range(20)})
    with pytest.warns(UserWarning, match="text") as told:
        MCBoostClassifier(2).fit(frame.assign(a=NUMBERS), Y)
    assert len(told) == 6
    assert "15 more column(s) of X" in str(told[-1].message)
    assert str(told[-1].message).endswith("column 'id 8', column 'id 9' and 10 others.")


def test_rows_of_no_weight_are_no_rows():
    frame = pd.DataFrame({"a": NUMBERS, "c": ["x"] * 200 + COLUMNS["id"][200:]})
    MCBoostClassifier(2).fit(frame, Y, sample_weight=np.repeat([1.0, 0.0], 200))  # no warning
    with pytest.warns(CategoryWarning, match="only value|none of its 200 values"):
        MCBoostClassifier(2).fit(frame, Y, sample_weight=np.repeat([0.0, 1.0], 200))


@pytest.mark.filterwarnings("ignore::marginboost.data.lost_categories.CategoryWarning")
@pytest.mark.parametrize("kind", FRAMES)
def test_numbers_are_refused_where_text_was_lost(tmp_path, kind):
    make = FRAMES[kind]
    model = MCBoostClassifier(2).fit(make({"a": NUMBERS, "c": COLUMNS["comma"]}), Y)
    assert model.encoding_.categories[1] == ()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same_model(again, model)
    assert again.encoding_.lost == model.encoding_.lost == {1: min(COLUMNS["comma"])}
    for known in (model, again):
        with pytest.raises(
            ValueError, match=r"'c' of X must hold categories that are text.* numbers"
        ):
            known.predict(make({"a": NUMBERS, "c": NUMBERS}))
        with pytest.raises(
            ValueError, match="'a' of X must hold numbers, as in fit; got categories"
        ):
            known.predict(make({"a": COLUMNS["comma"], "c": COLUMNS["comma"]}))
        with pytest.raises(ValueError, match=r"must hold categories that are text.*; got numbers"):
            known.compile().predict([1.0, 2.0])
        known.predict(make({"a": NUMBERS, "c": ["never seen"] * N}))
    codes = np.column_stack([NUMBERS, np.arange(N)])
    coded = MCBoostClassifier(2, categorical_features=[1]).fit(codes, Y)
    with pytest.raises(ValueError, match="Column 1 of X must hold categories that are numbers"):
        coded.predict(np.array([[1.0, "a"]], dtype=object))
