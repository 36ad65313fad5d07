"""Labelled rows and what a model predicts for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from marginboost.data.classes import UNSEEN, class_numbers
from marginboost.data.masked import check_unmasked
from marginboost.engine.threads import effective_threads
from marginboost.estimators.explanations import numbers_of

__all__ = ["Evaluation", "evaluate"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Labelled rows and what a model predicts for them.

    Attributes
    ----------
    X : array or sparse matrix
        The rows as numbers, in the form that `Encoding.apply` takes.
    y : int64 array of n
        Class numbers; UNSEEN for labels that were not seen in training.
    scores, probabilities : float64 arrays of n x n_classes
        The model's scores and probabilities.
    predicted : int64 array of n
        Class numbers.
    """

    X: Any
    y: Integers
    scores: Floats
    probabilities: Floats
    predicted: Integers

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    def known(self) -> Evaluation:
        """Return the rows whose labels were seen in training."""
        kept = self.y != UNSEEN
        if kept.all():
            return self
        return replace(
            self,
            X=self.X[kept],
            y=self.y[kept],
            scores=self.scores[kept],
            probabilities=self.probabilities[kept],
            predicted=self.predicted[kept],
        )


def evaluate(model: Any, X: Any, y: Any) -> Evaluation:
    """Compute a fitted model's scores, probabilities and predictions for labelled rows.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    Evaluation
    """
    check_is_fitted(model)
    X = numbers_of(model, X)
    check_unmasked(y, "y", "a label")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, got an array of shape {labels.shape}.")
    numbers = class_numbers(model.classes_, labels)
    if len(numbers) != X.shape[0] or not len(numbers):
        raise ValueError(
            "X and y must have the same number of rows, at least one, "
            f"got {X.shape[0]} and {len(numbers)}."
        )
    threads = effective_threads(model.n_jobs)
    scores = model.ensemble_.decision_function(model.encoding_.apply(X), n_threads=threads)
    probabilities = model._probabilities(scores.copy())
    return Evaluation(X, numbers, scores, probabilities, model._decide(scores))
