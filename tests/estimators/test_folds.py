"""Folds: stratified, shuffled by the seed, with groups together; and errors that say what to do."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import KFold, PredefinedSplit

from marginboost.estimators.folds import check_folds, make_folds

Y = np.repeat([0, 1, 2], [40, 20, 10])
CLASSES = np.array(["a", "b", "c"])
EVERY = np.arange(70)


def folds(cv, *, codes=Y, groups=None, counts=None, seed=0, X=None):
    counts = np.ones(len(codes), dtype=bool) if counts is None else counts
    X = np.zeros((len(codes), 1)) if X is None else X
    return make_folds(cv, X, codes, CLASSES, groups=groups, counts=counts, seed=seed)


def test_a_number_gives_stratified_folds_that_the_seed_shuffles():
    found = folds(5)
    assert [np.bincount(Y[fold.test]).tolist() for fold in found] == [[8, 4, 2]] * 5
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(70))
    assert all((a.test == b.test).all() for a, b in zip(found, folds(5), strict=True))
    assert not all((a.test == b.test).all() for a, b in zip(found, folds(5, seed=1), strict=True))


def test_groups_stay_together():
    groups = np.arange(70) % 14
    for fold in folds(3, groups=groups):
        assert not set(groups[fold.train]) & set(groups[fold.test])


def test_rows_that_were_written_down_again_are_in_one_fold():
    """In folds of as many distinct rows as without the copies."""
    times = np.random.default_rng(0).integers(2, 5, 70)
    X, codes = np.repeat(EVERY, times)[:, None].astype(float), np.repeat(Y, times)
    X[X == 7] = np.nan
    every = np.ones(len(codes), dtype=bool)
    for kind in (np.asarray, csr_array):
        found = make_folds(5, kind(X), codes, CLASSES, groups=None, counts=every, seed=0)
        once = folds(5, X=EVERY[:, None] / 2)
        for fold, alone in zip(found, once, strict=True):
            rows = np.repeat(EVERY, times)
            assert set(rows[fold.test]) == set(EVERY[alone.test])
            assert not set(rows[fold.train]) & set(rows[fold.test])
            assert len(fold.train) + len(fold.test) == len(codes)


def test_copies_that_are_observations_are_spread():
    """Here equal values come with all three classes; there a third of the rows has copies."""
    few = (EVERY % 3)[:, None].astype(float)
    third = np.where(EVERY % 6 == 1, EVERY - 1, EVERY)[:, None].astype(float)
    for X in (few, third):
        for fold, plain in zip(folds(5, X=X), folds(5, X=EVERY[:, None]), strict=True):
            np.testing.assert_array_equal(fold.test, plain.test)


def test_fewer_distinct_rows_than_folds():
    X, codes = np.tile([[0.0], [1.0], [2.0]], (20, 1)), np.tile([0, 1, 2], 20)
    for fold in folds(5, codes=codes, X=X):
        assert len(fold.test) == 12


def test_a_splitter_and_a_list_are_taken_as_they_are():
    splitter = KFold(3, shuffle=True, random_state=1)
    expected = list(splitter.split(Y))
    masks = [
        (np.isin(np.arange(70), train), np.isin(np.arange(70), test)) for train, test in expected
    ]
    for cv in (splitter, expected, masks, iter(expected)):
        for fold, (train, test) in zip(folds(cv), expected, strict=True):
            np.testing.assert_array_equal(fold.train, train)
            np.testing.assert_array_equal(fold.test, test)
    predefined = PredefinedSplit(np.arange(70) % 2)
    assert [len(fold.test) for fold in folds(predefined)] == [35, 35]


def test_rows_without_weight_are_not_scored():
    for fold in folds(5, counts=EVERY % 7 > 0):
        assert (fold.test % 7 > 0).all()
        assert len(fold.train) == 56


def test_rare_classes_are_spread_over_folds():
    codes = Y[:63]  # three rows of the last class
    with pytest.warns(
        UserWarning, match="1 class.* fewer rows than there are folds, 5: 'c'"
    ) as told:
        found = folds(5, codes=codes)
    assert len(told) == 1
    assert sorted((codes[fold.test] == 2).sum() for fold in found) == [0, 0, 1, 1, 1]
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(63))
    assert all(len(fold.train) + len(fold.test) == 63 for fold in found)


def test_the_only_row_of_a_class_is_learned_in_every_fold():
    codes = Y[:61]
    with pytest.warns(UserWarning, match="a class of a single row"):
        found = folds(5, codes=codes)
    assert all(60 in fold.train and 60 not in fold.test for fold in found)
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(60))


def test_a_class_of_one_group_is_learned_with_its_group():
    groups = np.where(Y == 2, 7, EVERY % 14)
    with pytest.warns(UserWarning, match="class.* 'c' are all in one fold"):
        found = folds(3, groups=groups)
    for fold in found:
        assert 2 in Y[fold.train]
        assert not set(groups[fold.train]) & set(groups[fold.test])
        assert not set(fold.test) & set(np.flatnonzero(groups == 7))


@pytest.mark.parametrize("cv", [1, 0, True, "five", 2.5, None])
def test_what_cv_may_be(cv):
    with pytest.raises(ValueError, match=r"cv must be an integer of at least 2.*got"):
        check_folds(cv)


BAD = {
    "few rows": ({"cv": 41}, r"as many rows as there are folds, 41; it has 40. Set cv=40 or less"),
    "few groups": ({"cv": 5, "groups": EVERY % 3}, r"at least .* folds, 5; got 3. Set cv to 3 or less"),
    "wrong groups": ({"cv": 5, "groups": EVERY[1:]}, r"groups must have one entry per row, 70; got 69"),
    "one split": ({"cv": [(EVERY[:35], EVERY[35:])]}, r"at least 2 splits; got 1"),
    "lacking": ({"cv": [(EVERY[::2], EVERY[1::2]), (EVERY[:60], EVERY[60:])]},
                r"must have all 3 classes; that of split 1 lacks 'c'"),
    "both": ({"cv": [(EVERY, EVERY[3:5]), (EVERY, EVERY)]},
             r"got 2 such row\(s\) in split 0, the first of them 3"),
    "out of range": ({"cv": [(EVERY, [70])] * 2}, r"numbers of rows below 70"),
    "no weight": ({"cv": 2, "counts": np.zeros(70, dtype=bool)},
                  r"rows of positive weight; split 0 has none"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_splits_must_hold(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        folds(**arguments)
