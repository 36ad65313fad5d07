"""Train a model: hold out validation rows, boost, put the model together, calibrate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marginboost.boosting.calibration import Calibration, class_frequencies
from marginboost.boosting.choose import train_chosen
from marginboost.boosting.loop import INTERRUPTED
from marginboost.boosting.model_fit import Boosted, boost_model
from marginboost.boosting.run import Algorithm, Options, Run
from marginboost.boosting.second_fit import CalibrationFit
from marginboost.boosting.trained import (
    Trained,
    calibrated,
    covered,
    frequency_model,
    release,
    warn_of_interrupt,
    warn_of_no_split,
)
from marginboost.boosting.validation import hold_out
from marginboost.data.user_warning import warn_user

__all__ = ["Algorithm", "Options", "Run", "Trained", "train"]

# With so many rows a mean weight is four units of the 32-bit sums; see docs/scaling.md.
SHARP_ROWS = 1 << 28


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
        run.view, run.data, run.rows = hold_out(
            run.data, run.algorithm.seed, options.validation_fraction
        )
    if run.settle is not None:
        run.settle(run.data)
    if run.data.n_counted > SHARP_ROWS:
        warn_user(
            f"The fit has {run.data.n_counted:,} rows. Sums over rows are of 32 bits: with more than "
            f"{SHARP_ROWS:,} rows those of small weight are rounded away, as by weight trimming."
        )
    if options.calibrate and run.algorithm.second_fit:
        if run.algorithm.candidates is not None and run.earlier is None:
            return train_chosen(run)
        if run.rows is None:
            return _train_and_calibrate(run)
    return _train_once(run, run.algorithm.make_engine(options.n_threads))


def _train_and_calibrate(run: Run) -> Trained:
    """Fit twice, the second time without some rows, and calibrate the model on those."""
    # Two fits side by side share the threads; a single thread does one after the other.
    n_threads = run.options.n_threads
    beside = n_threads > 1
    engine = run.algorithm.make_engine(n_threads)
    other = run.algorithm.make_engine(n_threads) if beside else engine
    if run.options.max_time is not None and not beside:
        half = run.options.max_time / 2  # the other half is the second fit's
        run.options = replace(run.options, max_time=half)
    second = CalibrationFit(
        run.algorithm, other, run.data, run.options, run.interrupts, beside=beside
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
                warn_of_interrupt(trained)
                return trained
            model = calibrated(run, trained, found)
            model.held_out = second.held_out
            return model if model is trained else covered(run, model)
    return trained


def _train_once(run: Run, engine: Any) -> Trained:
    """Boost, and put the model together."""
    boosted = boost_model(run, engine)
    trained = assemble(run, boosted)
    release(engine)
    trained = covered(run, trained)
    if boosted.reason == INTERRUPTED:
        warn_of_interrupt(trained)
    elif not boosted.builder.n_splits:
        warn_of_no_split(run.data)
    return trained


def assemble(run: Run, boosted: Boosted) -> Trained:
    """Choose the rounds to keep, and make the model of them; calibrate it on validation rows."""
    builder, method, rounds, reason, validation = boosted
    n_kept = len(rounds)
    if run.options.early_stopping and n_kept:
        n_kept = int(np.argmin([finished.validation_loss for finished in rounds])) + 1
    if n_kept < len(rounds) or reason == INTERRUPTED:  # which may have come within a round
        builder.keep_rounds(n_kept)
    if run.algorithm.corrects_rounds:
        method.keep_rounds(builder, n_kept)
    scale = run.algorithm.scale
    if not builder.n_splits:
        return frequency_model(run, method, reason, validation)
    ensemble = builder.build()
    trained = Trained(ensemble, rounds, n_kept, reason, scale, run.data, validation, method)
    if validation is not None:
        validation.replace(ensemble)
        frequencies, found = class_frequencies(run.data), Calibration(scale)
        if run.options.calibrate:
            found = validation.calibrate(frequencies)
        held_out = validation.calibrated_rows(found, frequencies)
        if run.options.calibrate:
            trained = calibrated(run, trained, found)
        trained.held_out = held_out
    return trained
