"""How well each class is predicted. Rows whose labels were not seen in training are left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from marginboost.data.classes import UNSEEN

__all__ = ["confusion_counts", "few_rows_per_class", "macro_f1", "precision_and_recall"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@contextmanager
def few_rows_per_class() -> Iterator[None]:
    """Silence scikit-learn 1.6, which warns that few rows per class may be a regression."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield


def confusion_counts(y: Integers, predicted: Integers, n_classes: int) -> Integers:
    """Count rows by class and predicted class.

    Parameters
    ----------
    y, predicted : int64 arrays of n
        Class numbers.
    n_classes : int
        Number of classes.

    Returns
    -------
    int64 array of n_classes x n_classes
        True classes are rows.
    """
    known = y != UNSEEN
    if not known.any():  # scikit-learn refuses this
        return np.zeros((n_classes, n_classes), dtype=np.int64)
    with few_rows_per_class():
        counts = confusion_matrix(y[known], predicted[known], labels=np.arange(n_classes))
    return np.asarray(counts, dtype=np.int64)


def precision_and_recall(y: Integers, predicted: Integers, n_classes: int) -> tuple[Floats, Floats]:
    """Compute precision and recall per class.

    Parameters
    ----------
    y, predicted : int64 arrays of n
        Class numbers.
    n_classes : int
        Number of classes.

    Returns
    -------
    precision : float64 array of n_classes
        Share of the rows predicted as the class that belong to it; NaN where there are none.
    recall : float64 array of n_classes
        Share of the class's rows that are predicted as it; NaN where it has none.
    """
    known = y != UNSEEN
    if not known.any():
        return np.full(n_classes, np.nan), np.full(n_classes, np.nan)
    labels = np.arange(n_classes)
    with few_rows_per_class():
        precision, recall, _, _ = precision_recall_fscore_support(
            y[known], predicted[known], labels=labels, average=None, zero_division=np.nan
        )
    return np.asarray(precision), np.asarray(recall)


def macro_f1(y: Integers, predicted: Integers) -> float:
    """Compute the mean F1 score of the classes that occur or are predicted, each counted alike.

    Parameters
    ----------
    y, predicted : int64 arrays of n
        Class numbers.

    Returns
    -------
    float
        NaN where no row's label was seen.
    """
    known = y != UNSEEN
    if not known.any():
        return float("nan")
    with few_rows_per_class():
        return float(f1_score(y[known], predicted[known], average="macro", zero_division=0.0))
