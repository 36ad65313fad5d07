"""What a tuner adds up: the settings that it blends, with their fits of folds and of all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.cross_fit import Blend, FoldRows, cross_fitted_score, find_blend
from marginboost.estimators.fold_model import FoldFit, FoldModel, PartModel, common_rounds
from marginboost.model.calibration_rows import CalibrationRows

__all__ = ["TunedPart", "TunedSum"]

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class TunedPart:
    """A setting in the sum.

    Attributes
    ----------
    setting : int
        Its number.
    n_rounds : int
        Rounds of each fit of all rows: the median of those of folds, some of which end early.
    share : float
        Its share.
    factor : float
        What the mean of its fits is multiplied by.
    models : list of PartModel
        Its fits, each as good as any other: of folds, and then of all rows.
    n_whole : int
        How many of them are of all rows.
    """

    setting: int
    n_rounds: int
    share: float
    factor: float
    models: list[PartModel]
    n_whole: int = 0

    def add(self, models: Sequence[PartModel]) -> None:
        """Add fits of all rows."""
        self.models += models
        self.n_whole += len(models)


@dataclass(frozen=True, slots=True, eq=False)
class TunedSum:
    """The settings of least log loss together, on rows that their fits have not seen.

    Attributes
    ----------
    parts : list of TunedPart
        The settings that have a share, the largest first.
    blend : Blend
        The shares, and how the sum becomes probabilities.
    score : tuple of float
        Error and log loss of rows that neither the fits nor the shares have seen.
    held_out : CalibrationRows or None
        The probabilities of rows that the fits have not seen.
    """

    parts: list[TunedPart]
    blend: Blend
    score: tuple[float, float]
    held_out: CalibrationRows | None

    @classmethod
    def of(
        cls,
        settings: Sequence[int],
        folds: Sequence[int],
        fits: Mapping[tuple[int, int], FoldFit],
        frequencies: Floats,
    ) -> TunedSum:
        """Blend settings.

        Parameters
        ----------
        settings, folds : sequence of int
            Which of the fits to use.
        fits : dict from (setting, fold) to FoldFit
            The fits.
        frequencies : float64 array of n_classes
            Of the classes.
        """
        models: list[list[FoldModel]] = []
        for setting in settings:
            own = [fits[setting, fold] for fold in folds]
            n_rounds = common_rounds(own)
            models.append([fit.cut(n_rounds) for fit in own])
        scored = [fits[settings[0], fold].rows for fold in folds]
        logs = [[model.logs for model in own] for own in models]
        joined, rows = [np.concatenate(own) for own in logs], FoldRows.join(scored)
        blend = find_blend(joined, rows, frequencies)
        parts = [
            TunedPart(
                settings[at],
                round(median(model.ensemble.n_rounds for model in models[at])),
                float(blend.shares[at]),
                float(blend.factors[at]),
                list(models[at]),
            )
            for at in np.argsort(-blend.shares, kind="stable").tolist()
            if blend.shares[at] > 0.0
        ]
        score = cross_fitted_score(logs, scored, frequencies)
        return cls(parts, blend, score, blend.calibrated_rows(joined, rows, frequencies))

    @property
    def is_constant(self) -> bool:
        """Whether no setting adds anything to the class frequencies."""
        return self.blend.calibration.scale == 0.0

    @property
    def models(self) -> list[PartModel]:
        """The fits of all parts."""
        return [model for part in self.parts for model in part.models]

    @property
    def factors(self) -> list[float]:
        """What the scores of each fit are multiplied by."""
        return [part.factor / len(part.models) for part in self.parts for _ in part.models]
