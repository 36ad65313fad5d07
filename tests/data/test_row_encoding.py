"""One row is encoded as many are, and without their detours."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier
from marginboost.data.encoding import Encoding
from marginboost.data.row_encoding import RowEncoding
from marginboost.data.scored_rows import read_rows
from marginboost.model import compiled

INF, NAN = np.inf, np.nan

# Numbers without gaps, with gaps, text, numbers as categories, text of which no category is left.
ENCODING = Encoding(
    5,
    np.array([0, 1, 1, 2, 2, 3, 4], dtype=np.int32),
    np.array([0.5, -INF, INF, -INF, INF, 3.5, INF]),
    (None, None, ("b", "a"), (0.0, 7.0, 2.0), ()),
    (None, None, None, np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([2.0, 0.0, 1.0]),
     np.empty(0)),
    {4: "rare"},
)  # fmt: skip
VALUES = (
    [1.5, -INF, None, NAN, 3, True, 2**60],
    [0.0, INF, None, NAN, -1],
    ["a", "b", "c", None],
    [0, -0.0, 7.0, 2, 5.5, None, NAN, False],
    ["rare", "other", None],
)
ODD = [
    (0, "text"), (1, 10**400), (2, 1.0), (2, NAN), (2, np.str_("a")), (3, "7"), (3, INF),
    (0, np.float64(1.0)), (4, 2.0),
]  # fmt: skip


def random_rows(n):
    rng = np.random.default_rng(0)
    return [[of_column[rng.integers(len(of_column))] for of_column in VALUES] for _ in range(n)]


def test_rows_are_those_of_the_table():
    rows = random_rows(300)
    of_table = ENCODING.apply(read_rows(np.array(rows, dtype=object), ENCODING, reader="test"))
    one = RowEncoding(ENCODING)
    for row, expected in zip(rows, of_table, strict=True):
        found = one.apply(one.read(row))
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("column", "value"), ODD)
def test_what_is_not_plain_is_left_to_others(column, value):
    row = [1.0, 1.0, "a", 2.0, "rare"]
    one = RowEncoding(ENCODING)
    assert one.read(row) is not None
    assert one.read([*row[:column], value, *row[column + 1 :]]) is None
    assert one.read(row[1:]) is None


def test_a_plain_encoding_fills_gaps():
    one = RowEncoding(Encoding.plain(2, np.array([5.0, 6.0])))
    assert one.apply(np.array([NAN, 1.0])).tolist() == [5.0, 1.0]


@pytest.fixture(scope="module")
def rows_and_model():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(object)
    X[:, 2] = rng.choice(["Cork", "Graz", "Hull"], 200)
    X[::5, 0] = None
    y = (X[:, 1] > 0) * 1 + (X[:, 2] == "Cork")
    return X, MarginBoostClassifier(5, categorical_features=[2], random_state=0).fit(
        X, y.astype(int)
    )


def test_a_server_does_not_read_a_row_as_a_table(rows_and_model, monkeypatch):
    X, model = rows_and_model
    expected = model.predict_proba(X)
    served = model.compile()
    monkeypatch.setattr(compiled, "read_rows", lambda *_, **__: pytest.fail("read as a table"))
    for row, probabilities in zip(X[:40], expected, strict=False):
        for given in (row, row.tolist(), tuple(row)):
            label, found = served(given)
            assert found.tobytes() == probabilities.tobytes()
            assert label == model.classes_[found.argmax()]


def test_errors_are_those_of_tables(rows_and_model):
    served = rows_and_model[1].compile()
    for odd, words in (
        (["x", 1.0, "Cork"], "got 'x' in column 0"),
        ([1.0, 1.0, 3.0], "as in fit; got numbers"),
        ([1.0], "must have 3 numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            served(odd)


def test_numbers_with_gaps_need_no_table_either(monkeypatch):
    X = np.arange(60.0).reshape(20, 3)
    model = MarginBoostClassifier(3, min_samples_leaf=2, random_state=0).fit(X, np.arange(20) // 10)
    expected = model.predict_proba([[NAN, 40.0, 3.0]])[0]
    served = model.compile()
    monkeypatch.setattr(compiled, "read_rows", lambda *_, **__: pytest.fail("read as a table"))
    assert served.predict_proba([None, 40, 3.0]).tobytes() == expected.tobytes()
    assert served.predict_proba(np.array([NAN, 40.0, 3.0])).tobytes() == expected.tobytes()
