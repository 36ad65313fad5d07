"""The sum of several fits, and what it is worth on rows that neither they nor their shares have seen.

Every fit was made several times, each time without a fold of the rows, and has scored that fold. Shares
and calibration are those of least log loss on all these scores. What they are worth is measured by
cross-fitting: each fold is scored with shares and calibration that come from the other folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.blend import scaled_shares
from marginboost.boosting.calibration import (
    Calibration,
    Floats,
    best_calibration,
    calibrated_rows,
    counted_copies,
    mean_log_loss,
)
from marginboost.boosting.trial import share_of_errors
from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["Blend", "FoldRows", "cross_fitted_score", "find_blend"]

# Fits that shares are sought for, those of least loss. A long list would be fitted to chance.
MOST_BLENDED = 6


class FoldRows(NamedTuple):
    """The rows of a fold.

    Attributes
    ----------
    labels : int64 array
        Class number of each.
    weight : float64 array
        Weight of each, above zero.
    n_counted : float
        How many they are, each as often as it counts.
    """

    labels: NDArray[np.int64]
    weight: Floats
    n_counted: float

    @classmethod
    def join(cls, folds: Sequence[FoldRows]) -> FoldRows:
        """Return the rows of several folds, one after the other."""
        return cls(
            np.concatenate([fold.labels for fold in folds]),
            np.concatenate([fold.weight for fold in folds]),
            sum(fold.n_counted for fold in folds),
        )


class Blend(NamedTuple):
    """The sum of several fits.

    Attributes
    ----------
    shares : float64 array
        The share of each fit; they add up to 1.
    factors : float64 array
        What the scores of each are multiplied by.
    calibration : Calibration
        How scores become probabilities.
    """

    shares: Floats
    factors: Floats
    calibration: Calibration

    def score(
        self, logs: Sequence[Floats], rows: FoldRows, frequencies: Floats
    ) -> tuple[float, float]:
        """Return error and mean log loss of rows.

        Parameters
        ----------
        logs : sequence of float64 arrays of rows x classes
            F[i, r] - F[i, y_i] of each fit.
        rows : FoldRows
            The rows.
        frequencies : float64 array of n_classes
            Of the classes.
        """
        logits = self.calibration.logits(_sum(logs, self.factors), frequencies, rows.labels)
        error = share_of_errors(logits, rows.labels, rows.weight)
        return error, mean_log_loss(logits, rows.weight)

    def calibrated_rows(
        self, logs: Sequence[Floats], rows: FoldRows, frequencies: Floats
    ) -> CalibrationRows | None:
        """Keep the probabilities of rows, for prediction sets; parameters as for `score`."""
        summed = _sum(logs, self.factors)
        copies = counted_copies(rows.weight, rows.n_counted)
        return calibrated_rows(
            summed,
            rows.labels,
            rows.weight,
            copies,
            self.calibration,
            frequencies,
            in_any_order=True,
        )


def find_blend(logs: Sequence[Floats], rows: FoldRows, frequencies: Floats) -> Blend:
    """Find the sum of least log loss.

    Parameters
    ----------
    logs : sequence of float64 arrays of rows x classes
        F[i, r] - F[i, y_i] of each fit.
    rows : FoldRows
        The rows.
    frequencies : float64 array of n_classes
        Of the classes.
    """
    _, weight, n_rows = rows
    shares, scales = scaled_shares(logs, weight, n_rows, most=MOST_BLENDED)
    factors = shares * scales
    calibration = best_calibration(_sum(logs, factors), rows.labels, weight, frequencies, n_rows)
    return Blend(shares, factors, calibration)


def cross_fitted_score(
    logs: Sequence[Sequence[Floats]], folds: Sequence[FoldRows], frequencies: Floats
) -> tuple[float, float]:
    """Return error and log loss of all folds, each with the blend of the others.

    Parameters
    ----------
    logs : sequence, one entry per fit, of sequences of float64 arrays of rows x classes, one per fold
        F[i, r] - F[i, y_i].
    folds : sequence of FoldRows
        The rows of each fold.
    frequencies : float64 array of n_classes
        Of the classes.

    Returns
    -------
    error, loss : float
        NaN for a single fold.
    """
    if len(folds) < 2:
        return math.nan, math.nan
    scores, weights = [], []
    for fold, rows in enumerate(folds):
        others = [other for other in range(len(folds)) if other != fold]
        joined = [np.concatenate([of_fit[other] for other in others]) for of_fit in logs]
        blend = find_blend(joined, FoldRows.join([folds[other] for other in others]), frequencies)
        scores.append(blend.score([of_fit[fold] for of_fit in logs], rows, frequencies))
        weights.append(rows.weight.sum())
    error, loss = np.average(np.array(scores), axis=0, weights=np.array(weights)).tolist()
    return error, loss


def _sum(logs: Sequence[Floats], factors: Floats) -> Floats:
    total = np.zeros(logs[0].shape)
    for one, factor in zip(logs, factors, strict=True):
        if factor:
            total += factor * one
    return total
