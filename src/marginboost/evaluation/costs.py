"""What predictions cost, and how many classes they are off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native
from marginboost.data.classes import UNSEEN, class_numbers
from marginboost.data.costs import read_costs, read_ranks
from marginboost.evaluation.evaluate import Evaluation

__all__ = ["Decided", "decide", "decided", "mean_cost", "ordered_labels"]

Integers = NDArray[np.int64]


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost_matrix: Any,
    *,
    labels: ArrayLike | None = None,
    classes_order: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean cost of predictions.

    For scikit-learn's searches: ``make_scorer(mean_cost, greater_is_better=False, cost_matrix=...,
    labels=...)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    cost_matrix : array-like of shape (n_classes, n_classes), dict, "ordinal" or "equal"
        As in `MarginBoostClassifier`.
    labels : array-like of shape (n_classes,), optional
        The classes, in the order of the rows and columns of the matrix: `classes_` of a model. By default
        the labels that occur, sorted.
    classes_order : list of labels, optional
        The order of the classes for "ordinal", where that is not the order of the labels.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from marginboost import mean_cost
    >>> mean_cost([0, 1, 2, 2], [0, 2, 0, 2], "ordinal")
    0.75
    >>> mean_cost(["ham", "spam"], ["spam", "ham"], {"ham": {"spam": 9}})
    5.0
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or not len(true):
        raise ValueError(
            "y_true and y_pred must have the same number of labels, at least one; got arrays of shapes "
            f"{true.shape} and {predicted.shape}."
        )
    found = [*true.tolist(), *predicted.tolist()]
    classes = np.unique(found) if labels is None else np.asarray(labels)
    numbers = class_numbers(classes, np.concatenate([true, predicted]))
    if (numbers == UNSEEN).any():
        lacking = found[int(np.argmax(numbers == UNSEEN))]
        raise ValueError(
            f"labels must hold every label of y_true and y_pred; it lacks {lacking!r}."
        )
    costs, _ = read_costs(
        cost_matrix, classes, read_ranks(classes_order, classes), classes_order or ()
    )
    if costs is None:
        costs = 1.0 - np.eye(len(classes))
    of_row = costs[numbers[: len(true)], numbers[len(true) :]]
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(of_row, weights=weight))


def decide(model: Any, probabilities: NDArray[np.float64]) -> Integers:
    """Return the numbers of the classes that a model predicts where it has these probabilities."""
    costs = getattr(model, "cost_matrix_", None)
    if costs is None:
        best: Integers = probabilities.argmax(axis=1)
        return best
    return _native.least_cost(probabilities, costs, 1)


@dataclass(frozen=True, slots=True)
class Decided:
    """A mean over rows, and what always predicting one class would have given.

    Attributes
    ----------
    mean : float
        Of the model.
    constant : float or None
        Of the class that costs least on the training rows; None where the model does not know their
        classes.
    label : object
        That class.
    """

    mean: float
    constant: float | None
    label: Any


def decided(model: Any, rows: Evaluation, *, steps: bool = False) -> Decided | None:
    """Compute the mean cost of a model's predictions, or how many classes they are off.

    Parameters
    ----------
    model : classifier
        Fitted.
    rows : Evaluation
        What it predicts; rows of classes that were not seen in training are left out.
    steps : bool
        The mean absolute error in steps from class to class, instead of the mean cost.

    Returns
    -------
    Decided or None
        None where the model has no costs, or its classes no order, or no row has a known class.
    """
    costs = getattr(model, "cost_matrix_", None)
    if steps:
        ranks = getattr(model, "class_ranks_", None)
        costs = None if ranks is None else np.abs(ranks[:, None] - ranks[None, :])
    rows = rows.known()
    if costs is None or not len(rows):
        return None
    mean = float(costs[rows.y, rows.predicted].mean())
    counts = getattr(model, "class_count_", None)
    if counts is None:
        return Decided(mean, None, None)
    best = int((np.asarray(counts) @ costs).argmin())
    return Decided(mean, float(costs[rows.y, best].mean()), model.classes_[best])


def ordered_labels(model: Any) -> list[Any] | None:
    """Return the classes of a model in their order, the lowest first; None where they have none."""
    ranks = getattr(model, "class_ranks_", None)
    return None if ranks is None else model.classes_[np.argsort(ranks)].tolist()
