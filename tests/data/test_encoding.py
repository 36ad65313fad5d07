"""Ordered columns: what becomes of missing values."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from support import embedded, noisy_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.columns import Columns
from marginboost.data.encoding import Encoding, has_missing

NAN, INF = np.nan, np.inf


def mixed():
    """Numbers with gaps, numbers without, and categories."""
    return Encoding(
        3,
        np.array([0, 0, 1, 2, 2], dtype=np.int32),
        np.array([-INF, INF, 7.0, 0.5, 1.0]),
        (None, None, ("a", "b", "c")),
        (None, None, None, np.array([0.0, 1.0, 2.0]), np.array([2.0, 0.0, 0.0])),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_one_missing_value_is_found_wherever_it_is(dtype, n_threads):
    wide = np.zeros((700, 400), dtype=dtype)
    wide[0, 0], wide[1, 1] = INF, -INF
    views = [wide, wide.T, wide[::2], wide[:, ::3], wide[::-1, ::-1], wide[:1], wide[:, :1]]
    for X in views:
        assert not has_missing(X, n_threads)
        for row, column in [(0, 0), (len(X) // 2, X.shape[1] // 3), (-1, -1)]:
            before, X[row, column] = X[row, column], NAN
            assert has_missing(X, n_threads)
            X[row, column] = before
    assert not has_missing(wide[:0], n_threads)
    assert not has_missing(np.zeros((3, 2), dtype=int), n_threads)


def test_ordered_columns():
    X = np.array([[1.0, 2.0, 0.0], [NAN, NAN, 2.0], [3.0, -1.0, NAN]])
    right = [[1, 1, 2, 0, 2], [-INF, INF, 7, 2, 0], [3, 3, -1, 0.5, 1]]
    for order in "CF":
        np.testing.assert_array_equal(mixed().apply(np.array(X, order=order)), right)
    with pytest.raises(ValueError, match="3 columns, got 2"):
        mixed().apply(X[:, :2])
    with pytest.raises(ValueError, match="dense if it has columns of categories"):
        mixed().apply(sparse.csr_matrix(X))
    copy = pickle.loads(pickle.dumps(mixed()))
    np.testing.assert_array_equal(copy.apply(X), right)


def test_what_needs_no_change_is_not_copied():
    plain = Encoding.plain(2)
    for X in (np.eye(2), np.eye(2, dtype=np.uint8), np.eye(2, dtype=np.float32)):
        assert plain.apply(X) is X
    X = np.array([[NAN, 1.0]], dtype=np.float32)
    found = Encoding.plain(2, np.array([3.0, 4.0])).apply(X)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[3, 1]])
    # A fill that float32 cannot hold would change its side at a threshold close to it.
    for fill in (0.1, 1e300):
        encoding = Encoding.plain(2, np.array([fill, 4.0]))
        assert encoding.apply(X)[0, 0] == fill
        assert encoding.apply(sparse.csr_matrix(X)).toarray()[0, 0] == fill
    big = np.full((3, 2), 1e308)  # whose sum is infinite
    assert plain.apply(big) is big


def test_sparse_columns_are_those_of_the_dense_array():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20, 3)) * rng.normal(size=(20, 3))
    X[rng.random(X.shape) < 0.2] = NAN
    facts = ColumnFacts.of(Columns(X, (None,) * 3), np.zeros(20, dtype=int), 1)
    encoding = facts.encoding()
    for form in ("csr", "csc"):
        there = sparse.csr_matrix(X).asformat(form)
        of_sparse = ColumnFacts.of(Columns(there, (None,) * 3), np.zeros(20, dtype=int), 1)
        np.testing.assert_array_equal(of_sparse.missing, facts.missing)
        found = encoding.apply(there)
        assert found.format == form
        np.testing.assert_array_equal(found.toarray(), encoding.apply(X))
        assert np.isnan(there.data).any()  # the given one stays as it is


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"source": np.array([0, 0, 2, 1, 2], np.int32)}, "ascend"),
        ({"source": np.array([0, 0, 1, 1, 1], np.int32)}, "each of the 3 columns"),
        ({"source": np.array([0, 0, 1, 2, 3], np.int32)}, "each of the 3 columns"),
        ({"source": np.arange(5)}, "int32"),
        ({"fill": np.array([0.0, 0.0, NAN, 0.0, 0.0])}, "no NaN"),
        ({"fill": np.zeros(4)}, "one number per entry of source"),
        ({"categories": (None, None)}, "3 entries, got 2"),
        ({"categories": (None, None, ("a", "b", 1.0))}, "all text or all finite numbers"),
        ({"categories": (None, None, (1.0, 2.0, INF))}, "all text or all finite numbers"),
        ({"categories": (None, None, ("a", "b", "a"))}, "differ"),
        ({"categories": (None, ("a",), ("a", "b", "c"))}, "must have positions"),
        ({"positions": (None,) * 5}, "must have positions"),
        ({"positions": (None,) * 4}, "5 entries, got 4"),
        ({"positions": (None, None, None, np.zeros(3), np.zeros(2))}, "one float64 per category"),
        ({"positions": (None, None, None, np.zeros(3), np.array([0, 1, INF]))}, "finite"),
        ({"lost": {2: "a"}}, "no category left"),
        ({"lost": {0: "a"}}, "no category left"),
        ({"lost": {3: "a"}}, "no category left"),
        (
            {
                "categories": (None, None, ()),
                "positions": (None, None, None, np.zeros(0), np.zeros(0)),
                "lost": {2: INF},
            },
            "all text or all finite numbers",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(change, says):
    right = {name: getattr(mixed(), name) for name in ("source", "fill", "categories", "positions")}
    with pytest.raises(ValueError, match=says):
        Encoding(3, **{**right, **change})


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(5, max_features=1.0, max_bins=255, random_state=0),
        MCBoostClassifier(12),
        MCBoostClassifier(4, max_depth=3),
    ],
    ids=["margin", "stumps", "trees"],
)
def test_missing_values_are_what_two_columns_by_hand_would_be(model):
    """One column with a number below all others in place of what is missing, one with one above."""
    X, y = noisy_problem(250, 4, 3, n_values=15)
    rng = np.random.default_rng(3)
    missing = rng.random(X.shape) < 0.15
    missing[:, 2] = False
    gappy = np.where(missing, NAN, X)
    by_hand = [
        np.where(missing[:, n], number, X[:, n])
        for n in range(4)
        for number in ((-1e6, 1e6) if n != 2 else (0.0,))
    ]
    found = clone(model).fit(gappy, y)
    right = clone(model).fit(np.stack(by_hand, axis=1), y)
    np.testing.assert_array_equal(
        found.decision_function(gappy), right.decision_function(np.stack(by_hand, axis=1))
    )
    np.testing.assert_array_equal(found.ensemble_.feature, right.ensemble_.feature)


def test_that_a_value_is_missing_may_be_all_there_is_to_know():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.integers(0, 2, 300)
    X[y == 1, 1] = NAN
    model = MCBoostClassifier(1).fit(X, y)
    assert model.score(X, y) == 1.0
    # Numbers beyond all of those that were seen are no missing ones.
    assert model.predict([[0.0, 1e30], [0.0, -1e30], [0.0, NAN]]).tolist() == [0, 0, 1]


def test_a_value_missing_for_the_first_time_is_the_median():
    X, y = embedded("iris")
    for model in (MCBoostClassifier(20), MarginBoostClassifier(5, random_state=0)):
        model.fit(X, y)
        lower = np.sort(X, axis=0)[(len(X) - 1) // 2]
        np.testing.assert_array_equal(model.encoding_.fill, lower)
        gone = np.where(np.arange(4) == 2, NAN, X)
        filled = np.where(np.arange(4) == 2, lower[2], X)
        np.testing.assert_array_equal(
            model.decision_function(gone), model.decision_function(filled)
        )


@pytest.mark.parametrize("max_bins", [2, 3, 10, None])
def test_missing_values_have_a_bin_for_themselves(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 1))
    X[:3] = NAN
    y = rng.integers(0, 2, 500)
    model = MCBoostClassifier(3, max_bins=max_bins)
    model.fit(X, y)  # 3 of 500: bins of equal counts would join them to the least numbers
    y[:3] = 2
    weights = np.where(y == 2, 1000.0, 1.0)
    model.fit(X, y, weights)
    assert set(model.predict(X[:3])) == {2}
    assert 2 not in model.predict(X[3:])


def test_columns_of_nothing():
    X, y = embedded("iris")
    wide = np.column_stack([np.full(150, NAN), X])
    model = MCBoostClassifier(10).fit(wide, y)
    assert model.feature_importances_[0] == 0
    np.testing.assert_array_equal(
        model.decision_function(wide), MCBoostClassifier(10).fit(X, y).decision_function(X)
    )
    with pytest.warns(UserWarning, match="constant or missing"):
        MCBoostClassifier(2).fit(np.full((20, 2), NAN), np.arange(20) % 2)


def test_rows_that_do_not_count_decide_nothing():
    X, y = embedded("iris")
    more = np.vstack([X, np.full((5, 4), NAN)])
    labels = np.append(y, [0, 1, 2, 0, 1])
    weight = np.append(np.ones(150), np.zeros(5))
    found = MCBoostClassifier(5).fit(more, labels, weight)
    right = MCBoostClassifier(5).fit(X, y)
    assert found.encoding_.n_ordered == 4
    np.testing.assert_array_equal(found.decision_function(X), right.decision_function(X))
