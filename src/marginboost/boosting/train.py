"""Train a model: hold out validation rows, boost, put the model together, calibrate."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.boosting.calibration import Calibration, class_frequencies
from marginboost.boosting.frequencies import add_frequencies
from marginboost.boosting.loop import INTERRUPTED, Method, boost
from marginboost.boosting.monitor import Monitor
from marginboost.boosting.progress import make_progress
from marginboost.boosting.resume import Earlier, resume
from marginboost.boosting.run import Algorithm, Options, Run
from marginboost.boosting.second_fit import CalibrationFit
from marginboost.boosting.stopping import EarlyStopping
from marginboost.boosting.validation import Validation, hold_out
from marginboost.coefficients.grid import on_grid
from marginboost.data.sampled_rows import draw_rows, thinned
from marginboost.data.user_warning import warn_user
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.constant import with_offset
from marginboost.model.cover import leaf_cover

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.validation import ValidationScore
    from marginboost.data.rows import Rows
    from marginboost.model.ensemble import Ensemble

__all__ = ["Algorithm", "Options", "Run", "Trained", "train"]

# With so many rows a mean weight is four units of the 32-bit sums; see docs/scaling.md.
SHARP_ROWS = 1 << 28
# Training rows that the covers of leaves are counted on: a tenth is known to half a percent.
COVER_ROWS = 4096
# With very many trees fewer rows will do: this many walks down a tree are done.
COVER_WALKS = 1 << 22
FEWEST_ROWS = 256
# Training rows that the importances of features are means over.
IMPORTANCE_ROWS = 256


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
    splits_nothing : bool
        Whether the model is that of the class frequencies.
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
    splits_nothing: bool = False


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
        run.view, run.rows = hold_out(run.data, run.algorithm.seed, options.validation_fraction)
        run.data = run.data.without(run.view)
    if run.data.n_counted > SHARP_ROWS:
        warn_user(
            f"The fit has {run.data.n_counted:,} rows. Sums over rows are of 32 bits: with more than "
            f"{SHARP_ROWS:,} rows those of small weight are rounded away, as by weight trimming."
        )
    if options.calibrate and run.algorithm.second_fit and run.rows is None:
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
        earlier: Iterable[Round] = ()
        if run.earlier is not None:
            earlier = _restored(run.earlier, data, method, builder, monitor)
        reason = boost(method, options.n_rounds, builder, monitor, earlier)
    finally:
        if monitor.progress is not None:
            monitor.progress.close(reason)
    if reason == INTERRUPTED and not monitor.rounds:
        raise KeyboardInterrupt
    run.interrupts.deferred = True
    trained = _covered(run, assemble(run, builder, method, monitor.rounds, reason, validation))
    if reason == INTERRUPTED:
        _warn_of_interrupt(trained)
    elif not builder.n_splits:
        _warn_of_no_split(data)
    return trained


def _restored(
    earlier: Earlier, data: Rows, method: Method, builder: EnsembleBuilder, monitor: Monitor
) -> Iterator[Round]:
    """Lead the method and the monitor through the rounds of the model that the fit resumes."""
    for finished, seconds in resume(method, builder, earlier, data.binned.thresholds):
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
    callbacks = list(options.callbacks)
    if run.observe is not None:
        callbacks.append(run.observe(builder))
    return Monitor(
        options.n_rounds,
        began=run.began,
        evaluate=None if validation is None else evaluate,
        stopping=stopping,
        max_time=options.max_time,
        callbacks=callbacks,
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
    if n_kept < len(rounds) or reason == INTERRUPTED:  # which may have come within a round
        builder.keep_rounds(n_kept)
    if run.algorithm.corrects_rounds:
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
    model = Trained(ensemble, [finished], 1, reason, scale, data, validation, method)
    model.splits_nothing = True
    return model


def _covered(run: Run, trained: Trained) -> Trained:
    """Count how many training rows reach each leaf, and keep some rows for importances."""
    # Of the fit's seed, the rows of small hashes may be those that were held out.
    seed = run.algorithm.seed + (run.view is not None)
    n_rows = min(COVER_ROWS, max(FEWEST_ROWS, COVER_WALKS // trained.ensemble.n_trees))
    X, weight = draw_rows(run.data, n_rows, seed)
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
