"""Labels and their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["UNSEEN", "check_classes", "check_two_classes", "class_codes", "class_numbers"]

# The number of a label that is not among the classes.
UNSEEN = -1

# Integer labels are counted where they span at most so many numbers.
_LONGEST_RANGE = 1 << 16


def check_classes(classes: NDArray[Any]) -> None:
    """Raise unless the distinct labels are those of a classification, not of a regression."""
    # Twice each: if all labels differ, scikit-learn assumes a regression, and warns.
    check_classification_targets(np.repeat(classes, 2))


def class_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct labels, sorted, and the index of each label among them.

    Integers within a short range are counted, which is much faster than to sort them.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.

    Raises
    ------
    ValueError
        If they are those of a regression.
    """
    found = counted_codes(y)
    if found is None:
        is_text = y.dtype.kind in "US" and y.ndim == 1 and len(y) > 0
        if not is_text:
            check_classification_targets(y)
        found = np.unique(y, return_inverse=True)
        if not is_text:
            return found
    if 2 * len(found[0]) > len(y):
        check_classification_targets(y)  # which warns of so many classes
    return found


def counted_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return what `class_codes` does, unchecked; None if the labels are no integers of a short range."""
    if y.dtype.kind not in "iu" or y.ndim != 1 or not len(y):
        return None
    low = y.min()
    span = int(y.max()) - int(low)
    if span >= min(_LONGEST_RANGE, len(y)):
        return None
    wide = y.astype(np.int64) - int(low) if y.dtype.kind == "i" else y - low
    places = wide.astype(np.int64, copy=False)
    present = np.bincount(places, minlength=span + 1) > 0
    classes = np.flatnonzero(present).astype(y.dtype) + low
    return classes, (np.cumsum(present) - 1)[places]


def class_numbers(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of each label in `classes`; `UNSEEN` if it is not there.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Distinct labels.
    labels : ndarray of shape (n,)
        Labels of any type.
    """
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([numbers.get(label, UNSEEN) for label in labels.tolist()], dtype=np.int64)


def check_two_classes(classes: NDArray[Any]) -> None:
    """Raise unless there are classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}. "
            "There is nothing to tell apart."
        )
