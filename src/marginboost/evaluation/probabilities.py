"""How well probabilities agree with what happens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from marginboost.data.classes import UNSEEN
from marginboost.evaluation.classes import few_rows_per_class

__all__ = ["Reliability", "mean_log_loss", "reliability"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def mean_log_loss(probabilities: Floats, y: Integers) -> float:
    """Compute the log loss over the rows whose labels were seen in training.

    Parameters
    ----------
    probabilities : float64 array of n x n_classes
        As predicted.
    y : int64 array of n
        Class numbers.

    Returns
    -------
    float
        Mean of -log of the probability of a row's class; NaN where no row's label was seen.
    """
    known = y != UNSEEN
    if not known.any():
        return float("nan")
    labels = np.arange(probabilities.shape[1])
    with few_rows_per_class():
        return float(log_loss(y[known], probabilities[known], labels=labels))


class Reliability(NamedTuple):
    """How often the predicted class is right, by its probability.

    Attributes
    ----------
    confidence : float64 array of n_bins
        Mean probability of the predicted class.
    accuracy : float64 array of n_bins
        Share of the rows that belong to it.
    sizes : int64 array of n_bins
        Number of rows.
    error : float
        Mean difference of the two, over rows: the expected calibration error.
    """

    confidence: Floats
    accuracy: Floats
    sizes: Integers
    error: float


def reliability(probabilities: Floats, y: Integers, n_bins: int = 10) -> Reliability:
    """Compare the probability of the predicted class with how often it is right.

    Parameters
    ----------
    probabilities : float64 array of n x n_classes
        As predicted.
    y : int64 array of n
        Class numbers; UNSEEN counts as wrong.
    n_bins : int
        Rows are sorted by the probability of the predicted class and divided into at most this many
        bins, with equal numbers of rows. (scikit-learn's calibration_curve separates bins at
        quantiles, which puts equal probabilities into one bin.)

    Returns
    -------
    Reliability
    """
    sure = probabilities.max(axis=1)
    right = (probabilities.argmax(axis=1) == y).astype(np.float64)
    order = np.argsort(sure, kind="stable")
    parts = [part for part in np.array_split(order, n_bins) if len(part)]
    confidence = np.array([sure[part].mean() for part in parts])
    accuracy = np.array([right[part].mean() for part in parts])
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    error = float(np.abs(confidence - accuracy) @ sizes / max(1, sizes.sum()))
    return Reliability(confidence, accuracy, sizes, error)
