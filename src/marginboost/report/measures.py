"""What pictures and the report show, as numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.classes import UNSEEN
from marginboost.model.ensemble import Ensemble

__all__ = [
    "Reliability",
    "confusion_counts",
    "normalised_margins",
    "reliability",
    "round_sizes",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

def normalised_margins(ensemble: Ensemble, scores: Floats, y: Integers) -> Floats:
    """Tell how surely each row is right, from -1 to 1.

    Parameters
    ----------
    ensemble : Ensemble
        The model.
    scores : float64 array of n x n_classes
        Its scores.
    y : int64 array of n
        Class numbers; none UNSEEN.

    Returns
    -------
    float64 array of n
        The score of a row's class less the largest of the others, divided by the most that the trees
        could tell two classes apart.
    """
    rows = np.arange(len(y))
    others = scores.copy()
    others[rows, y] = -np.inf
    margins = scores[rows, y] - others.max(axis=1, initial=-np.inf)
    spread = np.ptp(ensemble.vectors, axis=1)[ensemble.leaf_vector] * np.abs(ensemble.leaf_value)
    most = np.maximum.reduceat(spread, ensemble.leaf_offsets[:-1]).sum() if len(spread) else 0.0
    normalised: Floats = margins / most if most > 0 else np.zeros(len(y))
    return normalised


def confusion_counts(y: Integers, predicted: Integers, n_classes: int) -> Integers:
    """Count rows by their class and the predicted one; rows of unseen labels are left out.

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
    pairs = y[known] * n_classes + predicted[known]
    counts = np.bincount(pairs, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes).astype(np.int64)


class Reliability(NamedTuple):
    """How often the predicted class is right, by how sure the model is.

    Attributes
    ----------
    confidence : float64 array of n_bins
        Mean probability of the predicted class.
    accuracy : float64 array of n_bins
        Share of the rows of which it is the class.
    sizes : int64 array of n_bins
        How many rows they are.
    error : float
        Mean difference of the two, over rows: the expected calibration error.
    """

    confidence: Floats
    accuracy: Floats
    sizes: Integers
    error: float


def reliability(probabilities: Floats, y: Integers, n_bins: int = 10) -> Reliability:
    """Compare probabilities with what happens.

    Parameters
    ----------
    probabilities : float64 array of n x n_classes
        As predicted.
    y : int64 array of n
        Class numbers; UNSEEN counts as wrong.
    n_bins : int
        Rows are sorted by the probability of the predicted class, and put into at most so many bins
        of equal counts.

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


def round_sizes(ensemble: Ensemble) -> Floats:
    """Tell by how much each round moves the score of each class, in the mean over rows.

    Parameters
    ----------
    ensemble : Ensemble
        With the cover of its leaves; without it all leaves of a tree count alike.

    Returns
    -------
    float64 array of n_rounds x n_classes
    """
    n_leaves = np.diff(ensemble.leaf_offsets)
    tree = np.repeat(np.arange(ensemble.n_trees), n_leaves)
    cover = np.ones(len(tree)) if ensemble.leaf_cover is None else ensemble.leaf_cover
    share = cover / np.maximum(np.bincount(tree, cover, ensemble.n_trees)[tree], 1e-300)
    terms = np.abs(ensemble.vectors)[ensemble.leaf_vector]
    terms *= (np.abs(ensemble.leaf_value) * share)[:, None]
    of_trees = np.repeat(np.arange(ensemble.n_rounds), np.diff(ensemble.round_offsets))
    sizes = np.zeros((ensemble.n_rounds, ensemble.n_classes))
    np.add.at(sizes, of_trees[tree], terms)
    return sizes
