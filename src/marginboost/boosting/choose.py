"""Decide what people tune by hand: settings, rounds, and how much each of several fits counts.

Each candidate is fitted to all rows, and beside that, as a trial, without some rows that its scores are
then judged by: once, or a few times where there are few rows. The trials give the number of rounds. Where
the user gives validation rows, those are what fits are judged by, and there are no trials. The
first candidate, or the first two, suit clean data: where the trials of one get almost all rows right, the
others are left out. The model is the sum of the candidates, each with the share that has the least log
loss on the held-out rows; candidates with a small share are left out. Where there are few rows, each fit
that is used is repeated with other random numbers, and the mean of them all takes its place.

The rows that a trial does not see are chosen by what is in them, so the decisions are the same for any
order of the rows, number of threads, or engine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.boosting.calibration import class_frequencies
from marginboost.boosting.fits import FINISHED, Blend, Fit, blend_fits, only_fit, sum_of_fits
from marginboost.boosting.linear import fit_linear, suits_linear
from marginboost.boosting.loop import EARLY_STOPPING, INTERRUPTED, MAX_ROUNDS, MAX_TIME
from marginboost.boosting.model_fit import boost_model
from marginboost.boosting.repeats import Repeats, n_repeats, side_by_side
from marginboost.boosting.trained import (
    Trained,
    covered,
    frequency_model,
    release,
    warn_of_interrupt,
    warn_of_no_split,
)
from marginboost.boosting.trial import CHECKPOINTS, HeldOutScores, Trial, Trials, n_trials
from marginboost.boosting.validation import Validation
from marginboost.model.builder import EnsembleBuilder

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Candidate, Run

__all__ = ["train_chosen"]

# The data are clean where a candidate that suits such data has a share of errors on held-out rows
# below this, and below so much of the error of always predicting the most frequent class: where most rows
# are of one class, few errors alone say little.
CLEAN, CLEAN_OF_FREQUENT = 0.05, 0.1


def train_chosen(run: Run) -> Trained:
    """Train a model with settings that are chosen by trials."""
    n_threads = run.options.n_threads
    n_engines = 1  # for trials, of which there are none beside validation rows
    if run.rows is None:
        n_engines = side_by_side(run.data.n_counted, run.data.n_classes, n_threads)
    engine, *others = map(run.algorithm.make_engine, [n_threads] * n_engines)
    fits, reason = _fit_candidates(run, engine, others)
    if not fits:  # a linear candidate alone, without columns
        validation = None
        if run.rows is not None:
            validation = Validation(run.rows, run.data.n_classes, n_threads)
        release(engine, *others)
        return covered(run, frequency_model(run, None, reason or MAX_ROUNDS, validation))
    more = n_repeats(run.data.n_counted, run.data.n_classes)
    if not more:
        release(engine, *others)
    blend = blend_fits(run, fits)
    if more and blend is not None and reason is None and fits[-1].is_complete:
        reason = _repeat(run, blend, engine, others)
    release(engine, *others)
    trained = only_fit(run, fits[0]) if blend is None else sum_of_fits(run, blend)
    if reason is not None:
        trained.stop_reason = reason
    if trained.stop_reason == INTERRUPTED:
        warn_of_interrupt(trained)
    elif trained.splits_nothing and not fits[0].boosted.builder.n_splits:
        warn_of_no_split(run.data)
    return covered(run, trained)


def _fit_candidates(run: Run, engine: Any, others: Sequence[Any]) -> tuple[list[Fit], str | None]:
    """Fit and try one candidate after the other; return why that ended early, if it did."""
    assert run.algorithm.candidates is not None
    fits: list[Fit] = []
    for candidate in run.algorithm.candidates(run.data):
        if any(fit.is_clean for fit in fits) and not candidate.least_rounds:
            break
        try:
            with run.interrupts.allowed():
                if run.rows is None:
                    fit = _fit(run, candidate, engine, others, fits)
                else:
                    fit = _fit_validated(run, candidate, engine)
        except KeyboardInterrupt:
            if not fits:
                raise
            return fits, INTERRUPTED
        if fits and not fit.is_complete:
            return fits, fit.boosted.reason
        fits.append(fit)
        if not fit.is_complete or fit.scores is None:
            break
    return _with_linear(run, fits)


def _with_linear(run: Run, fits: list[Fit]) -> tuple[list[Fit], str | None]:
    """Add the linear candidate, where there is one and time is left."""
    linear = run.algorithm.linear
    whole = all(fit.is_complete and fit.scores is not None for fit in fits[-1:])
    if linear is None or not whole or _is_late(run):
        return fits, None
    try:
        with run.interrupts.allowed():
            best = min((fit for fit in fits if fit.is_clean), key=_error, default=None)
            first = best or (fits[0] if fits else None)
            fit = fit_linear(run, linear, first) if suits_linear(run.data) else None
    except KeyboardInterrupt:
        return fits, INTERRUPTED
    return fits if fit is None else [*fits, fit], None


def _error(fit: Fit) -> float:
    """Return the share of errors on held-out rows."""
    return math.inf if fit.scores is None else fit.scores.error


def _is_late(run: Run) -> bool:
    limit = run.options.max_time
    return limit is not None and time.perf_counter() >= run.began + limit


def _fit(
    run: Run, candidate: Candidate, engine: Any, others: Sequence[Any], earlier: list[Fit]
) -> Fit:
    """Fit a candidate to all rows, and try it without some."""
    seed, own, first = run.algorithm.seed, _of_candidate(run, candidate), not earlier
    n_wanted = n_trials(run.data.n_counted) if first else earlier[0].n_trials
    trials = Trials(
        candidate,
        n_wanted,
        others[:n_wanted],
        run.data,
        seed,
        run.interrupts,
        deadline=_deadline(run, beside=bool(others)),
        clean=_clean_error(run) if first else 0.0,
        to_beat=min((fit.trial_loss for fit in earlier), default=math.inf),
    )

    def stop(finished: Round) -> str | None:
        last = trials.last_round()
        over = last is not None and last <= finished.number < candidate.n_rounds
        return EARLY_STOPPING if over else None

    with trials:
        if not others:
            trials.run_first(engine)
        boosted = boost_model(own, engine, stop)
        run.interrupts.deferred = False
        if boosted.reason == INTERRUPTED:
            return Fit(candidate, boosted, None, len(boosted.rounds), 0.0)
        if boosted.reason in FINISHED:
            results = trials.results(engine)
        else:
            results = trials.first_alone(len(boosted.rounds))
        last = trials.last_round() or 0
    if boosted.reason in FINISHED and last < candidate.n_rounds and last <= len(boosted.rounds):
        # Which of the two fits was faster must not show.
        boosted = boosted._replace(reason=EARLY_STOPPING)
    last = min(last, len(boosted.rounds))
    if not results[0].n_rounds:
        return Fit(candidate, boosted, None, len(boosted.rounds), 0.0)
    n_rounds = _best_rounds(results, last)
    scores = _scores(results, n_rounds)
    clean = candidate.least_rounds > 0 and (trials.is_clean or scores.error < _clean_error(run))
    if clean:
        n_rounds = _best_rounds(results, last, candidate.least_rounds)
        scores = _scores(results, n_rounds)
    if n_rounds == 0 and not first:  # the trials found no split
        return Fit(candidate, boosted, None, len(boosted.rounds), 0.0)
    n_rounds = max(n_rounds, min(1, len(boosted.rounds)))
    return Fit(
        candidate,
        boosted,
        scores,
        n_rounds,
        trials.n_rows,
        clean,
        min(results[0].losses),
        len(results),
    )


def _clean_error(run: Run) -> float:
    """Return the share of errors below which the data are clean."""
    most_frequent = float(class_frequencies(run.data).max())
    return min(CLEAN, CLEAN_OF_FREQUENT * (1.0 - most_frequent))


def _of_candidate(run: Run, candidate: Candidate) -> Run:
    """Return the run of one candidate."""
    seed = run.algorithm.seed

    def make_method(engine: Any, data: Any, bounds: Any, stream: int) -> Any:
        return candidate.make_method(engine, data, bounds, stream, seed)

    return replace(
        run,
        algorithm=replace(run.algorithm, make_method=make_method),
        options=replace(run.options, n_rounds=candidate.n_rounds),
    )


def _fit_validated(run: Run, candidate: Candidate, engine: Any) -> Fit:
    """Fit a candidate to all rows; validation rows take the place of those that trials hold out."""
    trial = Trial()

    def stop(finished: Round) -> str | None:
        if finished.number not in CHECKPOINTS and finished.number < candidate.n_rounds:
            return None
        trial.n_rounds.append(finished.number)
        trial.losses.append(finished.validation_loss)
        over = finished.number >= candidate.least_rounds and trial.is_over
        return EARLY_STOPPING if over else None

    boosted = boost_model(_of_candidate(run, candidate), engine, stop)
    run.interrupts.deferred = False
    n_done, validation = len(boosted.rounds), boosted.validation
    if n_done and (not trial.n_rounds or trial.n_rounds[-1] < n_done):
        trial.n_rounds.append(n_done)
        trial.losses.append(boosted.rounds[-1].validation_loss)
    judged = validation is not None and validation.has_known_rows
    if not judged or boosted.reason == INTERRUPTED or not boosted.builder.n_splits:
        return Fit(candidate, boosted, None, n_done, 0.0)
    assert validation is not None
    whole = boosted.builder.build()

    def after(least: int) -> tuple[int, HeldOutScores]:
        places = [i for i, n in enumerate(trial.n_rounds) if n >= min(least, n_done)]
        best = trial.n_rounds[min(places, key=lambda i: (trial.losses[i], i))]
        builder = EnsembleBuilder.of(whole)
        builder.keep_rounds(best)
        return best, HeldOutScores(*validation.logs_after(builder.build()))

    n_rounds, scores = after(1)
    clean = candidate.least_rounds > 0 and scores.error < _clean_error(run)
    if clean:
        n_rounds, scores = after(candidate.least_rounds)
    return Fit(candidate, boosted, scores, n_rounds, validation.n_known, clean)


def _deadline(run: Run, *, beside: bool) -> float:
    """Return when trials must end: where they are not beside the fit, half of the time is its."""
    if run.options.max_time is None:
        return math.inf
    end = run.began + run.options.max_time
    now = time.perf_counter()
    return end if beside else now + (end - now) / 2


def _best_rounds(trials: list[Trial], last: int, least: int = 0) -> int:
    """Return the number of rounds of least mean loss, up to the last round of the model."""
    least = min(least, last)
    found = {number for trial in trials for number in trial.n_rounds}
    rounds = sorted(number for number in found if least <= number <= last)
    if not rounds:
        return last
    losses = np.zeros(len(rounds))
    for trial in trials:
        weight = float(trial.scores[0].weight.sum())
        losses += [weight * trial.losses[trial.after(number)] for number in rounds]
    return rounds[int(np.argmin(losses))]


def _scores(trials: list[Trial], n_rounds: int) -> HeldOutScores:
    """Join the scores of all trials after some rounds."""
    found = [trial.scores[trial.after(n_rounds)] for trial in trials]
    logs, *others = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return HeldOutScores(logs.astype(np.float64), *others)


def _repeat(run: Run, blend: Blend, engine: Any, others: Sequence[Any]) -> str | None:
    """Repeat the fits that are used; return why that ended early, if it did."""
    fits = [(part.fit.candidate, part.fit.n_rounds) for part in blend.parts]
    try:
        with run.interrupts.allowed(), Repeats(run, fits, others) as repeats:
            found = repeats.results(engine)
    except KeyboardInterrupt:
        return INTERRUPTED
    for part, own in zip(blend.parts, found, strict=True):
        part.repeats = own
    return None if repeats.is_complete else MAX_TIME
