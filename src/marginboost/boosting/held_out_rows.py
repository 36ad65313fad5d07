"""The rows that calibration holds out, kept for prediction sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.calibration import Calibration, Floats
from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["calibrated_rows", "counted_copies"]


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
