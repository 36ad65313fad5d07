"""What every boosted classifier shares: checking, fitting, predicting."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.progress import Progress
from marginboost.boosting.record import Callback, Round
from marginboost.data.memory import check_memory, fit_bytes
from marginboost.data.training_set import TrainingSet, make_training_set
from marginboost.engine import ENGINES, Engine, make_engine
from marginboost.engine.threads import effective_threads
from marginboost.estimators.settings import check_choice, check_integer
from marginboost.model.ensemble import Ensemble, EnsembleBuilder
from marginboost.weak.base import WeakLearner
from marginboost.weak.stump import StumpLearner
from marginboost.weak.tree import TreeLearner

Floats = NDArray[np.float64]


class BoostedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier F(x) = sum of h_j(x) W[j, :], fitted by a `Method`.

    Subclasses carry their parameters, check them in `_check_settings`, and make their method.
    """

    n_estimators: int
    max_depth: int
    max_bins: int | None
    class_weight: dict[Any, float] | str | None
    n_jobs: int | None
    engine: str
    verbose: int

    classes_: NDArray[Any]
    n_features_in_: int
    n_iter_: int
    coef_: Floats
    stop_reason_: str
    feature_importances_: Floats
    train_errors_: Floats
    optimality_errors_: Floats
    ensemble_: Ensemble

    @abstractmethod
    def _make_method(self, engine: Engine, data: TrainingSet, learner: WeakLearner) -> Method:
        """Make the method that fits."""

    @property
    @abstractmethod
    def _probability_factor(self) -> float:
        """The c of softmax(c * F)."""

    def _check_settings(self) -> None:
        """Check the parameters that all methods share."""
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("max_depth", self.max_depth, 1)
        check_integer("max_bins", self.max_bins, 2, 65535, none_is="one bin a distinct value")
        verbose = int(self.verbose) if isinstance(self.verbose, bool) else self.verbose
        check_integer("verbose", verbose, 0)
        check_choice("engine", self.engine, ENGINES)
        counts_back = isinstance(self.n_jobs, Integral) and self.n_jobs < 0
        if self.n_jobs is not None and not counts_back:
            check_integer("n_jobs", self.n_jobs, 1)
        if isinstance(self.class_weight, str):
            check_choice("class_weight", self.class_weight, ("balanced",))

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, zero or more. An integer weight is the same as repeating the row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_settings()
        X, y = validate_data(self, X, y, dtype="numeric", order=None)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}. "
                "There is nothing to tell apart."
            )
        weight = self._sample_weight(sample_weight, X, classes[codes], codes)
        check_memory(
            fit_bytes(*X.shape, len(classes), wide=self._may_be_wide(), trees=self.max_depth > 1),
            f"{X.shape[0]} rows, {X.shape[1]} features, {len(classes)} classes",
        )
        n_threads = effective_threads(self.n_jobs)
        data = make_training_set(
            X,
            codes.astype(np.int64, copy=False),
            len(classes),
            sample_weight=weight,
            class_weight=self._class_weight(classes, y),
            max_bins=self.max_bins,
            n_threads=n_threads,
        )
        self.classes_ = classes
        self._boost(data, make_engine(self.engine, n_threads))
        return self

    def _boost(self, data: TrainingSet, engine: Engine) -> None:
        """Run the loop and keep what it made."""
        thresholds = data.binned.thresholds
        learner: WeakLearner = (
            StumpLearner(thresholds)
            if self.max_depth == 1
            else TreeLearner(thresholds, self.max_depth)
        )
        rounds: list[Round] = []
        progress = Progress(self.n_estimators) if self.verbose else None
        # list.append is done whole or not at all, whenever an interrupt comes.
        callbacks: list[Callback] = [rounds.append]
        if progress is not None:
            callbacks.append(progress)
        reason = boost(self._make_method(engine, data, learner), self.n_estimators, callbacks)
        if progress is not None:
            progress.close(reason)
        if not rounds and reason == INTERRUPTED:
            raise KeyboardInterrupt
        if reason == INTERRUPTED:
            warnings.warn(
                f"Interrupted: the model keeps the {len(rounds)} rounds that were finished.",
                UserWarning,
                stacklevel=3,
            )
        elif not rounds:
            warnings.warn(
                "No weak classifier tells any two classes apart (are all columns constant?): the "
                "model gives every class the same score.",
                UserWarning,
                stacklevel=3,
            )
        builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
        for finished in rounds:
            builder.append(finished.weak, finished.w)
        self.stop_reason_ = reason
        self.n_iter_ = len(rounds)
        self.ensemble_ = builder.build()
        self.coef_ = self.ensemble_.coef
        self.train_errors_ = np.array([r.training_error for r in rounds])
        self.optimality_errors_ = np.array([r.optimality_error for r in rounds])
        gains = [share * float(r.w.sum()) for r in rounds for share in r.weak.gain]
        self.feature_importances_ = self.ensemble_.feature_importances(gains)

    def _may_be_wide(self) -> bool:
        return self.max_bins is None or self.max_bins > 256

    def _sample_weight(
        self, sample_weight: ArrayLike | None, X: Any, y: Any, codes: NDArray[np.int64]
    ) -> Floats | None:
        if sample_weight is None:
            return None
        weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight.min() < 0:
            at = int(np.argmin(weight))
            raise ValueError(
                f"sample_weight must hold no negative number; got {weight[at]:g} at row {at}."
            )
        kept = np.unique(codes[weight > 0])
        if len(kept) < 2:
            raise ValueError(
                "sample_weight must be positive for rows of at least two classes; got "
                f"{len(kept)} such class(es)."
            )
        return weight

    def _class_weight(self, classes: NDArray[Any], y: NDArray[Any]) -> Floats | None:
        if self.class_weight is None:
            return None
        factors: Floats = np.asarray(
            compute_class_weight(self.class_weight, classes=classes, y=y), dtype=np.float64
        )
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError(
                f"class_weight must hold finite numbers above 0; got {self.class_weight!r}."
            )
        return factors

    def _checked(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, dtype="numeric", order=None, reset=False)
        return np.asarray(X)

    def _scores(self, X: Any) -> Floats:
        X = self._checked(X)
        return self.ensemble_.decision_function(X, n_threads=effective_threads(self.n_jobs))

    def decision_function(self, X: Any) -> Floats:
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            F; with two classes the score of the second less that of the first, as scikit-learn has it.
        """
        return _as_decision(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, as in the y of `fit`.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probabilities of the classes.

        The loss is a sum over pairs of classes, and each pair's expected loss is least where
        F_a - F_b is log(p_a / p_b) / c; so the estimate is softmax(c * F), with c = 2 for the
        exponential loss and 1 for the logistic one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows that sum to 1.
        """
        scores = self._scores(X)
        probabilities: Floats = softmax(self._probability_factor * scores, axis=1)
        return probabilities

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round; see `decision_function`."""
        X = self._checked(X)
        for scores in self.ensemble_.staged(X, n_threads=effective_threads(self.n_jobs)):
            yield _as_decision(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; see `predict`."""
        X = self._checked(X)
        for scores in self.ensemble_.staged(X, n_threads=effective_threads(self.n_jobs)):
            yield self.classes_[scores.argmax(axis=1)]


def _as_decision(scores: Floats) -> Floats:
    return scores if scores.shape[1] != 2 else scores[:, 1] - scores[:, 0]
