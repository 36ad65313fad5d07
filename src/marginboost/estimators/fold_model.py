"""The models of folds and of all rows, and the one model that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.calibration import Calibration, log_frequencies
from marginboost.coefficients.grid import on_grid
from marginboost.data.columns import Categories
from marginboost.data.encoding import Encoding
from marginboost.data.joined_encoding import join_encodings, with_names
from marginboost.engine.threads import effective_threads
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.constant import Leaf, with_offset
from marginboost.model.ensemble import Ensemble
from marginboost.model.moved_columns import with_columns
from marginboost.model.weighted_sum import weighted_sum

if TYPE_CHECKING:
    from marginboost.boosting.cross_fit import FoldRows
    from marginboost.estimators.marginboost import MarginBoostClassifier

__all__ = ["FoldFit", "FoldModel", "JointModel", "PartModel", "common_rounds", "join_models"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PartModel:
    """A fit, which is added to others.

    Attributes
    ----------
    encoding : Encoding
        Of columns in which categories are codes.
    ensemble : Ensemble
        The trees.
    """

    encoding: Encoding
    ensemble: Ensemble


@dataclass(frozen=True, slots=True, eq=False)
class FoldModel(PartModel):
    """A fit without a fold, and its scores of that fold.

    Attributes
    ----------
    logs : float64 array of rows x classes
        F[i, r] - F[i, y_i] of the rows of the fold.
    """

    logs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FoldFit:
    """A fit without a fold, as long as it went, and its curve on that fold.

    Attributes
    ----------
    model : MarginBoostClassifier
        Fitted, with validation curves.
    X : array or SciPy sparse matrix
        All rows, as the model takes them.
    places : int64 array
        Where in X the rows of the fold are.
    rows : FoldRows
        What is known of the rows of the fold.
    """

    model: MarginBoostClassifier
    X: Any
    places: NDArray[np.int64]
    rows: FoldRows

    @property
    def losses(self) -> Floats:
        """The mean log loss of the fold after each round, at the scale of least loss."""
        return self.model.validation_losses_

    @property
    def best_round(self) -> int:
        """The number of rounds of least loss."""
        return int(np.argmin(self.losses)) + 1

    @property
    def loss(self) -> float:
        """The least loss."""
        return float(self.losses.min())

    @property
    def error(self) -> float:
        """The share of errors after the rounds of least loss."""
        return float(self.model.validation_errors_[self.best_round - 1])

    def cut(self, n_rounds: int) -> FoldModel:
        """Keep the first rounds, and score the fold."""
        ensemble = self.model.ensemble_
        if n_rounds < ensemble.n_rounds:
            builder = EnsembleBuilder.of(ensemble)
            builder.keep_rounds(n_rounds)
            ensemble = builder.build()
        threads = effective_threads(self.model.n_jobs)
        scores = ensemble.decision_function(
            self.model._checked(self.X[self.places]), n_threads=threads
        )
        logs = scores - scores[np.arange(len(scores)), self.rows.labels][:, None]
        return FoldModel(self.model.encoding_, ensemble, logs)


def common_rounds(fits: Sequence[FoldFit]) -> int:
    """Return the number of rounds of least mean loss over the folds of a setting.

    A curve that ends stays as it is: its fit has not improved for a while.
    """
    total = np.zeros(max(len(fit.losses) for fit in fits))
    for fit in fits:
        more = len(total) - len(fit.losses)
        total += np.pad(fit.losses, (0, more), mode="edge") * fit.rows.weight.sum()
    return int(np.argmin(total)) + 1


class JointModel(NamedTuple):
    """One model.

    Attributes
    ----------
    encoding : Encoding
        Of the columns of X.
    ensemble : Ensemble
        The trees, without covers.
    scale : float
        Probabilities are softmax(scale * F).
    """

    encoding: Encoding
    ensemble: Ensemble
    scale: float


def join_models(
    models: Sequence[PartModel],
    factors: Sequence[float],
    names: Sequence[Categories | None],
    calibration: Calibration,
    frequencies: Floats,
) -> JointModel:
    """Add up models.

    Parameters
    ----------
    models : sequence of PartModel
        At least one.
    factors : sequence of float
        What the scores of each are multiplied by.
    names : sequence, one entry per column of X
        The categories; None for a column of numbers.
    calibration : Calibration
        How the sum becomes probabilities.
    frequencies : float64 array of n_classes
        Of the classes.
    """
    encoding, places = join_encodings([with_names(one.encoding, names) for one in models])
    scale, prior = calibration
    if scale == 0.0:
        return JointModel(encoding, _constant(encoding.n_ordered, frequencies), 1.0)
    moved = [
        with_columns(one.ensemble, place, encoding.n_ordered)
        for one, place in zip(models, places, strict=True)
    ]
    ensemble = weighted_sum(moved, factors)
    if prior > 0.0:
        ensemble = with_offset(ensemble, on_grid(calibration.offset(frequencies)))
    return JointModel(encoding, ensemble, scale)


def _constant(n_ordered: int, frequencies: Floats) -> Ensemble:
    """Make the ensemble whose probabilities are the class frequencies of every row."""
    builder = EnsembleBuilder(n_ordered, len(frequencies))
    logs = log_frequencies(frequencies)
    builder.append(Leaf(), builder.add_vector(on_grid(logs - logs.min())))
    builder.end_round()
    return builder.build()
