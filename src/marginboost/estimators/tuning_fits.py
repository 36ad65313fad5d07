"""The fits of a tuner: of settings, each to the rows without a fold or to all rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.loop import INTERRUPTED
from marginboost.estimators.constraints import Constraints
from marginboost.estimators.fold_model import FoldFit, PartModel
from marginboost.estimators.folds import Fold
from marginboost.estimators.marginboost import MarginBoostClassifier
from marginboost.estimators.patience import Patience
from marginboost.estimators.portfolio import TunedSettings
from marginboost.estimators.tuning_rows import TuningRows

__all__ = ["MOST_SEED", "TuningFits"]

# Seeds are below it.
MOST_SEED = np.iinfo(np.int32).max


class TuningFits:
    """Makes fits.

    Parameters
    ----------
    tuner : MarginBoostClassifierCV
        Its parameters that are not chosen hold for every fit.
    rows : TuningRows
        The rows.
    folds : sequence of Fold
        The folds.
    """

    def __init__(self, tuner: Any, rows: TuningRows, folds: Sequence[Fold]) -> None:
        self._rows = rows
        self._folds = folds
        self._scored = [rows.scored(fold.test) for fold in folds]
        self._all = np.unique(np.concatenate([part for fold in folds for part in fold]))
        self._seed = tuner.seed_
        constraints = Constraints.of(tuner, rows.classes, rows.columns.categories)
        self._given: dict[str, Any] = {
            **(constraints.parameters if constraints else {}),
            "calibrate": False,
            "cost_matrix": "equal",
            "classes_order": tuner._order_of_codes(),
            "class_weight": rows.class_weight,
            "categorical_features": rows.categorical,
            "n_jobs": tuner.n_jobs,
            "engine": tuner.engine,
            "device": tuner.device,
        }

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self._folds)

    @property
    def growth(self) -> float:
        """How many times as many rows as a fold's fit a fit of all rows has, at most."""
        return len(self._all) / min(len(fold.train) for fold in self._folds)

    def without(
        self, fold: int, settings: TunedSettings, setting: int, max_time: float
    ) -> FoldFit | None:
        """Fit a setting, which has a number, without a fold, and score the fold; None after a Ctrl-C."""
        rows, (train, test), scored = self._rows, self._folds[fold], self._scored[fold]
        model = self._classifier(
            settings, (setting, fold), callbacks=[Patience(settings.patience)], max_time=max_time
        )
        weighted = rows.sample_weight is not None or rows.class_weight is not None
        weight = scored.weight if weighted else None
        if not self._fit(model, train, rows.matrix[test], scored.labels, weight):
            return None
        return FoldFit(model, rows.matrix, test, scored)

    def of_all(
        self, settings: TunedSettings, setting: int, n_rounds: int, n_fits: int
    ) -> list[PartModel] | None:
        """Fit a setting, which has a number, to all rows several times; None after a Ctrl-C."""
        own, found = settings._replace(n_estimators=n_rounds), []
        for number in range(n_fits):
            model = self._classifier(own, (setting, self.n_folds + number))
            if not self._fit(model, self._all):
                return None
            found.append(PartModel(model.encoding_, model.ensemble_))
        return found

    def _classifier(
        self, settings: TunedSettings, place: tuple[int, int], **more: Any
    ) -> MarginBoostClassifier:
        """Make a classifier; it draws by the numbers of the setting and of the fit."""
        seed = np.random.default_rng([self._seed, *place]).integers(MOST_SEED)
        if settings.is_linear:
            given = self._given | {"calibrate": True}
            model = MarginBoostClassifier(**given, random_state=int(seed))
            model._linear_alone = True
            return model
        return MarginBoostClassifier(
            **settings.parameters, **self._given, **more, random_state=int(seed)
        )

    def _fit(self, model: MarginBoostClassifier, learned: NDArray[np.int64], *scored: Any) -> bool:
        """Fit to some rows; return whether no Ctrl-C ended it."""
        rows = self._rows
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is worth a word was said of all rows
            model.fit(rows.matrix[learned], rows.codes[learned], rows.weights_of(learned), *scored)
        return model.stop_reason_ != INTERRUPTED
