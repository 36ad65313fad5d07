"""What every boosted classifier shares: checking, fitting, predicting."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.progress import Progress
from marginboost.boosting.record import Callback, Round
from marginboost.data.collection import is_collection
from marginboost.data.encoding import Encoding
from marginboost.data.rows import Rows
from marginboost.engine import DEVICES, ENGINES
from marginboost.engine.gpu.arrays import lies_on_gpu, to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.collections import computed, lazily
from marginboost.estimators.find_home import find_home
from marginboost.estimators.home import Home
from marginboost.estimators.intake import Intake
from marginboost.estimators.settings import check_choice, check_integer, check_real
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.compiled import CompiledModel
from marginboost.model.ensemble import Ensemble
from marginboost.model.link import Link, Softmax

Floats = NDArray[np.float64]

# With so many rows a mean weight is four units of the 32-bit sums; see docs/scaling.md.
SHARP_ROWS = 1 << 28


class BoostedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose scores F are a sum over rounds, fitted by a `Method`.

    Subclasses carry their parameters, check them in `_check_settings`, and make their method.
    """

    _accepts_sparse = False

    n_estimators: int
    learning_rate: float
    max_bins: int | None
    class_weight: dict[Any, float] | str | None
    n_jobs: int | None
    engine: str
    device: str
    verbose: int

    classes_: NDArray[Any]
    n_features_in_: int
    n_iter_: int
    stop_reason_: str
    feature_importances_: Floats
    train_errors_: Floats
    ensemble_: Ensemble
    encoding_: Encoding

    @abstractmethod
    def _make_engine(self, home: Home) -> Any:
        """Make the engine that the method runs on."""

    @abstractmethod
    def _make_method(self, engine: Any, data: Rows) -> Method:
        """Make the method that fits."""

    @abstractmethod
    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        """Estimate the memory of a fit."""

    def _keep(self, rounds: list[Round]) -> None:
        """Set the fitted attributes that only some methods have."""

    def _link(self, n_classes: int) -> Link:
        """Return the rule that turns scores into probabilities."""
        return Softmax()

    def _probabilities(self, scores: Floats) -> Floats:
        """Turn scores into probabilities."""
        return self._link(scores.shape[1])(scores, effective_threads(self.n_jobs))

    def _check_settings(self) -> None:
        """Check the parameters that all methods share."""
        check_integer("n_estimators", self.n_estimators, 1)
        check_real("learning_rate", self.learning_rate, 0.0, 1.0, low_included=False)
        verbose = int(self.verbose) if isinstance(self.verbose, bool) else self.verbose
        check_integer("verbose", verbose, 0)
        check_choice("engine", self.engine, ENGINES)
        check_choice("device", self.device, DEVICES)
        counts_back = isinstance(self.n_jobs, Integral) and self.n_jobs < 0
        if self.n_jobs is not None and not counts_back:
            check_integer("n_jobs", self.n_jobs, 1)
        if isinstance(self.class_weight, str):
            check_choice("class_weight", self.class_weight, ("balanced",))

    def _least_leaf_share(self) -> float:
        """Return the least share of the rows' weight in a leaf."""
        return 0.0

    def _intake(self) -> Intake:
        """Say what is asked for when rows are taken in."""
        return Intake(
            self,
            self._sparse_formats,
            self.class_weight,
            self.max_bins,
            self._least_leaf_share(),
            self._needed_bytes,
            self._memory_story,
        )

    def _memory_story(self, n_rows: int, n_features: int, n_classes: int) -> str:
        """Say what the memory is for."""
        return f"{n_rows:,} rows, {n_features:,} features, {n_classes:,} classes"

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. With `device="cuda"` also an array on the GPU, CuPy's or torch's. A Dask
            array or data frame is fitted by the workers of the current Dask client.
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
        home = find_home(X, device=self.device, engine=self.engine, n_jobs=self.n_jobs)
        try:
            data, self.classes_ = home.take_in(self._intake(), X, y, sample_weight)
            self.encoding_ = Encoding.plain(data.binned.n_features)
            self._boost(data, home)
        finally:
            home.close()
        return self

    def _boost(self, data: Rows, home: Home) -> None:
        """Run the loop on the home's engine and keep what it made."""
        self._boost_on(self._make_engine(home), data)

    def _boost_on(self, engine: Any, data: Rows) -> None:
        """Run the loop and keep what it made."""
        if data.n_counted > SHARP_ROWS:
            warnings.warn(
                f"The fit has {data.n_counted:,} rows. Sums over rows are of 32 bits: with more than "
                f"{SHARP_ROWS:,} rows those of small weight are rounded away, as by weight trimming.",
                UserWarning,
                stacklevel=5,
            )
        builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
        rounds: list[Round] = []
        callbacks: list[Callback] = [rounds.append]
        progress = Progress(self.n_estimators) if self.verbose else None
        if progress is not None:
            callbacks.append(progress)
        reason = boost(self._make_method(engine, data), self.n_estimators, builder, callbacks)
        if progress is not None:
            progress.close(reason)
        if reason == INTERRUPTED and not rounds:
            raise KeyboardInterrupt
        builder.keep_rounds(len(rounds))
        self._warn_of(reason, len(rounds))
        self.stop_reason_ = reason
        self.n_iter_ = len(rounds)
        self.ensemble_ = builder.build()
        self.train_errors_ = np.array([r.training_error for r in rounds])
        gains = np.concatenate([np.empty(0), *(r.gains for r in rounds)])
        self.feature_importances_ = self.ensemble_.feature_importances(gains)
        self._keep(rounds)

    def _warn_of(self, reason: str, n_rounds: int) -> None:
        if reason == INTERRUPTED:
            warnings.warn(
                f"Interrupted: the model keeps the {n_rounds} rounds that were finished.",
                UserWarning,
                stacklevel=5,
            )
        elif n_rounds == 0:
            warnings.warn(
                "No weak classifier tells any two classes apart (are all columns constant?): the "
                "model gives every class the same score.",
                UserWarning,
                stacklevel=5,
            )

    @property
    def _sparse_formats(self) -> tuple[str, ...] | bool:
        return ("csr", "csc") if self._accepts_sparse else False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        sparse = self._sparse_formats
        X = to_host(X) if lies_on_gpu(X) else X
        X = validate_data(self, X, dtype="numeric", order=None, reset=False, accept_sparse=sparse)
        return X if issparse(X) else np.asarray(X)

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
        if is_collection(X):
            return self._lazily(self.decision_function, X, _as_decision(self._no_scores()))
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
        if is_collection(X):
            check_is_fitted(self)
            return self._lazily(self.predict, X, self.classes_[:0])
        best = self._scores(X).argmax(axis=1)
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
            Rows that sum to 1.
        """
        if is_collection(X):
            return self._lazily(self.predict_proba, X, self._no_scores())
        return self._probabilities(self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Tell the share of rows whose class is predicted.

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
        # Labels are one small value a row: those of collections, cut as they may be, come here.
        found = computed(self.predict(X))
        weight = None if sample_weight is None else computed(sample_weight)
        return float(accuracy_score(computed(y), found, sample_weight=weight))

    def _lazily(
        self, function: Callable[[Any], NDArray[Any]], X: Any, like: NDArray[Any]
    ) -> NDArray[Any]:
        # A collection, which does what arrays do.
        found: NDArray[Any] = lazily(function, X, like, self.classes_)
        return found

    def _no_scores(self) -> Floats:
        """Return the scores of no rows."""
        check_is_fitted(self)
        return np.empty((0, len(self.classes_)))

    def compile(self) -> CompiledModel:
        """Make the fitted model ready to serve: one row, or many, without scikit-learn's checks.

        Returns
        -------
        CompiledModel
            A snapshot with `predict`, `predict_proba` and `decision_function`: it does not change
            when this classifier is fitted again.
        """
        check_is_fitted(self)
        link: Callable[[Floats], Floats] = self._link(len(self.classes_))
        if type(self)._probabilities is not BoostedClassifier._probabilities:
            link = copy(self)._probabilities  # a rule of its own, with the parameters of now
        threads = effective_threads(self.n_jobs)
        return CompiledModel(self.ensemble_, self.classes_, link, threads)

    def _staged_scores(self, X: NDArray[Any]) -> Iterator[Floats]:
        return self.ensemble_.staged(X, n_threads=effective_threads(self.n_jobs))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round; see `decision_function`."""
        for scores in self._staged_scores(self._checked(X)):
            yield _as_decision(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; see `predict`."""
        for scores in self._staged_scores(self._checked(X)):
            yield self.classes_[scores.argmax(axis=1)]


def _as_decision(scores: Floats) -> Floats:
    return scores if scores.shape[1] != 2 else scores[:, 1] - scores[:, 0]
