"""Rows that a fit does not learn from, and what its rounds say of them.

They are judged by their log loss: a share of errors moves in steps of a row, and the method's own loss of
the margins is ruled by the few rows that it gets most wrong. A boosted model is ever surer of itself than
it should be, and a log loss would blame it for that long before it stops getting better; so the scores
are scaled first, by what suits the rows best. With calibrated probabilities that is what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.calibration import (
    LEAST_STEP,
    MOST_STEP,
    STEPS_AN_OCTAVE,
    Calibration,
    best_calibration,
    calibrated_rows,
    counted_copies,
    scale_of,
)
from marginboost.data.classes import UNSEEN
from marginboost.data.row_view import RowView

if TYPE_CHECKING:
    from marginboost.data.rows import Rows
    from marginboost.model.calibration_rows import CalibrationRows
    from marginboost.model.ensemble import Ensemble

__all__ = ["UNSEEN", "Validation", "ValidationRows", "ValidationScore", "hold_out"]

Floats = NDArray[np.float64]

# Scales that are tried after a round, one or two mostly.
_MOST_TRIALS = 20


class ValidationRows(NamedTuple):
    """Rows that a fit does not learn from.

    Attributes
    ----------
    X : array or SciPy sparse matrix of rows x ordered columns
        The rows.
    labels : int64 array
        Class number of each; `UNSEEN` where the training rows lack its class: such rows are errors, and
        have no log loss.
    weight : float64 array
        Weight of each.
    n_counted : float
        About how many they are, each as often as it counts.
    """

    X: Any
    labels: NDArray[np.int64]
    weight: Floats
    n_counted: float


def hold_out(data: Rows, seed: int, share: float) -> tuple[RowView, Rows, ValidationRows]:
    """Choose about a share of the rows of every class, whatever their order.

    Returns
    -------
    RowView
        Which rows are chosen.
    Rows
        The other rows; orders of categories are learned from these alone.
    ValidationRows
        The chosen rows, on the host.
    """
    view = RowView(seed, data.hash_bounds(seed, share))
    data = data.relearned(view)
    rows = data.sample_rows(view)
    if not len(rows.labels):
        raise ValueError(
            f"early_stopping needs validation rows, and no class has enough rows to spare {share:g} of "
            "them. Set a larger validation_fraction, or pass X_val and y_val."
        )
    counted = share * data.n_counted
    held_out = ValidationRows(rows.X, rows.labels, rows.row_weight(), counted)
    return view, data.without(view), held_out


class ValidationScore(NamedTuple):
    """What scores are worth.

    Attributes
    ----------
    error : float
        Share of the rows that they get wrong.
    loss : float
        Mean log loss of softmax(scale * F); NaN where all rows are of classes that were not trained.
    scale : float
        As good as the one of least loss.
    """

    error: float
    loss: float
    scale: float


class Validation:
    """The scores of validation rows, moved on round by round.

    Parameters
    ----------
    rows : ValidationRows
        The rows, at least one.
    n_classes : int
        Number of classes.
    n_threads : int
        Threads to score with.
    """

    def __init__(self, rows: ValidationRows, n_classes: int, n_threads: int) -> None:
        self._rows = rows
        self._n_threads = n_threads
        self._scores = np.zeros((len(rows.labels), n_classes))
        self._known = np.flatnonzero(rows.labels != UNSEEN)
        self._step = 0

    def add(self, newest: Ensemble) -> ValidationScore:
        """Add the scores of new rounds, and evaluate the sum."""
        newest.add_scores(self._rows.X, self._scores, n_threads=self._n_threads)
        return self.evaluate()

    def replace(self, whole: Ensemble) -> ValidationScore:
        """Score anew, for methods that change earlier rounds."""
        self._scores[:] = 0.0
        return self.add(whole)

    def evaluate(self) -> ValidationScore:
        """Evaluate the scores."""
        rows = self._rows
        best = self._scores.argmax(axis=1)
        error = self._error(best)
        if not len(self._known):
            return ValidationScore(error, math.nan, math.nan)
        curve = _LossOfScale(self._scores, best, rows, self._known)
        # From round to round the scale moves little, and beside the best one the loss is flat.
        self._step, loss = curve.least(self._step)
        return ValidationScore(error, loss, scale_of(self._step))

    def accuracy(self, decide: Callable[[Floats], NDArray[np.int64]]) -> float:
        """Return the weighted share of rows that a rule decides rightly by their scores."""
        return 1.0 - self._error(decide(self._scores))

    def _error(self, decided: NDArray[np.int64]) -> float:
        rows = self._rows
        return float(rows.weight[decided != rows.labels].sum() / rows.weight.sum())

    @property
    def has_known_rows(self) -> bool:
        """Whether some rows are of classes that were trained."""
        return len(self._known) > 0

    @property
    def n_known(self) -> float:
        """About how many rows are of classes that were trained, each as often as it counts."""
        return self._logs()[3]

    def logs_after(
        self, ensemble: Ensemble
    ) -> tuple[Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Score anew; return F[i, r] - F[i, y_i], labels, weights and copies of rows of known classes."""
        self.replace(ensemble)
        logs, labels, weight, n_rows = self._logs()
        return logs, labels, weight, counted_copies(weight, n_rows)

    def calibrate(self, frequencies: Floats) -> Calibration:
        """Find the calibration of least log loss; see `best_calibration`."""
        logs, labels, weight, n_rows = self._logs()
        return best_calibration(logs, labels, weight, frequencies, n_rows)

    def calibrated_rows(
        self, calibration: Calibration, frequencies: Floats
    ) -> CalibrationRows | None:
        """Keep the probabilities of the rows of known classes, for prediction sets."""
        logs, labels, weight, n_rows = self._logs()
        copies = counted_copies(weight, n_rows) if len(weight) else np.empty(0, dtype=np.int64)
        return calibrated_rows(
            logs, labels, weight, copies, calibration, frequencies, in_any_order=True
        )

    def _logs(self) -> tuple[Floats, NDArray[np.int64], Floats, float]:
        """Return F[i, r] - F[i, y_i], labels, weights, and how many rows of known classes there are."""
        rows = self._rows
        scores, labels = self._scores[self._known], rows.labels[self._known]
        own = scores[np.arange(len(labels)), labels]
        weight = rows.weight[self._known]
        n_rows = rows.n_counted * float(weight.sum() / rows.weight.sum())
        return scores - own[:, None], labels, weight, n_rows


class _LossOfScale:
    """The mean log loss of softmax(s * F), with what Newton's method asks for, in one pass a scale."""

    def __init__(
        self,
        scores: Floats,
        best: NDArray[np.int64],
        rows: ValidationRows,
        known: NDArray[np.int64],
    ) -> None:
        labels, weight = rows.labels, rows.weight
        if len(known) < len(labels):
            scores, best, labels, weight = scores[known], best[known], labels[known], weight[known]
        every = np.arange(len(labels))
        self._below = scores - scores[every, best][:, None]  # never above 0: nothing overflows
        self._own = self._below[every, labels]
        self._weight = weight / weight.sum()
        self._room = np.empty_like(self._below)

    def least(self, step: int) -> tuple[int, float]:
        """Find a step of the grid where the loss is as good as least, and the loss; begin at a step."""
        loss, towards = self._at(step)
        for _ in range(_MOST_TRIALS):
            if towards == step:
                break
            there, further = self._at(towards)
            if there >= loss:
                break
            step, loss, towards = towards, there, further
        return step, loss

    def _at(self, step: int) -> tuple[float, int]:
        """Return the loss at a step, and the step that Newton's method goes to."""
        scale, below, weight = scale_of(step), self._below, self._weight
        shares = np.multiply(below, scale, out=self._room)
        np.exp(shares, out=shares)
        total = shares.sum(axis=1)
        loss = float((weight * (np.log(total) - scale * self._own)).sum())
        mean = np.einsum("ij,ij->i", shares, below) / total
        shares *= below
        square = np.einsum("ij,ij->i", shares, below) / total
        slope = float((weight * (mean - self._own)).sum())
        curvature = float((weight * (square - mean * mean)).sum())
        # Not further than an octave: far from the least the loss is no parabola, and maybe a line.
        change = -slope / max(curvature, 1e-300) / scale
        octaves = math.log2(1.0 + min(max(change, -0.5), 1.0))
        towards = step + round(STEPS_AN_OCTAVE * octaves)
        return loss, min(max(towards, LEAST_STEP), MOST_STEP)
