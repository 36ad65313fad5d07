"""Indicators of categories: which there are, what they hold, and the encoding of X that they become."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier
from marginboost.data import indicators as module
from marginboost.data.columns import Columns
from marginboost.data.encoding import Encoding
from marginboost.data.indicators import Indicators


def columns(*found):
    """Return columns; each is values and the number of categories, or None."""
    matrix = np.column_stack([np.asarray(values, dtype=float) for values, _ in found])
    names = tuple(None if n is None else tuple("abcdefgh"[:n]) for _, n in found)
    return Columns(matrix, names)


def codes(*counts):
    """Return codes, so many of each; the last of them are missing."""
    return np.repeat([*map(float, range(len(counts) - 1)), np.nan], counts)


def mixed():
    return columns(
        (np.arange(60), None),
        (codes(20, 25, 15, 0), 3),
        (codes(30, 30, 0), 2),
        (codes(12, 5, 31, 3, 9), 4),
        (codes(*[8] * 7, 4), 7),
    )


def test_frequent_categories_have_columns_of_their_own():
    found = Indicators.of(mixed())
    # Two groups need no indicator, and of the last column no category is in ten rows.
    assert found.source.tolist() == [0, 1, 1, 1, 2, 3, 3, 4]
    assert found.code.tolist() == [-1, 0, 1, 2, -1, 0, 2, -1]
    assert found.categorical == [4, 7]


def test_an_indicator_is_one_where_the_category_is():
    rows = mixed()
    made = Indicators.of(rows).apply(rows.matrix)
    np.testing.assert_array_equal(made[:, 0], rows.matrix[:, 0])
    np.testing.assert_array_equal(made[:, 4], rows.matrix[:, 2])
    np.testing.assert_array_equal(made[:, 7], rows.matrix[:, 4])
    for place, (column, code) in {1: (1, 0), 2: (1, 1), 3: (1, 2), 5: (3, 0), 6: (3, 2)}.items():
        np.testing.assert_array_equal(made[:, place], rows.matrix[:, column] == code)


@pytest.mark.parametrize(
    "found",
    [
        [(np.arange(40), None)],
        [(codes(20, 20, 0), 2), (np.arange(40), None)],
        [(codes(9, 9, 9, 9, 4), 4)],
        [(codes(40, 0), 1)],
        [(codes(0, 40), 1)],
    ],
)
def test_without_three_groups_there_are_none(found):
    assert Indicators.of(columns(*found)) is None


def test_missing_values_are_a_group():
    assert Indicators.of(columns((codes(20, 20, 1), 2))).code.tolist() == [0, 1]


def test_there_are_not_too_many(monkeypatch):
    rows = columns((codes(10, 12, 14, 12, 0), 4))
    monkeypatch.setattr(module, "MOST_CATEGORIES", 2)
    assert Indicators.of(rows).code.tolist() == [1, 2]  # the most frequent, of equals the first
    monkeypatch.setattr(module, "MOST_NUMBERS", 96)
    assert Indicators.of(rows) is not None
    monkeypatch.setattr(module, "MOST_NUMBERS", 95)
    assert Indicators.of(rows) is None


def test_the_order_of_the_rows_does_not_matter():
    rows = mixed()
    shuffled = np.random.default_rng(0).permutation(rows.matrix)
    first, other = Indicators.of(rows), Indicators.of(Columns(shuffled, rows.categories))
    np.testing.assert_array_equal(first.source, other.source)
    np.testing.assert_array_equal(first.code, other.code)


rare = pytest.mark.filterwarnings("ignore:Column 7 holds categories")


def fitted(rows, made):
    y = np.random.default_rng(0).integers(0, 3, len(rows.matrix))
    model = MarginBoostClassifier(
        n_estimators=3, calibrate=False, random_state=0, categorical_features=made.categorical
    )
    return model.fit(made.apply(rows.matrix), y)


@rare
def test_the_encoding_of_x_has_the_same_ordered_columns():
    rows = mixed()
    made = Indicators.of(rows)
    own = fitted(rows, made).encoding_
    encoding = made.encoding(own)
    assert isinstance(encoding, Encoding)
    assert encoding.n_features == 5
    wide = Columns(made.apply(rows.matrix), tuple(
        tuple(map(float, range(8))) if n in made.categorical else None for n in range(8)
    )).recoded(own.categories, own.lost)  # fmt: skip
    given = tuple(
        None if names is None else tuple(map(float, range(len(names)))) for names in rows.categories
    )
    X = Columns(rows.matrix, given).recoded(encoding.categories, encoding.lost)
    np.testing.assert_array_equal(encoding.apply(X.matrix), own.apply(wide.matrix))
    assert encoding.lost.keys() == {4}  # all its categories are rare


@rare
def test_an_unknown_category_has_no_indicator():
    rows = mixed()
    made = Indicators.of(rows)
    encoding = made.encoding(fitted(rows, made).encoding_)
    row = np.array([[3.0, np.nan, 0.0, np.nan, np.nan]])
    ordered = encoding.apply(row)[0]
    assert (ordered[np.isin(encoding.source, [1, 3])] == 0.0).all()
