"""How well the scores rank the classes of a row, and the rows of a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score, top_k_accuracy_score

from marginboost.data.classes import UNSEEN
from marginboost.evaluation.classes import few_rows_per_class

__all__ = ["one_against_rest", "top_k_accuracy"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def top_k_accuracy(probabilities: Floats, y: Integers, k: int) -> float:
    """Compute the share of the rows whose class is among the k most probable ones.

    Parameters
    ----------
    probabilities : float64 array of n x n_classes
        As predicted.
    y : int64 array of n
        Class numbers; UNSEEN counts as wrong.
    k : int
        Fewer than there are classes.

    Returns
    -------
    float
    """
    known = y != UNSEEN
    if not known.any():
        return 0.0
    labels = np.arange(probabilities.shape[1])
    scores = probabilities[known, 1] if len(labels) == 2 else probabilities[known]
    with few_rows_per_class():
        found = top_k_accuracy_score(y[known], scores, k=k, labels=labels)
    return float(found) * float(known.mean())


def one_against_rest(probabilities: Floats, y: Integers) -> tuple[Floats, Floats]:
    """Compute, per class, how well its probability separates its rows from all others.

    Parameters
    ----------
    probabilities : float64 array of n x n_classes
        As predicted.
    y : int64 array of n
        Class numbers; rows of UNSEEN labels belong to no class.

    Returns
    -------
    auc : float64 array of n_classes
        Area under the ROC curve; NaN for a class that has no rows here, or all of them.
    precision : float64 array of n_classes
        Average precision, the area under the precision-recall curve; NaN for a class without rows.
    """
    n_classes = probabilities.shape[1]
    auc, precision = np.full(n_classes, np.nan), np.full(n_classes, np.nan)
    for r in range(n_classes):
        own = y == r
        if own.any():
            precision[r] = average_precision_score(own, probabilities[:, r])
            if not own.all():
                auc[r] = roc_auc_score(own, probabilities[:, r])
    return auc, precision
