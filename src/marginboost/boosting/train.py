"""Train a model: hold out validation rows, boost, put the model together, calibrate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.boosting.calibration import Calibration
from marginboost.boosting.cover import IMPORTANCE_ROWS, cover_rows, thinned
from marginboost.boosting.frequencies import add_frequencies, class_frequencies
from marginboost.boosting.interrupts import Interrupts
from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.monitor import Monitor
from marginboost.boosting.progress import make_progress
from marginboost.boosting.resume import Earlier, resume
from marginboost.boosting.second_fit import CalibrationFit
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import Validation, ValidationRows, hold_out
from marginboost.coefficients.grid import on_grid
from marginboost.data.user_warning import warn_user
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.constant import with_offset
from marginboost.model.cover import leaf_cover

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.validation import ValidationScore
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.model.ensemble import Ensemble
    from marginboost.model.link import Link

__all__ = ["Algorithm", "Options", "Trained", "train"]

# With so many rows a mean weight is four units of the 32-bit sums; see docs/scaling.md.
SHARP_ROWS = 1 << 28


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What training asks of a classifier.

    Attributes
    ----------
    make_stump_engine : callable
        Takes a number of threads.
    make_method : callable
        Takes an engine, the rows, the hash bounds of the rows that the fit must not see (or None), and
        the number of the random stream: 0 for the model, 1 for the fit that calibrates it.
    link : callable
        Takes the scale of the scores; returns the rule that turns scores into probabilities.
    scale : float
        The scale of scores that are not calibrated.
    corrects_rounds : bool
        Whether a round changes the coefficients of earlier ones.
    """

    make_stump_engine: Callable[[int], Any]
    make_method: Callable[[Any, Rows, Any, int], Method]
    link: Callable[[float], Link]
    scale: float = 1.0
    corrects_rounds: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asks for, whatever the method.

    Attributes
    ----------
    n_rounds : int
        Most rounds.
    seed : int
        Rows are held out by it.
    n_threads : int
        Threads of this process.
    early_stopping : bool
        Whether the validation loss ends the fit, and chooses the rounds that are kept.
    validation_fraction : float
        Share of the rows to hold out for that, where none are given.
    n_iter_no_change : int
        Rounds without an improvement after which to stop.
    improvement : float
        By how much the validation loss must fall to count as an improvement.
    max_time : float or None
        Seconds after which to stop.
    calibrate : bool
        Whether the scale of the scores is learned from validation rows.
    second_fit : bool
        Whether, without validation rows, it is learned from a second fit.
    callbacks : sequence of callables
        Each gets every round; a true result stops the fit.
    verbose : bool
        Whether to show progress.
    """

    n_rounds: int
    seed: int
    n_threads: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    improvement: float
    max_time: float | None
    calibrate: bool
    second_fit: bool
    callbacks: Sequence[Callable[[Round], object]]
    verbose: bool


@dataclass(slots=True)
class Trained:
    """A model and how it came about.

    Attributes
    ----------
    ensemble : Ensemble
        The rounds that are kept.
    rounds : list of Round
        All rounds that were done.
    n_kept : int
        How many of them are kept.
    stop_reason : str
        Why the rounds ended.
    scale : float
        Probabilities are `link(scale)` of the scores.
    data : Rows
        The rows that it was trained on.
    validation : Validation or None
        The validation rows, where there were any.
    method : Method
        What found the rounds.
    X, weight : array
        Some of the training rows, for importances.
    """

    ensemble: Ensemble
    rounds: list[Round]
    n_kept: int
    stop_reason: str
    scale: float
    data: Rows
    validation: Validation | None
    method: Any
    X: Any = None
    weight: Any = None

    @property
    def splits_nothing(self) -> bool:
        """Whether the model is that of the class frequencies."""
        return not len(self.ensemble.feature)


@dataclass(slots=True)
class Run:
    """What the steps of one training share.

    Attributes
    ----------
    algorithm, options
        As `train` takes them.
    data : Rows
        The rows to train on.
    interrupts : Interrupts
        Keeps Ctrl-C from the model.
    began : float
        When the fit began, by `time.perf_counter`.
    rows : ValidationRows or None
        The validation rows.
    view : RowView or None
        By which they were taken from those of the fit.
    earlier : Earlier or None
        The model that the fit resumes.
    observe : callable
        Takes the builder; returns more callbacks.
    listeners : list of callables
        Get every round, also those of the earlier model.
    """

    algorithm: Algorithm
    options: Options
    data: Rows
    interrupts: Interrupts
    began: float
    rows: ValidationRows | None = None
    view: RowView | None = None
    earlier: Earlier | None = None
    observe: Callable[[EnsembleBuilder], Sequence[Callable[[Round], object]]] = lambda builder: ()
    listeners: list[Callable[[Round], None]] = field(default_factory=list)


def train(run: Run) -> Trained:
    """Train a model.

    Parameters
    ----------
    run : Run
        The rows, the algorithm and what the user asks for.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before the first round was finished. Later the rounds so far are the model.
    """
    options = run.options
    if options.early_stopping and run.rows is None:
        run.view, run.rows = hold_out(run.data, options.seed, options.validation_fraction)
        run.data = run.data.without(run.view)
    if run.data.n_counted > SHARP_ROWS:
        warn_user(
            f"The fit has {run.data.n_counted:,} rows. Sums over rows are of 32 bits: with more than "
            f"{SHARP_ROWS:,} rows those of small weight are rounded away, as by weight trimming."
        )
    if options.calibrate and options.second_fit and run.rows is None:
        return _train_and_calibrate(run)
    return _train_once(run, run.algorithm.make_stump_engine(options.n_threads))


def _train_and_calibrate(run: Run) -> Trained:
    """Fit twice, the second time without some rows, and calibrate the model on those."""
    # With two fits side by side, each has half of the threads.
    n_threads = run.options.n_threads
    spare = n_threads // 2
    engine = run.algorithm.make_stump_engine(n_threads - spare)
    other = run.algorithm.make_stump_engine(spare) if spare else engine
    if run.options.max_time is not None and not spare:
        half = run.options.max_time / 2  # the other half is the second fit's
        run.options = replace(run.options, max_time=half)
    second = CalibrationFit(
        run.algorithm, other, run.data, run.options, run.interrupts, beside=spare > 0
    )
    run.listeners.append(second.step)
    with second:
        trained = _train_once(run, engine)
        if not trained.splits_nothing and trained.stop_reason != INTERRUPTED:
            try:
                with run.interrupts.allowed():
                    found = second.result(trained.n_kept)
            except KeyboardInterrupt:
                trained.stop_reason = INTERRUPTED
                _warn_of_interrupt(trained)
                return trained
            calibrated = _calibrated(run, trained, found)
            return calibrated if calibrated is trained else _covered(run, calibrated)
    return trained


def _train_once(run: Run, engine: Any) -> Trained:
    """Boost, and put the model together."""
    options, data = run.options, run.data
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    method = run.algorithm.make_method(engine, data, None, 0)
    validation = None
    if run.rows is not None:
        validation = Validation(run.rows, data.n_classes, options.n_threads)
    monitor = _make_monitor(run, builder, validation)
    reason = "failed"
    try:
        earlier = _restored(run, method, builder, monitor)
        reason = boost(method, options.n_rounds, builder, monitor, earlier)
    finally:
        monitor.close(reason)
    if reason == INTERRUPTED and not monitor.rounds:
        raise KeyboardInterrupt
    run.interrupts.defer()
    trained = _covered(run, assemble(run, builder, method, monitor.rounds, reason, validation))
    if reason == INTERRUPTED:
        _warn_of_interrupt(trained)
    elif not builder.n_splits:
        _warn_of_no_split(data)
    return trained


def _restored(
    run: Run, method: Method, builder: EnsembleBuilder, monitor: Monitor
) -> Iterator[Round]:
    """Lead the method and the monitor through the rounds of the model that the fit resumes."""
    if run.earlier is not None:
        thresholds = run.data.binned.thresholds
        for finished, seconds in resume(method, builder, run.earlier, thresholds):
            monitor.restore(finished, seconds)
            yield finished


def _make_monitor(run: Run, builder: EnsembleBuilder, validation: Validation | None) -> Monitor:
    options = run.options
    stopping = None
    if validation is not None:

        def evaluate() -> ValidationScore:
            if run.algorithm.corrects_rounds:
                return validation.replace(builder.build())
            return validation.add(builder.last_round())

        if options.early_stopping:
            stopping = EarlyStopping(options.n_iter_no_change, options.improvement)
    return Monitor(
        options.n_rounds,
        began=run.began,
        evaluate=None if validation is None else evaluate,
        stopping=stopping,
        max_time=options.max_time,
        callbacks=[*options.callbacks, *run.observe(builder)],
        listeners=run.listeners,
        interrupts=run.interrupts,
        progress=make_progress(options.n_rounds) if options.verbose else None,
    )


def assemble(
    run: Run,
    builder: EnsembleBuilder,
    method: Method,
    rounds: list[Round],
    reason: str,
    validation: Validation | None,
) -> Trained:
    """Choose the rounds to keep, and make the model of them; calibrate it on validation rows."""
    n_kept = len(rounds)
    if run.options.early_stopping and n_kept:
        n_kept = int(np.argmin([finished.validation_loss for finished in rounds])) + 1
    builder.keep_rounds(n_kept)
    method.keep_rounds(builder, n_kept)
    scale = run.algorithm.scale
    if not builder.n_splits:
        return _frequencies(run, method, reason, validation)
    ensemble = builder.build()
    trained = Trained(ensemble, rounds, n_kept, reason, scale, run.data, validation, method)
    if validation is not None:
        validation.replace(ensemble)
        if run.options.calibrate:
            return _calibrated(run, trained, validation.calibrate(class_frequencies(run.data)))
    return trained


def _calibrated(run: Run, trained: Trained, found: Calibration) -> Trained:
    """Set the scale; add the class frequencies where they are needed, or settle for them."""
    if found.scale == 0.0:
        warn_user(
            "On the rows that were held out, the rounds of the model add nothing to the class "
            "frequencies: the model predicts those for every row. Train on more rows, or set "
            "calibrate=False to keep the rounds."
        )
        return _frequencies(run, trained.method, trained.stop_reason, trained.validation)
    if found.prior > 0.0:
        offset = on_grid(found.offset(class_frequencies(run.data)))
        trained.ensemble = with_offset(trained.ensemble, offset)
        if trained.validation is not None:
            trained.validation.replace(trained.ensemble)
    trained.scale = found.scale
    return trained


def _frequencies(run: Run, method: Method, reason: str, validation: Validation | None) -> Trained:
    """Make the model of the class frequencies: one round, without a split."""
    data, scale = run.data, run.algorithm.scale
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    finished = add_frequencies(builder, data, run.algorithm.link(scale))
    finished = finished._replace(seconds=time.perf_counter() - run.began)
    ensemble = builder.build()
    if validation is not None:
        error, loss, _ = validation.replace(ensemble)
        finished = finished._replace(validation_error=error, validation_loss=loss)
    return Trained(ensemble, [finished], 1, reason, scale, data, validation, method)


def _covered(run: Run, trained: Trained) -> Trained:
    """Count how many training rows reach each leaf, and keep some rows for importances."""
    # Of the fit's seed, the rows of small hashes may be those that were held out.
    seed = run.options.seed + (run.view is not None)
    X, weight = cover_rows(run.data, trained.ensemble.n_trees, seed)
    reached = leaf_cover(trained.ensemble, X, weight, n_threads=run.options.n_threads)
    trained.ensemble = trained.ensemble.with_cover(reached)
    copies = thinned(weight, IMPORTANCE_ROWS)
    some = np.flatnonzero(copies)
    trained.X, trained.weight = X[some], copies[some]
    return trained


def _warn_of_interrupt(trained: Trained) -> None:
    warn_user(f"Interrupted: the model keeps the {trained.n_kept} rounds that were finished.")


def _warn_of_no_split(data: Rows) -> None:
    """Warn that the model is that of the class frequencies, and name likely causes."""
    if data.binned.n_bins.max(initial=1) > 1:
        why = (
            "No split lowers the loss: either no column of X says anything about y, or the settings "
            "allow no step (strong regularization, a tiny learning_rate, large leaves)"
        )
    else:
        why = (
            "No split is possible: every column of X is constant or missing, or no split leaves "
            "enough weight on both sides"
        )
    warn_user(f"{why}. The model predicts the class frequencies for every row.")
