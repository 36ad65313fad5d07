"""One encoding of several: each encoding's ordered columns are in it, with the same values."""

import numpy as np
import pytest

from marginboost.data.columns import Columns
from marginboost.data.encoding import Encoding
from marginboost.data.joined_encoding import join_encodings, with_names


def encoding(n_features, source, fill, categories=None, positions=None, lost=None):
    return Encoding(
        n_features,
        np.array(source, dtype=np.int32),
        np.array(fill, dtype=np.float64),
        (None,) * n_features if categories is None else categories,
        (None,) * len(source) if positions is None else positions,
        {} if lost is None else lost,
    )


def assert_holds(joined, one, place, codes, categories):
    """Check that an encoding's ordered columns are where the joined one says."""
    columns = Columns(codes, categories)
    own = one.apply(columns.recoded(one.categories, one.lost).matrix)
    all_of_them = joined.apply(columns.recoded(joined.categories, joined.lost).matrix)
    np.testing.assert_array_equal(all_of_them[:, place], own)


def test_plain_columns_stay_plain_and_fill_in_the_median_of_medians():
    ones = [Encoding.plain(2, np.array(fill)) for fill in ([1.0, 5.0], [4.0, 6.0], [2.0, 0.0])]
    joined, places = join_encodings(ones)
    assert joined.is_plain
    assert joined.fill.tolist() == [2.0, 5.0]
    assert [place.tolist() for place in places] == [[0, 1]] * 3


def test_gaps_in_some_encodings_only():
    gaps, none = encoding(2, [0, 0, 1], [-np.inf, np.inf, 3.0]), encoding(2, [0, 1], [7.0, 5.0])
    other = encoding(2, [0, 1], [9.0, 5.0])
    joined, places = join_encodings([gaps, none, other])
    assert joined.source.tolist() == [0, 0, 0, 1]
    assert joined.fill.tolist() == [-np.inf, np.inf, 8.0, 5.0]
    assert [place.tolist() for place in places] == [[0, 1, 3], [2, 3], [2, 3]]
    X = np.array([[1.0, 2.0], [np.nan, 4.0]])
    assert_holds(joined, gaps, places[0], X, (None, None))


def test_categories_that_some_lack_are_where_unknown_ones_are():
    codes = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [np.nan, np.nan]])
    categories = (("a", "b", "c"), None)
    first = encoding(
        2,
        [0, 0, 1],
        [1.0, 0.5, np.inf],
        (("a", "b"), None),
        (np.array([0.0, 2.0]), np.array([1.0, 0.0]), None),
    )
    second = encoding(2, [0, 1], [-1.0, np.inf], (("b", "c"), None), (np.array([3.0, 4.0]), None))
    joined, places = join_encodings([first, second, first])
    assert joined.categories == categories
    assert joined.n_ordered == 4  # the equal columns of the third are there once
    for one, place in zip((first, second, first), places, strict=True):
        assert_holds(joined, one, place, codes, categories)


@pytest.mark.parametrize("kept", [False, True])
def test_columns_whose_categories_were_all_rare(kept):
    empty = (np.empty(0),)
    rare = encoding(1, [0], [0.0], ((),), empty, {0: "b"})
    other = encoding(1, [0], [0.0], (("a",),), (np.array([1.0]),)) if kept else rare
    joined, _ = join_encodings([rare, other])
    assert joined.categories == ((("a",),) if kept else ((),))
    assert joined.lost == ({} if kept else {0: "b"})


def test_codes_get_their_names():
    coded = encoding(
        3,
        [0, 1, 2],
        [0.0, 1.0, 0.0],
        ((0.0, 2.0), None, ()),
        (np.array([1.0, 0.0]), None, np.empty(0)),
        {2: 1.0},
    )
    named = with_names(coded, (("x", "y", "z"), None, (5.0, 7.0)))
    assert named.categories == (("x", "z"), None, ())
    assert named.lost == {2: 7.0}
    plain = Encoding.plain(2)
    assert with_names(plain, (None, None)) is plain
