"""Decide what people tune by hand: settings, rounds, and how much each of several fits counts.

Each candidate is fitted to all rows, and beside that, as a trial, without some rows that its scores are
then judged by: once, or a few times where there are few rows. The trials give the number of rounds. Where
the user gives validation rows, those are what fits are judged by, and there are no trials. The
first candidate suits clean data: where its trials get almost all rows right, it is the model. Else the
model is the sum of the candidates, each with the share that has the least log loss on the held-out rows;
candidates with a small share are left out.

The rows that a trial does not see are chosen by what is in them, so the decisions are the same for any
order of the rows, number of threads, or engine.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marginboost.boosting.blend import blend_shares
from marginboost.boosting.calibration import (
    Floats,
    best_calibration,
    best_step,
    calibrated_rows,
    class_frequencies,
    mean_log_loss,
    scale_of,
)
from marginboost.boosting.loop import (
    EARLY_STOPPING,
    INTERRUPTED,
    MAX_ROUNDS,
    NO_VIOLATED_CONSTRAINT,
)
from marginboost.boosting.model_fit import Boosted, boost_model
from marginboost.boosting.monotone import exact_factors
from marginboost.boosting.run import release
from marginboost.boosting.trained import (
    Choice,
    Part,
    Trained,
    calibrated,
    covered,
    frequency_model,
    warn_of_interrupt,
    warn_of_no_split,
)
from marginboost.boosting.trial import CHECKPOINTS, HeldOutScores, Trial, Trials
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.weighted_sum import weighted_sum

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.boosting.run import Candidate, Run

__all__ = ["train_chosen"]

# Below this share of errors on held-out rows the data are clean, and the first candidate is the model.
CLEAN = 0.05
# Why a fit ends that nobody has ended.
FINISHED = (MAX_ROUNDS, EARLY_STOPPING, NO_VIOLATED_CONSTRAINT)


@dataclass(slots=True)
class Fit:
    """A candidate's fit to all rows, and its trials.

    Attributes
    ----------
    candidate : Candidate
        What was fitted.
    boosted : Boosted
        The fit to all rows.
    scores : HeldOutScores or None
        Of the trials, after the rounds of least loss; None if no row could be held out.
    n_rounds : int
        The rounds of least loss.
    n_rows : float
        About how many rows were held out.
    is_clean : bool
        Whether the first candidate has few errors on them.
    """

    candidate: Candidate
    boosted: Boosted
    scores: HeldOutScores | None
    n_rounds: int
    n_rows: float
    is_clean: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nobody ended the fit."""
        return self.boosted.reason in FINISHED


def train_chosen(run: Run) -> Trained:
    """Train a model with settings that are chosen by trials."""
    assert run.algorithm.candidates is not None
    n_threads = run.options.n_threads
    beside = n_threads > 1 and run.rows is None
    engine = run.algorithm.make_engine(n_threads)
    other = run.algorithm.make_engine(n_threads) if beside else engine
    fits: list[Fit] = []
    reason = None
    for candidate in run.algorithm.candidates(run.data):
        try:
            with run.interrupts.allowed():
                if run.rows is None:
                    fit = _fit(run, candidate, engine, other, beside=beside, first=not fits)
                else:
                    fit = _fit_validated(run, candidate, engine, first=not fits)
        except KeyboardInterrupt:
            if not fits:
                raise
            reason = INTERRUPTED
            break
        if fits and not fit.is_complete:
            reason = fit.boosted.reason
            break
        fits.append(fit)
        if not fit.is_complete or fit.scores is None or fit.is_clean:
            break
    release(engine, other)
    trained = _combine(run, fits)
    if reason is not None:
        trained.stop_reason = reason
    if trained.stop_reason == INTERRUPTED:
        warn_of_interrupt(trained)
    elif trained.splits_nothing and not fits[0].boosted.builder.n_splits:
        warn_of_no_split(run.data)
    return covered(run, trained)


def _fit(
    run: Run, candidate: Candidate, engine: Any, other: Any, *, beside: bool, first: bool
) -> Fit:
    """Fit a candidate to all rows, and try it without some."""
    seed, own = run.algorithm.seed, _of_candidate(run, candidate)
    trials = Trials(
        candidate,
        other,
        run.data,
        seed,
        run.interrupts,
        beside=beside,
        deadline=_deadline(run, beside),
        clean=CLEAN if first else 0.0,
    )

    def stop(finished: Round) -> str | None:
        last = trials.last_round()
        over = last is not None and last <= finished.number < candidate.n_rounds
        return EARLY_STOPPING if over else None

    with trials:
        if not beside:
            trials.run_first()
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
    clean = first and (trials.is_clean or scores.error < CLEAN)
    if clean:
        n_rounds = _best_rounds(results, last, candidate.least_rounds)
        scores = _scores(results, n_rounds)
    if n_rounds == 0 and not first:  # the trials found no split
        return Fit(candidate, boosted, None, len(boosted.rounds), 0.0)
    n_rounds = max(n_rounds, min(1, len(boosted.rounds)))
    return Fit(candidate, boosted, scores, n_rounds, trials.n_rows, clean)


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


def _fit_validated(run: Run, candidate: Candidate, engine: Any, *, first: bool) -> Fit:
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
    clean = first and scores.error < CLEAN
    if clean:
        n_rounds, scores = after(candidate.least_rounds)
    return Fit(candidate, boosted, scores, n_rounds, validation.n_known, clean)


def _deadline(run: Run, beside: bool) -> float:
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


def _combine(run: Run, fits: list[Fit]) -> Trained:
    """Make the model: the sum of the fits, each with its share."""
    first = fits[0]
    scored = [fit for fit in fits if fit.scores is not None and fit.boosted.builder.n_splits]
    if not scored:
        return _alone(run, first)
    shares, scales, logs = _shares(scored, exact=run.algorithm.exact_factors)
    used = [i for i in np.argsort(-shares, kind="stable") if shares[i] > 0.0]
    parts = [(scored[i], float(shares[i]), float(scales[i])) for i in used]
    _, labels, weight, copies = scored[0].scores  # type: ignore[misc]
    frequencies = class_frequencies(run.data)
    found = best_calibration(logs, labels, weight, frequencies, scored[0].n_rows)
    trained = _sum(run, parts)
    trained = calibrated(run, trained, found)
    trained.held_out = calibrated_rows(
        logs, labels, weight, copies, found, frequencies, in_any_order=run.rows is not None
    )
    if trained.splits_nothing:  # the class frequencies are better than all fits
        return trained
    blended = HeldOutScores(logs, labels, weight, copies)
    trained.choice = Choice(
        tuple(Part(fit.candidate.settings, fit.n_rounds, share) for fit, share, _ in parts),
        blended.error,
        mean_log_loss(found.logits(logs, frequencies, labels), weight),
    )
    return trained


def _shares(fits: list[Fit], *, exact: bool) -> tuple[Floats, Floats, Floats]:
    """Return the share and the scale of each fit, and the held-out scores of their sum."""
    scores = [fit.scores for fit in fits if fit.scores is not None]
    if len(scores) == 1:
        return np.ones(1), np.ones(1), scores[0].logs
    weight, n_rows = scores[0].weight, fits[0].n_rows
    scales = np.array([scale_of(best_step(one.logs, weight, n_rows)) for one in scores])
    if exact:
        scales = exact_factors(scales)
    logs = [one.logs * scale for one, scale in zip(scores, scales, strict=True)]
    shares = blend_shares(logs, weight, n_rows)
    if np.count_nonzero(shares) == 1:
        scales = np.ones(len(scores))
        logs = [one.logs for one in scores]
    return shares, scales, np.tensordot(shares, np.stack(logs), 1)


def _sum(run: Run, parts: list[tuple[Fit, float, float]]) -> Trained:
    """Add up the fits, the one with the largest share first."""
    ensembles, rounds = [], []
    for fit, share, _ in parts:
        builder, _, own_rounds, _, _ = fit.boosted
        builder.keep_rounds(fit.n_rounds)
        ensembles.append(builder.build())
        rounds += [
            finished._replace(gains=np.asarray(finished.gains) * share)
            for finished in own_rounds[: fit.n_rounds]
        ]
    factors = [share * scale for _, share, scale in parts]
    ensemble = ensembles[0] if factors == [1.0] else weighted_sum(ensembles, factors)
    largest = parts[0][0].boosted
    validation, method, reason = largest.validation, largest.method, largest.reason
    if validation is not None:
        validation.replace(ensemble)
    return Trained(ensemble, rounds, len(rounds), reason, 1.0, run.data, validation, method)


def _alone(run: Run, fit: Fit) -> Trained:
    """Make the model of a fit that no held-out rows were scored by."""
    builder, method, rounds, reason, validation = fit.boosted
    if not builder.n_splits:
        return frequency_model(run, method, reason, validation)
    if reason == INTERRUPTED:
        builder.keep_rounds(len(rounds))
    scale, ensemble = run.algorithm.scale, builder.build()
    if validation is not None:
        validation.replace(ensemble)
    trained = Trained(ensemble, rounds, len(rounds), reason, scale, run.data, validation, method)
    part = Part(fit.candidate.settings, len(rounds), 1.0)
    trained.choice = Choice((part,), float("nan"), float("nan"))
    return trained
