"""The scale of the probabilities, learned from rows that a fit has not seen.

A boosted model separates its own training rows ever further, so that how sure it is says little of
how often it is right. One number puts that straight: probabilities are softmax(s * F), with the s of
least log loss on rows that a second fit, with the same settings, was not shown.

Of few rows all may be right, and then the largest s is the best for them. As Platt (1999) does for two
classes, we therefore take it that one of n + 2 rows of a kind is of the class that comes second.

Scores may be worse than no scores: on rare classes, or where the rows say nothing, no s is as good as
the class frequencies f of the training rows. Then probabilities are softmax(s * F + t * log f), with the
s and the t from 0 to 1 of least log loss. At s = 0 and t = 1 these are the frequencies, so no calibrated
model is worse than those on the rows that it was calibrated on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.model.calibration_rows import CalibrationRows

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutOrder, HeldOutRows
    from marginboost.data.rows import Rows

Floats = NDArray[np.float64]

SHARE = 0.2
MOST_ROWS = 10_000
MOST_PAIRS = 2_000_000  # of a row and a class: with very many classes fewer rows will do
# Scales are tried on a grid, so that the last bit of a sum can't show in the model.
STEPS_AN_OCTAVE = 32
LEAST_STEP, MOST_STEP = -14 * STEPS_AN_OCTAVE, 4 * STEPS_AN_OCTAVE
PRIOR_STEPS = 32
# Newton's method finds the best of them after three or four tries. After so many, halves do.
MOST_NEWTON = 8
# Scores that are added up exactly stay far below 2**13; see `marginboost.coefficients.grid`.
MOST_OFFSET = 2.0**12
# A frequency of zero counts as this one.
LEAST_FREQUENCY = 2.0**-1000
# A scale at which no score shows in a probability.
NO_SCALE = 2.0**-40


class Calibration(NamedTuple):
    """Probabilities are softmax(scale * F + prior * log f).

    Attributes
    ----------
    scale : float
        s; 0 where the frequencies alone are best.
    prior : float
        t, from 0 to 1.
    """

    scale: float
    prior: float = 0.0

    def logits(
        self, logs: Floats, frequencies: Floats, labels: NDArray[np.int64] | None = None
    ) -> Floats:
        """Return scale * F + prior * log f, whose softmax are the probabilities.

        Parameters
        ----------
        logs : float64 array of rows x classes
            F[i, r], less any number per row.
        frequencies : float64 array of n_classes
            Of the training rows, by weight.
        labels : int64 array, optional
            Class numbers: the prior of a row's own class is subtracted from those of all classes, so that
            its logit stays 0 where its log is.
        """
        logits = logs * self.scale
        if self.prior > 0.0:
            priors = log_frequencies(frequencies) * self.prior
            logits += priors if labels is None else priors[None, :] - priors[labels][:, None]
        return logits

    def offset(self, frequencies: Floats) -> Floats:
        """Return what to add to the scores F, so that softmax(scale * F) are the probabilities."""
        logs = log_frequencies(frequencies)
        scores: Floats = (logs - logs.min()) * (self.prior / self.scale)
        return scores


def class_frequencies(data: Rows) -> Floats:
    """Return the share of each class in the weight of all rows."""
    frequencies: Floats = data.class_mass / data.class_mass.sum()
    return frequencies


def held_out_share(n_counted: int, n_classes: int) -> float:
    """Return what share of the rows to hold out."""
    return min(SHARE, min(MOST_ROWS, MOST_PAIRS / n_classes) / n_counted)


def logs_of(
    rows: HeldOutRows, known: HeldOutOrder | None = None
) -> tuple[Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Return F[i, r] - F[i, y_i], labels, weights of all copies, and copies, in one order."""
    e, labels, weight, copies, _ = rows.in_order(known)
    ratios = e.astype(np.float64)
    ratios[np.arange(len(e)), labels] = 1.0
    return _native.log(ratios).reshape(e.shape), labels, weight * copies, copies


def best_calibration(
    logs: Floats,
    labels: NDArray[np.int64],
    weight: Floats,
    frequencies: Floats,
    n_rows: float = math.inf,
) -> Calibration:
    """Find the scale of least log loss; with the class frequencies where it is worse than those.

    Parameters
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i].
    labels : int64 array
        Class number of each row.
    weight : float64 array
        Weight of each row.
    frequencies : float64 array of n_classes
        Of the training rows, by weight.
    n_rows : float
        About how many rows there are, each as often as it counts.
    """
    step = best_step(logs, weight, n_rows)
    priors = log_frequencies(frequencies)
    gaps = priors[None, :] - priors[labels][:, None]
    share = weight / weight.sum()
    enough = float((share * log_losses(gaps)).sum()) * (1.0 + 1e-12)
    if float((share * log_losses(logs * scale_of(step))).sum()) <= enough:
        return Calibration(scale_of(step))
    doubt = doubt_of(logs, share, n_rows)

    def at(prior_step: int) -> tuple[float, float, int]:
        """Return the loss with the doubt, and without, and the step, of the best scale."""
        offset = gaps * (prior_step / PRIOR_STEPS)
        best = best_step(logs, weight, n_rows, offset, near=step)
        loss = float((share * log_losses(logs * scale_of(best) + offset)).sum())
        return loss + doubt * scale_of(best), loss, best

    # The least over s of a loss that is convex in both is convex in t.
    low, high = 0, PRIOR_STEPS
    while low < high:
        middle = (low + high) // 2
        if at(middle + 1)[0] < at(middle)[0]:
            low = middle + 1
        else:
            high = middle
    _, loss, step = at(low)
    found = Calibration(scale_of(step), low / PRIOR_STEPS)
    if loss <= enough and np.abs(found.offset(frequencies)).max() <= MOST_OFFSET:
        return found
    # Where all classes are as frequent, the scores may still choose the class.
    return Calibration(NO_SCALE) if np.ptp(priors) == 0.0 else Calibration(0.0, 1.0)


def log_frequencies(frequencies: Floats) -> Floats:
    """Take finite logarithms."""
    return np.asarray(_native.log(np.maximum(frequencies, LEAST_FREQUENCY)))


def log_losses(logits: Floats) -> Floats:
    """Return each row's log loss, its own class having the logit 0."""
    top = logits.max(axis=1)
    shares = _native.exp(np.ascontiguousarray(logits - top[:, None])).reshape(logits.shape)
    losses: Floats = top + _native.log(shares.sum(axis=1))
    return losses


def mean_log_loss(logits: Floats, weight: Floats) -> float:
    """Return the weighted mean of the rows' log losses, their own classes having the logit 0."""
    return float((weight * log_losses(logits)).sum() / weight.sum())


def best_step(
    logs: Floats,
    weight: Floats,
    n_rows: float = math.inf,
    offset: Floats | None = None,
    near: int | None = None,
) -> int:
    """Find the step of the grid of scales whose log loss is least.

    Parameters
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i].
    weight : float64 array
        Weight of each row.
    n_rows : float
        About how many rows there are, each as often as it counts.
    offset : float64 array of rows x classes, optional
        What is added to the scaled scores.
    near : int, optional
        A step to start from: the closer to the best one, the fewer are tried.
    """
    doubt = doubt_of(logs, weight, n_rows)
    low, high = LEAST_STEP, MOST_STEP
    step, tried = near or 0, 0
    while low < high:
        step = min(max(step, low), high - 1)
        # The loss is convex in s: it falls from a step to the next if it falls half-way between them.
        scale = scale_of(step + 0.5)
        slope, curvature = _native.scale_slope(logs, weight, scale, offset)
        slope += doubt
        if slope < 0.0:
            low = step + 1
        else:
            high = step
        tried += 1
        step = _newton_step(scale, slope, curvature) if tried < MOST_NEWTON else (low + high) // 2
    return low


def _newton_step(scale: float, slope: float, curvature: float) -> int:
    """Return the step that Newton's method goes to, at most four octaves away."""
    move = -slope / scale
    ratio = 1.0 + (move / curvature if abs(move) < 16.0 * curvature else math.copysign(16.0, move))
    return math.ceil(STEPS_AN_OCTAVE * math.log2(scale * min(max(ratio, 1 / 16), 16)) - 0.5)


def doubt_of(logs: Floats, weight: Floats, n_rows: float) -> float:
    """Return the slope of a share 1 / (n + 2) of each row, of the other class of largest score."""
    below, top = np.partition(logs, -2, axis=1)[:, -2:].T
    return -float((weight * np.where(top > 0.0, top, below)).sum()) / (n_rows + 2.0)


def scale_of(step: float) -> float:
    """Return the scale at a step of the grid."""
    return float(2.0 ** (step / STEPS_AN_OCTAVE))


def calibrated_rows(
    logs: Floats,
    labels: NDArray[np.int64],
    mass: Floats,
    copies: NDArray[np.int64],
    calibration: Calibration,
    frequencies: Floats,
    *,
    in_any_order: bool = False,
) -> CalibrationRows | None:
    """Keep the calibrated probabilities of held-out rows.

    Parameters
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i].
    labels : int64 array
        Class number of each row.
    mass : float64 array
        Weight of all copies of each row, above 0.
    copies : int64 array
        How many copies there are.
    calibration : Calibration
        How scores become probabilities.
    frequencies : float64 array of n_classes
        Of the training rows, by weight.
    in_any_order : bool
        Whether the rows are in an order of the user's.

    Returns
    -------
    CalibrationRows or None
        None where there are no rows.
    """
    if not len(labels):
        return None
    logits = calibration.logits(logs, frequencies)
    return CalibrationRows.of_logits(
        logits, labels, mass / copies, copies, in_any_order=in_any_order
    )


def counted_copies(weight: Floats, n_counted: float) -> NDArray[np.int64]:
    """Return how often each row counts, where its weight says so, and else once.

    Weights are counts, up to a power of two, if they add up to the number of rows that count.
    """
    ones = np.ones(len(weight), dtype=np.int64)
    counts = weight * (n_counted / weight.sum())
    whole = np.rint(counts)
    return whole.astype(np.int64) if (counts == whole).all() and whole.min() >= 1.0 else ones
