"""How every boosted classifier is fitted: parameters, backend, training, fitted attributes."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from marginboost.backends.choose import choose_backend
from marginboost.backends.class_weights import ClassWeights
from marginboost.backends.requirements import Requirements, Sized
from marginboost.boosting.interrupts import Interrupts
from marginboost.boosting.resume import Earlier
from marginboost.boosting.train import Algorithm, Options, Run, Trained, train
from marginboost.data.collection import is_collection
from marginboost.data.memory import validation_bytes
from marginboost.data.stored_rows import as_stored
from marginboost.data.user_warning import warn_user
from marginboost.engine.gpu.arrays import to_host
from marginboost.engine.threads import effective_threads
from marginboost.estimators.candidates import ROUNDS
from marginboost.estimators.choices import ClassWeight
from marginboost.estimators.dask_predict import computed
from marginboost.estimators.fitted import FittedClassifier, Floats
from marginboost.estimators.settings import (
    check_bool,
    check_integer,
    check_machine,
    check_pair,
    check_real,
    is_auto,
)
from marginboost.estimators.sklearn_callbacks import (
    CallbackSupport,
    SklearnCallbacks,
    with_callbacks,
)
from marginboost.estimators.stored_predict import labels_in, loaded
from marginboost.estimators.validation import given_rows
from marginboost.model.constant import without_offset
from marginboost.model.importances import feature_importances

if TYPE_CHECKING:
    from marginboost.backends.host import Backend
    from marginboost.boosting.round import Round
    from marginboost.data.rows import Rows
    from marginboost.model.builder import EnsembleBuilder

__all__ = ["BoostedClassifier", "Floats"]


class BoostedClassifier(CallbackSupport, FittedClassifier):  # type: ignore[misc]
    """A classifier whose scores F are a sum over rounds, fitted by a `Method`.

    Subclasses carry their parameters, check them in `_check_parameters`, and make their method.
    """

    # Why a fitted model cannot be resumed; empty where it can.
    _no_warm_start_reason = ""
    # Whether some parameters may be "auto".
    _accepts_auto = False

    n_estimators: int
    learning_rate: float
    max_bins: int | None
    class_weight: ClassWeight
    categorical_features: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    max_time: float | None
    warm_start: bool
    callbacks: Sequence[Callable[[Round], object]] | None
    n_jobs: int | None
    random_state: Any
    engine: str
    device: str
    verbose: int

    class_count_: Floats
    fit_seconds_: Floats
    n_iter_: int
    seed_: int
    split_gains_: Floats
    stop_reason_: str
    train_errors_: Floats
    train_losses_: Floats
    validation_errors_: Floats
    validation_losses_: Floats
    validation_score_: float

    @abstractmethod
    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        """Return how the method is made, on which engines."""

    @abstractmethod
    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        """Estimate the memory of a fit."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse_formats)
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        """Check the parameters that all methods share."""
        auto = self._accepts_auto
        check_integer("n_estimators", self.n_estimators, 1, auto=auto)
        check_real("learning_rate", self.learning_rate, 0.0, 1.0, low_included=False, auto=auto)
        check_machine(self)
        check_bool("early_stopping", self.early_stopping)
        check_real("validation_fraction", self.validation_fraction, 0.0, 0.9, low_included=False)
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_real("tol", self.tol, 0.0)
        check_real("max_time", self.max_time, 0.0, low_included=False, none_is="no limit")
        check_bool("warm_start", self.warm_start)
        if self.callbacks is not None:
            listed = isinstance(self.callbacks, list | tuple)
            if not listed or not all(map(callable, self.callbacks)):
                raise ValueError(
                    f"callbacks must be None or a list of callables; got {self.callbacks!r}."
                )

    def _requirements(self, X_val: Any = None) -> Requirements:
        """Return what is asked of the backend that prepares the rows."""
        return Requirements(
            self,
            self._sparse_formats,
            ClassWeights(self.class_weight),
            self.max_bins,
            getattr(self, "min_weight_fraction_leaf", 0.0),
            partial(self._fit_bytes, X_val),
            self._describe_memory,
        )

    def _describe_memory(self, n_rows: int, n_features: int, n_classes: int) -> str:
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
            torch's. A Dask array or data frame is fitted by the workers of the current Dask client. Of
            rows in Parquet files (a path, a pattern, a folder, a list of paths, a pyarrow dataset or
            reader, or `marginboost.StoredRows`) a few columns at a time are in memory.
        y : array-like of shape (n_samples,), or str
            Class labels of any kind. For rows in files also the name of the column that holds them.
        sample_weight : array-like of shape (n_samples,), str or None
            Weights, zero or more. An integer weight is the same as repeating the row. For rows in files
            also the name of a column.
        X_val : array-like of shape (n_validation, n_features), optional
            Validation rows, of any kind that X may be: not learned from, scored after every round. They
            come to this machine's memory, also from a Dask collection or from files.
        y_val : array-like of shape (n_validation,), or str, optional
            Their labels, as y. A class that y lacks counts as an error, with a warning.
        sample_weight_val : array-like of shape (n_validation,), optional
            Their weights, zero or more, in errors, losses and the scale of probabilities. An integer
            weight is the same as repeating the row.

        Returns
        -------
        self
            The fitted classifier.
        """
        began = time.perf_counter()
        self._check_parameters()
        check_pair(X_val, y_val, sample_weight_val)
        stored = as_stored(X)
        X = X if stored is None else stored
        if X_val is not None:
            X_val, y_val, sample_weight_val = loaded(X_val, y_val, sample_weight_val)
        earlier = self._earlier_model() if self.warm_start else None
        backend = choose_backend(X, device=self.device, engine=self.engine, n_jobs=self.n_jobs)
        observers = None
        if getattr(self, "_skl_callbacks", None):
            given = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
            n_rounds = self._options(backend.n_threads).n_rounds
            observers = SklearnCallbacks(self, n_rounds, self._interim, **given)
        before = dict(vars(self))
        with Interrupts() as interrupts:
            try:
                self._draw_seed(earlier is None)
                prepared = backend.prepare(self._requirements(X_val), X, y, sample_weight)
                self.classes_, self.encoding_ = prepared.classes, prepared.encoding
                self._set_costs(y)
                run = Run(
                    self._algorithm(backend, len(self.classes_)),
                    self._options(backend.n_threads),
                    prepared.rows,
                    interrupts,
                    began,
                    earlier=earlier,
                    observe=None if observers is None else observers.after_round,
                    settle=partial(self._settle, earlier),
                )
                del prepared  # training may do with some of the rows
                if X_val is not None:
                    validation = self._checked(computed(X_val))
                    run.rows = given_rows(validation, y_val, self.classes_, sample_weight_val)
                trained = train(run)
                self._set_fitted(trained)
                if observers is not None:
                    observers.end({})
            except BaseException:
                self.__dict__ = before  # a fit that fails leaves the model that was there, whole
                raise
            finally:
                backend.close()
        return self

    def _settle(self, earlier: Earlier | None, data: Rows) -> None:
        """Use the orders of categories of the rows to train on; check them against an earlier fit."""
        if data.orders is not None:
            self.encoding_ = data.orders.applied_to(self.encoding_)
        if earlier is not None:
            earlier.check(self.classes_, self.encoding_)

    def _set_costs(self, y: Any) -> None:
        """Read what mistakes cost, where a classifier has parameters for that."""

    def _draw_seed(self, anew: bool) -> None:
        """Draw the seed of a fit's random numbers, where a method draws any."""
        if hasattr(self, "random_state") and (anew or not hasattr(self, "seed_")):
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _options(self, n_threads: int) -> Options:
        """Return what the parameters ask of the training."""
        return Options(
            n_rounds=ROUNDS if is_auto(self.n_estimators) else self.n_estimators,
            n_threads=n_threads,
            early_stopping=self.early_stopping,
            validation_fraction=self.validation_fraction,
            n_iter_no_change=self.n_iter_no_change,
            improvement=self.tol,
            max_time=self.max_time,
            calibrate=getattr(self, "calibrate", False),
            callbacks=self.callbacks or (),
            verbose=bool(self.verbose),
        )

    def _earlier_model(self) -> Earlier | None:
        """Return the fitted model that a fit is to resume."""
        if not hasattr(self, "ensemble_"):
            return None
        if self._no_warm_start_reason:
            raise ValueError(
                f"{type(self).__name__} cannot resume a fitted model: {self._no_warm_start_reason}. Set "
                "warm_start=False."
            )
        if self.n_estimators < self.n_iter_:
            raise ValueError(
                f"n_estimators must be at least {self.n_iter_}, the rounds of the model that "
                f"warm_start resumes; got {self.n_estimators}."
            )
        if self.n_estimators == self.n_iter_ and len(self.ensemble_.feature):
            warn_user("warm_start adds no round where n_estimators is what it was: set more.")
        return Earlier(
            without_offset(self.ensemble_),
            self.classes_,
            self.encoding_,
            self.split_gains_,
            self.fit_seconds_[: self.n_iter_],
            getattr(self, "votes_", None),
        )

    def _interim(self, builder: EnsembleBuilder) -> dict[str, Any]:
        """Return the fitted attributes that prediction needs, as if the fit ended here."""
        return {"ensemble_": builder.build(), "n_iter_": len(builder)}

    def _set_fitted(self, trained: Trained) -> None:
        """Set the fitted attributes."""
        rounds, validation = trained.rounds, trained.validation
        self.ensemble_ = trained.ensemble
        self.n_iter_ = trained.n_kept
        self.stop_reason_ = trained.stop_reason
        self.class_count_ = np.asarray(trained.data.class_counts, dtype=np.float64)
        self.train_errors_ = np.array([finished.training_error for finished in rounds])
        self.train_losses_ = np.array([finished.training_loss for finished in rounds])
        self.fit_seconds_ = np.array([finished.seconds for finished in rounds])
        self.validation_errors_ = np.empty(0)
        self.validation_losses_ = np.empty(0)
        self.validation_score_ = np.nan
        if validation is not None:
            self.validation_errors_ = np.array([finished.validation_error for finished in rounds])
            self.validation_losses_ = np.array([finished.validation_loss for finished in rounds])
            self.validation_score_ = validation.accuracy(self._decide)
        kept = [finished.gains for finished in rounds[: trained.n_kept]]
        self.split_gains_ = np.concatenate([np.empty(0), *kept])
        self.feature_importances_ = feature_importances(
            self.ensemble_,
            self.encoding_,
            trained.X,
            trained.weight,
            n_threads=effective_threads(self.n_jobs),
        )

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
        self._check_parameters()
        if (stored := as_stored(X)) is not None:
            names = stored.features(*(name for name in (y,) if isinstance(name, str)))
            X, y = Sized((stored.n_rows, len(names))), labels_in(stored, y)
        labels = computed(y)
        labels = to_host(labels)
        sized = X if hasattr(X, "shape") else np.asarray(X)
        if is_collection(sized) and not isinstance(sized.shape[0], int):
            sized = Sized((len(np.asarray(labels)), sized.shape[1]))
        return self._fit_bytes(X_val, sized, len(np.unique(np.asarray(labels))))

    def _fit_bytes(self, X_val: Any, X: Any, n_classes: int) -> int:
        """Estimate the memory of a fit with validation rows, given or held out."""
        needed = self._needed_bytes(X, n_classes)
        if X_val is None and not self.early_stopping:
            return needed
        n_rows = round(self.validation_fraction * X.shape[0])
        if X_val is not None:
            length = X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)
            n_rows = length if isinstance(length, int) else 0  # Dask may not know it yet
        given = X_val is not None
        return needed + validation_bytes(n_rows, X.shape[0], X.shape[1], n_classes, given=given)
