"""The folds of a cross-validation: checked, so that every fit knows all classes.

Where `cv` is a number, copies that are not observations of their own are in one fold: see
`marginboost.data.agreement`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from marginboost.data.agreement import agreement
from marginboost.data.copies import STEP
from marginboost.data.masked import check_unmasked
from marginboost.data.user_warning import warn_user
from marginboost.data.value_hashes import value_hashes
from marginboost.engine.gpu.arrays import to_host

__all__ = ["Fold", "check_folds", "make_folds"]

# Labels that a message names.
_MOST_NAMED = 5


class Fold(NamedTuple):
    """Rows to learn from, and rows to score.

    Attributes
    ----------
    train, test : int64 array
        The numbers of the rows; those of weight zero are not scored.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def check_folds(cv: Any) -> None:
    """Raise unless `cv` is a number of folds, a splitter, or something with splits in it."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if int(cv) >= 2:
            return
    elif not isinstance(cv, str | bool) and (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        return
    raise ValueError(
        "cv must be an integer of at least 2, a splitter of scikit-learn, or a list of pairs of row "
        f"numbers (to learn from, to score); got {cv!r}."
    )


def make_folds(
    cv: Any,
    X: Any,
    codes: NDArray[Any],
    classes: NDArray[Any],
    *,
    groups: Any,
    counts: NDArray[np.bool_],
    seed: int,
) -> list[Fold]:
    """Split rows into folds, and check them.

    Parameters
    ----------
    cv : int, splitter or iterable
        As the parameter of the tuner.
    X : array or SciPy sparse matrix
        The rows.
    codes : int array
        Class number of each row.
    classes : array
        The labels.
    groups : array-like or None
        The group of each row; rows of a group stay together.
    counts : bool array
        Whether a row has any weight.
    seed : int
        Shuffles the rows where `cv` is a number.
    """
    if groups is not None:
        check_unmasked(groups, "groups", "a group")
        groups = column_or_1d(np.asarray(to_host(groups)))
        if len(groups) != len(codes):
            raise ValueError(
                f"groups must have one entry per row, {len(codes):,}; got {len(groups):,}."
            )
    if isinstance(cv, Integral):
        # Of the rows that must be in one fold, the first stands for all.
        firsts, of_row = _distinct(X, codes, len(classes), int(cv), groups)
        splitter = _splitter(int(cv), codes[firsts], classes, groups, seed)
        splits = [
            (np.flatnonzero(np.isin(of_row, train)), np.flatnonzero(np.isin(of_row, test)))
            for train, test in _splits(splitter, firsts, codes[firsts], groups)
        ]
    else:
        from sklearn.model_selection import check_cv  # noqa: PLC0415 - slow to import

        splits = _splits(check_cv(cv, codes, classifier=True), X, codes, groups)
    folds = [
        Fold(_numbers(train, len(codes)), _numbers(test, len(codes))) for train, test in splits
    ]
    if isinstance(cv, Integral):
        folds = _with_all_classes(folds, codes, classes, groups)
    if len(folds) < 2:
        raise ValueError(f"cv must give at least 2 splits; got {len(folds)}. Add another.")
    for number, fold in enumerate(folds):
        _check(number, fold, codes, classes, counts)
    return [Fold(fold.train, fold.test[counts[fold.test]]) for fold in folds]


def _distinct(
    X: Any, codes: NDArray[Any], n_classes: int, n_folds: int, groups: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that are no copies of others, and the place of each row's own among them.

    Copies that are observations of their own count as rows. So do all rows if there are groups, or if no
    class has as many distinct rows as there are folds.
    """
    every = np.arange(len(codes))
    if groups is not None:
        return every, every
    features, counts = value_hashes(X), np.bincount(codes, minlength=n_classes)
    by_class = np.argsort(codes, kind="stable")
    found = agreement(features[by_class], codes[by_class], None, n_classes)
    independent = found.independent(counts.astype(np.float64))
    if independent.all():
        return every, every
    key = features + codes.astype(np.uint64) * STEP  # of the content, or else the row's own number
    key[independent[codes]] = every[independent[codes]]
    _, firsts, place = np.unique(key, return_index=True, return_inverse=True)
    if np.bincount(codes[firsts], minlength=n_classes).max() < n_folds:
        return every, every
    ordered = np.sort(firsts)
    return ordered, np.searchsorted(ordered, firsts[place])


def _splitter(n_folds: int, codes: Any, classes: Any, groups: Any, seed: int) -> Any:
    """Make a splitter into so many folds, with about as many rows of each class."""
    from sklearn.model_selection import (  # noqa: PLC0415 - slow to import
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise ValueError(
                f"groups must hold at least as many groups as there are folds, {n_folds}; got "
                f"{n_groups}. Set cv to {n_groups} or less."
            )
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    most = int(np.bincount(codes, minlength=len(classes)).max())
    if most < n_folds:
        how = f"Set cv={most} or less" if most >= 2 else "Add rows"
        raise ValueError(
            f"The largest class must have at least as many rows as there are folds, {n_folds}; it has "
            f"{most}. {how}."
        )
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)


def _splits(splitter: Any, X: Any, codes: Any, groups: Any) -> list[tuple[Any, Any]]:
    """Split, without scikit-learn's warning of rare classes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(X, codes, groups))


def _with_all_classes(
    folds: list[Fold], codes: NDArray[Any], classes: NDArray[Any], groups: Any
) -> list[Fold]:
    """Let every fold learn all classes: rows of a class that only this fold has are not scored.

    Nor are the rows of their groups, which are learned from as well.
    """
    mended, moved = [], np.empty(0, dtype=np.int64)
    for train, test in folds:
        lacking = np.setdiff1d(codes[test], codes[train])
        alone = np.isin(codes[test], lacking)
        if len(lacking) and groups is not None:
            alone = np.isin(groups[test], groups[test[alone]])
        moved = np.union1d(moved, lacking)
        mended.append(Fold(np.sort(np.append(train, test[alone])), test[~alone]))
    rows = np.bincount(codes, minlength=len(classes))
    rare = np.flatnonzero((rows > 0) & (rows < len(folds)))
    if len(rare) and groups is None:
        warn_user(
            f"{len(rare):,} class(es) have fewer rows than there are folds, {len(folds)}: "
            f"{_listed(classes[rare])}. Some folds score no row of them, and a class of a single row is "
            "learned in all folds and never scored. What is chosen says little about these classes."
        )
    elif len(moved):
        warn_user(
            f"The rows of class(es) {_listed(classes[moved.astype(np.int64)])} are all in one fold. It "
            "learns them, with all rows of their groups, and does not score these."
        )
    return mended


def _numbers(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the numbers of rows that are given by number or by a truth value each."""
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (n_rows,):
        return np.flatnonzero(given)
    whole = given.ndim == 1 and (given.dtype.kind in "iu" or not given.size)
    if not whole or (given.size and (given.min() < -n_rows or given.max() >= n_rows)):
        raise ValueError(
            f"The splits of cv must hold numbers of rows below {n_rows:,}; got an array of "
            f"{given.dtype} and shape {given.shape} with others."
        )
    return np.arange(n_rows)[given.astype(np.int64)]


def _check(
    number: int,
    fold: Fold,
    codes: NDArray[Any],
    classes: NDArray[Any],
    counts: NDArray[np.bool_],
) -> None:
    """Raise where a fold cannot be used."""
    both = np.intersect1d(fold.train, fold.test)
    if len(both):
        raise ValueError(
            f"No row may be learned from and scored in one split of cv; got {len(both):,} such row(s) "
            f"in split {number}, the first of them {both[0]}. Leave them out of one part."
        )
    if not counts[fold.test].any():
        raise ValueError(
            f"Every split of cv must score rows of positive weight; split {number} has none. Give "
            "other splits, or fewer."
        )
    lacking = np.setdiff1d(np.arange(len(classes)), codes[fold.train])
    if len(lacking):
        raise ValueError(
            f"The training part of every split of cv must have all {len(classes):,} classes; that of "
            f"split {number} lacks {_listed(classes[lacking])}. Give fewer or other splits."
        )


def _listed(labels: NDArray[Any]) -> str:
    named: Sequence[Any] = labels[:_MOST_NAMED].tolist()
    more = ", ..." if len(labels) > _MOST_NAMED else ""
    return ", ".join(map(repr, named)) + more
