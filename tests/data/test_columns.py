"""Columns of text in data frames, read without a loop over the rows."""

import numpy as np
import pytest

from marginboost.data import columns
from marginboost.data.columns import read_array, read_frame

pl = pytest.importorskip("polars")

TEXTS = ["b", None, "a", "\N{GREEK SMALL LETTER ALPHA}", "", "B", "b", "\U0001f600", "\uffff", None]


def by_type(column, says_so):
    return says_so


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Categorical, pl.Enum(sorted({*filter(None, TEXTS), ""}))]
)
def test_text_of_polars_is_coded_as_objects_are(dtype):
    expected = read_array(np.array(TEXTS, dtype=object)[:, None], lambda column, says_so: True)
    found = read_frame(pl.DataFrame({"a": pl.Series(TEXTS, dtype=dtype)}), by_type)
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.matrix, expected.matrix)


def test_text_of_polars_without_a_value():
    frame = pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String)})
    found = read_frame(frame, lambda column, says_so: True)
    assert found.categories == ((),)
    assert np.isnan(found.matrix).all()


def test_text_of_polars_is_not_read_row_by_row(monkeypatch):
    def refuse(value):
        raise AssertionError("a value was looked at in Python")

    monkeypatch.setattr(columns, "is_missing", refuse)
    monkeypatch.setattr(columns, "_objects", refuse)
    found = read_frame(pl.DataFrame({"a": ["x", "y", None] * 100}), by_type)
    assert found.categories == (("x", "y"),)
