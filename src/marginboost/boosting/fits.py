"""The model of several fits: their sum, each with a share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marginboost.boosting.blend import scaled_shares
from marginboost.boosting.calibration import (
    best_calibration,
    calibrated_rows,
    class_frequencies,
    mean_log_loss,
)
from marginboost.boosting.loop import (
    EARLY_STOPPING,
    INTERRUPTED,
    MAX_ROUNDS,
    NO_VIOLATED_CONSTRAINT,
)
from marginboost.boosting.model_fit import Boosted
from marginboost.boosting.monotone import exact_factors
from marginboost.boosting.repeats import Repeat
from marginboost.boosting.trained import Choice, Part, Trained, calibrated, frequency_model
from marginboost.boosting.trial import HeldOutScores
from marginboost.model.weighted_sum import weighted_sum

if TYPE_CHECKING:
    from marginboost.boosting.run import Candidate, Run

__all__ = ["FINISHED", "Blend", "Fit", "Used", "blend_fits", "only_fit", "sum_of_fits"]

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
    trial_loss : float
        The least loss of the first trial.
    n_trials : int
        How many trials it had.
    penalty : float or None
        Of a linear model.
    """

    candidate: Candidate
    boosted: Boosted
    scores: HeldOutScores | None
    n_rounds: int
    n_rows: float
    is_clean: bool = False
    trial_loss: float = math.inf
    n_trials: int = 1
    penalty: float | None = None

    @property
    def is_complete(self) -> bool:
        """Whether nobody ended the fit."""
        return self.boosted.reason in FINISHED


@dataclass(slots=True)
class Used:
    """A fit that is a part of the model.

    Attributes
    ----------
    fit : Fit
        The fit.
    share : float
        Its share in the scores.
    scale : float
        What its scores are multiplied by before that.
    repeats : list of Repeat
        More fits of the same kind; the mean of all takes the place of the first.
    """

    fit: Fit
    share: float
    scale: float
    repeats: list[Repeat] = field(default_factory=list)


class Blend(NamedTuple):
    """The fits that the model is the sum of, the one with the largest share first.

    Attributes
    ----------
    parts : list of Used
        The fits.
    held_out : HeldOutScores
        Scores of the held-out rows: the sum of those of the fits' trials.
    n_rows : float
        About how many rows were held out.
    """

    parts: list[Used]
    held_out: HeldOutScores
    n_rows: float


def blend_fits(run: Run, fits: list[Fit]) -> Blend | None:
    """Find out how much each fit counts; None where no held-out rows tell."""
    scored = [fit for fit in fits if fit.scores is not None and fit.boosted.builder.n_splits]
    if not scored:
        return None
    scores = [fit.scores for fit in scored if fit.scores is not None]
    all_logs, n_rows = [one.logs for one in scores], scored[0].n_rows
    rounded = exact_factors if run.algorithm.exact_factors else np.asarray
    shares, scales = scaled_shares(all_logs, scores[0].weight, n_rows, rounded=rounded)
    logs = [one * scale for one, scale in zip(all_logs, scales, strict=True)]
    used = [i for i in np.argsort(-shares, kind="stable") if shares[i] > 0.0]
    parts = [Used(scored[i], float(shares[i]), float(scales[i])) for i in used]
    return Blend(parts, scores[0]._replace(logs=np.tensordot(shares, np.stack(logs), 1)), n_rows)


def sum_of_fits(run: Run, blend: Blend) -> Trained:
    """Make the model: the sum of the fits, each with its share."""
    parts, held_out = blend.parts, blend.held_out
    trained = _sum(run, parts)
    if trained.validation is not None:  # the model itself can be judged
        held_out = HeldOutScores(*trained.validation.logs_after(trained.ensemble))
    logs, labels, weight, copies = held_out
    frequencies = class_frequencies(run.data)
    found = best_calibration(logs, labels, weight, frequencies, blend.n_rows)
    trained = calibrated(run, trained, found)
    trained.held_out = calibrated_rows(
        logs, labels, weight, copies, found, frequencies, in_any_order=run.rows is not None
    )
    if trained.splits_nothing:  # the class frequencies are better than all fits
        return trained
    trained.choice = Choice(
        tuple(
            Part(
                one.fit.candidate.settings,
                one.fit.n_rounds,
                one.share,
                1 + len(one.repeats),
                one.fit.penalty,
            )
            for one in parts
        ),
        held_out.error,
        mean_log_loss(found.logits(logs, frequencies, labels), weight),
    )
    return trained


def _sum(run: Run, parts: list[Used]) -> Trained:
    """Add up the fits and their repeats."""
    ensembles, factors, rounds = [], [], []
    for part in parts:
        first = part.fit.boosted
        first.builder.keep_rounds(part.fit.n_rounds)
        own = [Repeat(first.builder, first.rounds[: part.fit.n_rounds]), *part.repeats]
        for builder, own_rounds in own:
            ensembles.append(builder.build())
            factors.append(part.share * part.scale / len(own))
            rounds += [
                finished._replace(gains=np.asarray(finished.gains) * (part.share / len(own)))
                for finished in own_rounds
            ]
    ensemble = ensembles[0] if factors == [1.0] else weighted_sum(ensembles, factors)
    largest = parts[0].fit.boosted
    validation, method, reason = largest.validation, largest.method, largest.reason
    if validation is not None:
        validation.replace(ensemble)
    return Trained(ensemble, rounds, len(rounds), reason, 1.0, run.data, validation, method)


def only_fit(run: Run, fit: Fit) -> Trained:
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
