"""What every boosted classifier shares: checking, fitting, predicting."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from marginboost.backends.choose import choose_backend
from marginboost.boosting.interrupts import Interrupts
from marginboost.data.collection import is_collection
from marginboost.data.memory import validation_bytes
from marginboost.engine import DEVICES, ENGINES
from marginboost.engine.gpu.arrays import to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.dask_predict import computed, lazily
from marginboost.estimators.explaining import ExplainingMixin
from marginboost.estimators.input_columns import ordered_columns
from marginboost.estimators.intake import Intake, Sized
from marginboost.estimators.kept import Kept
from marginboost.estimators.plan import Plan
from marginboost.estimators.settings import (
    check_choice,
    check_integer,
    check_real,
    check_threads,
)
from marginboost.estimators.sklearn_callbacks import (
    CallbackSupport,
    SklearnCallbacks,
    with_callbacks,
)
from marginboost.estimators.training import Training
from marginboost.estimators.validation import check_pair, given_rows
from marginboost.model.compiled import CompiledModel
from marginboost.model.link import Link, Softmax

Floats = NDArray[np.float64]

class BoostedClassifier(
    Training, Kept, ExplainingMixin, CallbackSupport, ClassifierMixin, BaseEstimator  # type: ignore[misc]
):
    """A classifier whose scores F are a sum over rounds, fitted by a `Method`.

    Subclasses carry their parameters, check them in `_check_settings`, and make their method.
    """

    _accepts_sparse = False

    learning_rate: float
    max_bins: int | None
    class_weight: dict[Any, float] | str | None
    categorical_features: Any
    engine: str
    device: str

    @abstractmethod
    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        """Estimate the memory of a fit."""

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
        check_threads(self.n_jobs)
        if isinstance(self.class_weight, str):
            check_choice("class_weight", self.class_weight, ("balanced",))
        self._check_training()

    def _least_leaf_share(self) -> float:
        """Return the least share of the rows' weight in a leaf."""
        return 0.0

    def _intake(self, X_val: Any = None) -> Intake:
        """Say what is asked for when rows are taken in."""
        return Intake(
            self,
            self._sparse_formats,
            self.class_weight,
            self.max_bins,
            self._least_leaf_share(),
            self._needed_with(X_val),
            self._memory_story,
        )

    def _memory_story(self, n_rows: int, n_features: int, n_classes: int) -> str:
        """Say what the memory is for."""
        return f"{n_rows:,} rows, {n_features:,} features, {n_classes:,} classes"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN where one is missing, or a data frame (pandas, polars, pyarrow), whose columns
            may also hold text or categories. With `device="cuda"` also an array on the GPU, CuPy's or
            torch's. A Dask array or data frame is fitted by the workers of the current Dask client.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, zero or more. An integer weight is the same as repeating the row.
        X_val : array-like of shape (n_validation, n_features), optional
            Validation rows, of any kind that X may be: not learned from, scored after every round. They
            come to this machine's memory, also from a Dask collection.
        y_val : array-like of shape (n_validation,), optional
            Their labels. A class that y lacks counts as an error, with a warning.
        sample_weight_val : array-like of shape (n_validation,), optional
            Their weights, zero or more, in errors, losses and the scale of probabilities. An integer
            weight is the same as repeating the row.

        Returns
        -------
        self
            The fitted classifier.
        """
        began = time.perf_counter()
        self._check_settings()
        check_pair(X_val, y_val, sample_weight_val)
        earlier = self._earlier()
        home = choose_backend(X, device=self.device, engine=self.engine, n_jobs=self.n_jobs)
        given = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        sklearn = SklearnCallbacks(self, self.n_estimators, **given)
        before = dict(vars(self))
        plan = None
        with Interrupts() as interrupts:
            try:
                self._draw_seed(earlier is None)
                taken = home.prepare(self._intake(X_val), X, y, sample_weight)
                data, self.classes_, self.encoding_ = taken
                self._check_earlier(earlier)
                plan = Plan(began, home, data, sklearn, interrupts, self.max_time, earlier=earlier)
                del data, taken  # the plan may do with some of the rows
                if X_val is not None:
                    watched = self._checked(computed(X_val))
                    plan.rows = given_rows(watched, y_val, self.classes_, sample_weight_val)
                self._hold_out(plan)
                self._boost(plan)
                plan.sklearn.end({})
            except BaseException as failure:
                # A fit that fails leaves the model that was there, whole; Ctrl-C a new one that is.
                if plan is None or not (plan.has_model and isinstance(failure, KeyboardInterrupt)):
                    self.__dict__ = before
                raise
            finally:
                home.close()
        return self

    def _draw_seed(self, anew: bool) -> None:
        """Draw what the random draws of a fit come from, where a method draws any."""

    def estimate_memory(self, X: Any, y: Any, X_val: Any = None) -> int:
        """Estimate the memory of a fit, beside X itself, before it begins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that would be fitted; only their number, and how many values are stored, matters.
        y : array-like of shape (n_samples,)
            Their labels.
        X_val : array-like of shape (n_validation, n_features), optional
            Validation rows.

        Returns
        -------
        int
            Bytes: of this machine, of the GPU with `device="cuda"`, or of all workers of a cluster
            together. A fit that needs more than there is is refused. Data frames, and rows in which
            values are missing, are copied besides.
        """
        self._check_settings()
        labels = computed(y)
        labels = to_host(labels)
        sized = X if hasattr(X, "shape") else np.asarray(X)
        if is_collection(sized) and not isinstance(sized.shape[0], int):
            sized = Sized((len(np.asarray(labels)), sized.shape[1]))
        return self._needed_with(X_val)(sized, len(np.unique(np.asarray(labels))))

    def _needed_with(self, X_val: Any) -> Callable[[Any, int], int]:
        """Return what estimates the memory of a fit with validation rows."""

        def needed(X: Any, n_classes: int) -> int:
            n_rows = round(self.validation_fraction * X.shape[0]) if self.early_stopping else 0
            if X_val is not None:
                length = X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)
                n_rows = length if isinstance(length, int) else 0  # Dask may not know it yet
            rows = validation_bytes(
                n_rows, X.shape[0], X.shape[1], n_classes, given=X_val is not None
            )
            return self._needed_bytes(X, n_classes) + rows

        return needed

    @property
    def _sparse_formats(self) -> tuple[str, ...] | bool:
        return ("csr", "csc") if self._accepts_sparse else False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = True
        return tags

    def _checked(self, X: Any) -> Any:
        """Return the ordered columns of rows to predict."""
        check_is_fitted(self)
        sparse = self._sparse_formats
        return ordered_columns(self, to_host(X), self.encoding_, sparse)

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
        return CompiledModel(self.ensemble_, self.classes_, link, threads, self.encoding_)

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

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities after each round; see `predict_proba`.

        Where the scale of the probabilities is learned (`calibrate`), all rounds have that of the whole
        model.
        """
        for scores in self._staged_scores(self._checked(X)):
            yield self._probabilities(scores)


def _as_decision(scores: Floats) -> Floats:
    return scores if scores.shape[1] != 2 else scores[:, 1] - scores[:, 0]
