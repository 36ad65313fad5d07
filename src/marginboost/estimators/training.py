"""How a classifier is trained: watched, judged, ended, gone on with."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.frequencies import add_frequencies
from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.progress import make_progress
from marginboost.boosting.record import Round
from marginboost.boosting.replay import replay
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import Judgement, Validation, ValidationRows
from marginboost.boosting.watch import Watch
from marginboost.data.rows import Rows
from marginboost.data.user_warning import warn_user
from marginboost.engine.threads import effective_threads
from marginboost.estimators.explaining import IMPORTANCE_ROWS, cover_rows, thinned
from marginboost.estimators.plan import Earlier, Plan
from marginboost.estimators.settings import check_bool, check_integer, check_real
from marginboost.estimators.validation import held_out_rows, held_out_view
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.constant import without_offset
from marginboost.model.cover import leaf_cover
from marginboost.model.importances import feature_importances

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding
    from marginboost.estimators.home import Home
    from marginboost.model.ensemble import Ensemble
    from marginboost.model.link import Link

__all__ = ["Training"]

Floats = NDArray[np.float64]

# With so many rows a mean weight is four units of the 32-bit sums; see docs/scaling.md.
SHARP_ROWS = 1 << 28


class Training:
    """What every boosted classifier shares in its training, once the rows are in."""

    # Whether a round changes the coefficients of earlier ones.
    _corrects_rounds = False
    # Why a fitted model cannot be gone on with; empty where it can.
    _ends_for_good = ""

    n_estimators: int
    n_jobs: int | None
    verbose: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    max_time: float | None
    warm_start: bool
    callbacks: Sequence[Callable[[Round], object]] | None

    encoding_: Encoding
    n_features_in_: int
    classes_: NDArray[Any]
    class_count_: Floats
    n_iter_: int
    stop_reason_: str
    ensemble_: Ensemble
    feature_importances_: Floats
    split_gains_: Floats
    train_errors_: Floats
    train_losses_: Floats
    validation_errors_: Floats
    validation_losses_: Floats
    validation_score_: float
    fit_seconds_: Floats

    @abstractmethod
    def _make_engine(self, home: Home) -> Any:
        """Make the engine that the method runs on."""

    @abstractmethod
    def _make_method(self, engine: Any, data: Rows) -> Method:
        """Make the method that fits."""

    @abstractmethod
    def _link(self, n_classes: int) -> Link:
        """Return the rule that turns scores into probabilities."""

    @property
    def _splits_nothing(self) -> bool:
        """Whether the model is that of the class frequencies."""
        return not len(self.ensemble_.feature)

    def _keep(self, rounds: list[Round]) -> None:
        """Set the fitted attributes that only some methods have."""

    def _set_scale(self) -> None:
        """Set what makes probabilities of scores, where no rows were held out to learn it from."""

    def _calibrate(self, plan: Plan, validation: Validation) -> None:
        """Set what makes probabilities of scores, by what validation rows say."""

    def _warn_of_method(self, method: Any, data: Rows) -> None:
        """Warn of what a method had to do otherwise than it was told."""

    def _take_back(self, builder: EnsembleBuilder, n_rounds: int) -> None:
        """Undo what rounds after the first ones did to those."""

    def _improvement(self) -> float:
        """Return by how much a validation loss must fall to count as an improvement."""
        return self.tol

    @property
    def _split_seed(self) -> int:
        """What validation rows are chosen by."""
        return 0

    def _check_training(self) -> None:
        """Check the parameters of the training."""
        check_bool("early_stopping", self.early_stopping)
        check_real(
            "validation_fraction", self.validation_fraction, 0.0, 0.9, low_included=False
        )
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

    # --- before the rounds ----------------------------------------------------------------------

    def _earlier(self) -> Earlier | None:
        """Return the fitted model that a fit is to go on with."""
        if not self.warm_start or not hasattr(self, "ensemble_"):
            return None
        if self._ends_for_good:
            raise ValueError(
                f"{type(self).__name__} cannot go on from a fitted model: {self._ends_for_good}. Set "
                "warm_start=False."
            )
        if self.n_estimators < self.n_iter_:
            raise ValueError(
                f"n_estimators must be at least {self.n_iter_}, the rounds of the model that "
                f"warm_start goes on with; got {self.n_estimators}."
            )
        if self.n_estimators == self.n_iter_ and not self._splits_nothing:
            warn_user("warm_start adds no round where n_estimators is what it was: set more.")
        return Earlier(
            without_offset(self.ensemble_),
            self.classes_,
            self.encoding_,
            self.split_gains_,
            self.fit_seconds_[: self.n_iter_],
            getattr(self, "votes_", None),
        )

    def _check_earlier(self, earlier: Earlier | None) -> None:
        """Raise where the rows of a fit are of another kind than those of the model it goes on with."""
        if earlier is None:
            return
        if not np.array_equal(earlier.classes, self.classes_):
            raise ValueError(
                "y must hold the classes of the fit that warm_start goes on with, "
                f"{earlier.classes.tolist()!r}; got {self.classes_.tolist()!r}. Set warm_start=False to "
                "start anew."
            )
        n_features, here = earlier.encoding.n_features, self.encoding_.n_features
        if n_features != here:
            raise ValueError(
                f"X must have the {n_features} columns of the fit that warm_start goes on with; got "
                f"{here}. Set warm_start=False to start anew."
            )
        if not earlier.encoding.agrees_with(self.encoding_):
            raise ValueError(
                "X must have the categories, and missing values in the columns, of the fit that "
                "warm_start goes on with. Fit with the same rows, or set warm_start=False to start anew."
            )

    def _hold_out(self, plan: Plan) -> None:
        """Take validation rows from those of the fit, where it needs them and has no others."""
        if not self.early_stopping or plan.rows is not None:
            return
        share = self.validation_fraction
        plan.view = held_out_view(plan.data, self._split_seed, share)
        plan.rows = held_out_rows(plan.data, plan.view, share)

    # --- the rounds -----------------------------------------------------------------------------

    def _boost(self, plan: Plan) -> None:
        """Run the loop on the home's engine and keep what it made."""
        if plan.view is not None:
            plan.data = plan.data.without(plan.view)
        self._boost_on(self._make_engine(plan.home), plan)

    def _boost_on(self, engine: Any, plan: Plan) -> None:
        """Run the loop and keep what it made."""
        data = plan.data
        if data.n_counted > SHARP_ROWS:
            warn_user(
                f"The fit has {data.n_counted:,} rows. Sums over rows are of 32 bits: with more than "
                f"{SHARP_ROWS:,} rows those of small weight are rounded away, as by weight trimming."
            )
        builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
        method = self._make_method(engine, data)
        validation = self._validation(plan.rows, data.n_classes)
        watch = Watch(
            self.n_estimators,
            began=plan.began,
            judge=self._judge(validation, builder),
            stopping=self._stopping(plan),
            max_time=plan.max_time,
            onlookers=[*(self.callbacks or ()), *plan.sklearn.onlooker(builder, self._interim)],
            followers=plan.followers,
            interrupts=plan.interrupts,
            progress=make_progress(self.n_estimators) if self.verbose else None,
        )
        reason = "failed"
        try:
            self._replay(plan, method, builder, watch)
            reason = boost(method, self.n_estimators, builder, [watch])
        finally:
            watch.close(reason)
        if reason == INTERRUPTED and not watch.rounds:
            raise KeyboardInterrupt
        plan.interrupts.put_together()
        try:
            self._put_together(plan, builder, watch.rounds, reason, validation)
            self._cover(plan)
            plan.has_model = True
        finally:
            plan.interrupts.done()
        self._warn_of(reason, self.n_iter_)
        if not builder.n_splits and reason != INTERRUPTED:
            self._warn_of_no_split(data)
        self._warn_of_method(method, data)

    def _replay(
        self, plan: Plan, method: Method, builder: EnsembleBuilder, watch: Watch
    ) -> None:
        """Lead the method through the rounds of the model that the fit goes on with."""
        earlier = plan.earlier
        if earlier is None or not len(earlier.ensemble.feature):
            return  # class frequencies are no round to go on from
        past = replay(
            method,
            earlier.ensemble,
            builder,
            thresholds=plan.data.binned.thresholds,
            gains=earlier.gains,
            votes=earlier.votes,
        )
        for finished, seconds in zip(past, earlier.seconds, strict=True):
            watch.take_over(finished, float(seconds))

    def _validation(self, rows: ValidationRows | None, n_classes: int) -> Validation | None:
        if rows is None:
            return None
        return Validation(rows, n_classes, effective_threads(self.n_jobs))

    def _judge(
        self, validation: Validation | None, builder: EnsembleBuilder
    ) -> Callable[[], Judgement] | None:
        """Return what judges the model in the making after a round."""
        if validation is None:
            return None
        if self._corrects_rounds:
            return lambda: validation.replace(builder.build())
        return lambda: validation.add(builder.last_round())

    def _stopping(self, plan: Plan) -> EarlyStopping | None:
        if not self.early_stopping or plan.rows is None:
            return None
        return EarlyStopping(self.n_iter_no_change, self._improvement())

    def _interim(self, builder: EnsembleBuilder) -> dict[str, Any]:
        """Return the fitted attributes that prediction needs, as if the fit ended here."""
        return {"ensemble_": builder.build(), "n_iter_": len(builder)}

    # --- after the rounds -----------------------------------------------------------------------

    def _put_together(
        self,
        plan: Plan,
        builder: EnsembleBuilder,
        rounds: list[Round],
        reason: str,
        validation: Validation | None,
    ) -> None:
        """Set the fitted attributes."""
        n_kept = len(rounds)
        if self.early_stopping and n_kept:
            n_kept = int(np.argmin([r.validation_loss for r in rounds])) + 1
        builder.keep_rounds(n_kept)
        self._take_back(builder, n_kept)
        self.stop_reason_ = reason
        self._set_scale()
        if not builder.n_splits:
            self._settle_for_frequencies(plan, validation)
            return
        self._set_model(builder.build(), rounds, n_kept, validation)
        if validation is not None:
            self._calibrate(plan, validation)

    def _settle_for_frequencies(self, plan: Plan, validation: Validation | None) -> None:
        """Make it the model of the class frequencies: one round, without a split."""
        data = plan.data
        self._set_scale()
        builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
        finished = add_frequencies(builder, data, self._link(data.n_classes))
        finished = finished._replace(seconds=time.perf_counter() - plan.began)
        ensemble = builder.build()
        if validation is not None:
            error, loss, _ = validation.replace(ensemble)
            finished = finished._replace(validation_error=error, validation_loss=loss)
        self._set_model(ensemble, [finished], 1, validation)

    def _set_model(
        self, ensemble: Ensemble, rounds: list[Round], n_kept: int, validation: Validation | None
    ) -> None:
        """Set the fitted attributes of a model, and of the rounds that it was chosen from."""
        self.n_iter_ = n_kept
        self.ensemble_ = ensemble
        self.train_errors_ = np.array([r.training_error for r in rounds])
        self.train_losses_ = np.array([r.training_loss for r in rounds])
        self.fit_seconds_ = np.array([r.seconds for r in rounds])
        self.validation_errors_ = np.empty(0)
        self.validation_losses_ = np.empty(0)
        self.validation_score_ = np.nan
        if validation is not None:
            self.validation_errors_ = np.array([r.validation_error for r in rounds])
            self.validation_losses_ = np.array([r.validation_loss for r in rounds])
            self.validation_score_ = 1.0 - validation.replace(self.ensemble_).error
        self.split_gains_ = np.concatenate([np.empty(0), *(r.gains for r in rounds[:n_kept])])
        self._keep(rounds[:n_kept])

    def _cover(self, plan: Plan) -> None:
        """Count the rows of each class, and how many reach each leaf; find what features count."""
        # Of the fit's seed, the rows of small hashes may be those that were held out.
        seed = self._split_seed + (plan.view is not None)
        self.class_count_ = np.asarray(plan.data.class_counts, dtype=np.float64)
        threads = effective_threads(self.n_jobs)
        X, weight = cover_rows(plan.data, self.ensemble_.n_trees, seed)
        cover = leaf_cover(self.ensemble_, X, weight, n_threads=threads)
        self.ensemble_ = self.ensemble_.with_cover(cover)
        copies = thinned(weight, IMPORTANCE_ROWS)
        some = np.flatnonzero(copies)
        self.feature_importances_ = feature_importances(
            self.ensemble_, self.encoding_, X[some], copies[some], n_threads=threads
        )

    def _warn_of(self, reason: str, n_rounds: int) -> None:
        if reason == INTERRUPTED:
            warn_user(f"Interrupted: the model keeps the {n_rounds} rounds that were finished.")

    def _warn_of_no_split(self, data: Rows) -> None:
        """Say that the model is that of the class frequencies, and what may be the reason."""
        if data.binned.n_bins.max(initial=1) > 1:
            why = (
                "No split lowers the loss: either no column of X says anything of y, or the settings "
                "allow no step (strong regularization, a tiny learning_rate, large leaves)"
            )
        else:
            why = (
                "No split is possible: every column of X is constant or missing, or no split leaves "
                "enough weight on both sides"
            )
        warn_user(f"{why}. The model predicts the class frequencies for every row.")
