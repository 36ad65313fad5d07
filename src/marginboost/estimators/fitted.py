"""What every fitted classifier does: score rows, name classes, estimate probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from marginboost.backends.input_columns import ordered_columns
from marginboost.data.collection import is_collection
from marginboost.data.masked import check_unmasked
from marginboost.data.memory import check_memory
from marginboost.data.stored_columns import read_numbers
from marginboost.data.stored_rows import StoredRows, as_stored
from marginboost.engine.gpu.arrays import to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.dask_predict import computed, lazily
from marginboost.estimators.device_predict import device_prediction
from marginboost.estimators.explanations import Explanations
from marginboost.estimators.name_hints import NameHints
from marginboost.estimators.persistence import Persistence
from marginboost.estimators.stored_predict import in_batches, in_memory, labels_in
from marginboost.model.compiled import CompiledModel
from marginboost.model.leaves import find_leaves
from marginboost.model.link import Link, Softmax

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding
    from marginboost.model.ensemble import Ensemble
    from marginboost.model.set_rule import SetRule

__all__ = ["FittedClassifier", "Floats"]

Floats = NDArray[np.float64]


class FittedClassifier(NameHints, Persistence, Explanations, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that predicts by an ensemble of trees, however it was fitted."""

    # Of SciPy's sparse matrices, those that it takes.
    _sparse_formats: tuple[str, ...] | bool = False

    n_jobs: int | None

    classes_: NDArray[Any]
    encoding_: Encoding
    ensemble_: Ensemble
    feature_importances_: Floats
    n_features_in_: int

    def _link(self, n_classes: int) -> Link:
        """Return the rule that turns scores into probabilities."""
        return Softmax()

    def _probabilities(self, scores: Floats) -> Floats:
        """Turn scores into probabilities."""
        return self._link(scores.shape[1])(scores, effective_threads(self.n_jobs))

    def _decide(self, scores: Floats) -> NDArray[np.int64]:
        """Return the number of the class to predict for each row of scores."""
        best: NDArray[np.int64] = scores.argmax(axis=1)
        return best

    def _checked(self, X: Any) -> Any:
        """Return the ordered columns of rows to predict."""
        check_is_fitted(self)
        X = in_memory(X, getattr(self, "feature_names_in_", None))
        return ordered_columns(self, to_host(X), self.encoding_, self._sparse_formats)

    def _scores(self, X: Any) -> Floats:
        X = self._checked(X)
        return self.ensemble_.decision_function(X, n_threads=effective_threads(self.n_jobs))

    def decision_function(self, X: Any) -> Floats:
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score; those in files are read in batches.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            F; with two classes the score of the second less that of the first, as scikit-learn has it.
            A CuPy array for rows on a GPU.
        """
        if is_collection(X):
            return self._lazily(self.decision_function, X, _as_decision(self._no_scores()))
        if (rows := as_stored(X)) is not None:
            return self._in_batches(self.decision_function, rows)
        there = device_prediction(self, X)
        if there is not None:
            found: Floats = there.decision_function()
            return found
        return _as_decision(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of largest score; with costs, that of least expected cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, as in the y of `fit`. A CuPy array for rows on a GPU, if the labels are numbers.
        """
        if is_collection(X):
            check_is_fitted(self)
            return self._lazily(self.predict, X, self.classes_[:0])
        if (rows := as_stored(X)) is not None:
            return self._in_batches(self.predict, rows)
        there = device_prediction(self, X)
        if there is not None:
            link, costs = self._link(len(self.classes_)), getattr(self, "cost_matrix_", None)
            found: NDArray[Any] = there.labels(self.classes_, link, costs)
            return found
        best = self._decide(self._scores(X))
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probabilities of the classes.

        They follow from the scores at which the method's expected loss is least; see the
        documentation of each classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows that sum to 1. A CuPy array for rows on a GPU.
        """
        if is_collection(X):
            return self._lazily(self.predict_proba, X, self._no_scores())
        if (rows := as_stored(X)) is not None:
            return self._in_batches(self.predict_proba, rows)
        there = device_prediction(self, X)
        if there is not None:
            found: Floats = there.probabilities(self._link(len(self.classes_)))
            return found
        return self._probabilities(self._scores(X))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Find the leaf of every tree that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to look up.

        Returns
        -------
        ndarray of shape (n_samples, n_trees)
            Numbers of leaves, counted from 0 in each tree. Trees are in the order of `ensemble_`: those
            of the first round come first.
        """
        check_is_fitted(self)
        n_trees = self.ensemble_.n_trees
        if is_collection(X):
            like = np.empty((0, n_trees), dtype=np.int32)
            found: NDArray[np.int32] = lazily(self.apply, X, like, np.arange(n_trees))
            return found
        ordered = self._checked(X)
        n_rows = ordered.shape[0]
        check_memory(8 * n_rows * n_trees, lambda: f"leaves of {n_rows:,} rows")
        return find_leaves(self.ensemble_, ordered)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The accuracy.
        """
        from sklearn.metrics import accuracy_score  # noqa: PLC0415 - slow to import

        # Labels are one small value per row: those of collections, cut as they may be, come here.
        if (rows := as_stored(X)) is not None:
            X, y = rows, labels_in(rows, y)
            if isinstance(sample_weight, str):
                sample_weight = read_numbers(rows, sample_weight, "sample_weight")
        found = to_host(computed(self.predict(X)))
        labels, weight = computed(y), computed(sample_weight)
        check_unmasked(labels, "y", "a label")
        check_unmasked(weight, "sample_weight", "a number")
        return float(accuracy_score(to_host(labels), found, sample_weight=to_host(weight)))

    def _lazily(
        self, function: Callable[[Any], NDArray[Any]], X: Any, like: NDArray[Any]
    ) -> NDArray[Any]:
        # A collection, which does what arrays do.
        found: NDArray[Any] = lazily(function, X, like, self.classes_)
        return found

    def _in_batches(
        self, function: Callable[[Any], NDArray[Any]], rows: StoredRows
    ) -> NDArray[Any]:
        check_is_fitted(self)
        return in_batches(function, rows, getattr(self, "feature_names_in_", None))

    def _no_scores(self) -> Floats:
        """Return the scores of no rows."""
        check_is_fitted(self)
        return np.empty((0, len(self.classes_)))

    def compile(self) -> CompiledModel:
        """Make the fitted model ready to serve: one row, or many, without scikit-learn's checks.

        Returns
        -------
        CompiledModel
            A snapshot with `predict`, `predict_proba`, `predict_set` and `decision_function`: it does
            not change when this classifier is fitted again.
        """
        check_is_fitted(self)
        link: Callable[[Floats], Floats] = self._link(len(self.classes_))
        if type(self)._probabilities is not FittedClassifier._probabilities:
            link = copy(self)._probabilities  # a rule of its own, with the parameters of now
        threads = effective_threads(self.n_jobs)
        return CompiledModel(
            self.ensemble_,
            self.classes_,
            link,
            threads,
            self.encoding_,
            set_rule=self._set_rule_or_none(),
            costs=getattr(self, "cost_matrix_", None),
        )

    def _set_rule_or_none(self) -> SetRule | None:
        """Return what makes prediction sets, where the classifier has it."""
        return None

    def _staged_scores(self, X: NDArray[Any]) -> Iterator[Floats]:
        return self.ensemble_.staged(X, n_threads=effective_threads(self.n_jobs))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round; see `decision_function`."""
        for scores in self._staged_scores(self._checked(X)):
            yield _as_decision(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; see `predict`."""
        for scores in self._staged_scores(self._checked(X)):
            yield self.classes_[self._decide(scores)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities after each round; see `predict_proba`.

        Where the scale of the probabilities is learned (`calibrate`), all rounds have that of the whole
        model.
        """
        for scores in self._staged_scores(self._checked(X)):
            yield self._probabilities(scores)


def _as_decision(scores: Floats) -> Floats:
    return scores if scores.shape[1] != 2 else scores[:, 1] - scores[:, 0]
