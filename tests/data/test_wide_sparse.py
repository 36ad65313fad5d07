"""Sparse rows of very many columns: what a fit does in Python follows the stored values."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from support import assert_same_model

from marginboost import MarginBoostClassifier
from marginboost.data.sampled_rows import representatives
from marginboost.data.thresholds import Thresholds


def wide(n_columns, *, missing=False, seed=0):
    """Rows with the same stored values, in the first columns of as many as are asked for."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, 3000).astype(float)
    if missing:
        values[::50] = np.nan
    rows, columns = rng.integers(0, 300, 3000), rng.integers(0, 80, 3000)
    X = sparse.coo_array((values, (rows, columns)), shape=(300, n_columns)).tocsr()
    X.sum_duplicates()
    return X, (X[:, [0]].toarray().ravel() > 0) + (X[:, [1]].toarray().ravel() > 0)


def model_of_all_rows():
    return MarginBoostClassifier(
        3, random_state=0, n_jobs=1, max_features=1.0, subsample=1.0, calibrate=False
    )


def calls(work):
    """Count the calls of Python and of C functions; a loop's steps that call nothing are not seen."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("missing", [False, True])
def test_empty_columns_cost_no_call(missing):
    def work(n_columns):
        X, y = wide(n_columns, missing=missing)
        model = model_of_all_rows()

        def all_of_it():
            model.fit(X, y)
            model.predict_proba(X)

        return all_of_it

    work(100)()  # what is done once a process
    few, many = calls(work(100)), calls(work(20_000))
    assert many < few + 1000


def test_empty_columns_do_not_change_the_trees():
    X, y = wide(100)
    model = model_of_all_rows()
    narrow = model.fit(X, y).ensemble_
    many = model.fit(wide(5000)[0], y).ensemble_
    for name in ("feature", "threshold", "left", "right", "vectors"):
        np.testing.assert_array_equal(getattr(many, name), getattr(narrow, name))


def test_sparse_and_dense_rows_of_many_columns():
    X, y = wide(500, missing=True)
    model = MarginBoostClassifier(3, random_state=0, n_jobs=1, calibrate=False)
    assert_same_model(clone(model).fit(X.toarray(), y), model.fit(X, y))


def test_thresholds_are_a_sequence():
    parts = [np.array([1.0, 2.0]), np.empty(0), np.array([-3.0])]
    flat = Thresholds.of(parts)
    assert Thresholds.of(flat) is flat
    assert len(flat) == 3
    for found, right in zip(flat, parts, strict=True):
        np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(flat[-1], [-3.0])
    assert len(flat[1:]) == 2
    np.testing.assert_array_equal(flat.n_bins, [3, 1, 2])
    with pytest.raises(IndexError):
        flat[3]


def test_numbers_of_all_bins_at_once():
    cuts = [np.array(part) for part in ([], [0.0], [-1.0], [-2.0, 0.5], [], [5e-324], [-5e-324])]
    for values, of_feature in zip(representatives(cuts), cuts, strict=True):
        places = np.arange(len(of_feature) + 1)
        np.testing.assert_array_equal(np.searchsorted(of_feature, values), places)
        assert values[np.searchsorted(of_feature, 0.0)] == 0.0
