"""What the classifiers share whose probabilities are softmax(s * F), with an s that may be learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marginboost.boosting.calibration import class_frequencies
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.decisions import CostSensitive
from marginboost.estimators.prediction_sets import PredictionSets
from marginboost.loss import LOSSES
from marginboost.model.link import Link, Softmax

if TYPE_CHECKING:
    from marginboost.boosting.resume import Earlier
    from marginboost.boosting.train import Trained
    from marginboost.model.builder import EnsembleBuilder

__all__ = ["CalibratedClassifier"]


class CalibratedClassifier(CostSensitive, PredictionSets, BoostedClassifier):
    """A classifier with a `probability_scale_`."""

    loss: str
    calibrate: bool
    probability_scale_: float

    def _link(self, n_classes: int) -> Link:
        return Softmax(self.probability_scale_)

    def _interim(self, builder: EnsembleBuilder) -> dict[str, Any]:
        loss = LOSSES.get(self.loss, LOSSES["exponential"])  # "auto": before a choice
        scale = loss.probability_factor
        return {**super()._interim(builder), "probability_scale_": scale}

    def _set_fitted(self, trained: Trained) -> None:
        self.probability_scale_ = trained.scale
        super()._set_fitted(trained)
        self._set_calibration(class_frequencies(trained.data), trained.held_out)

    def _earlier_model(self) -> Earlier | None:
        if self._has_other_frequencies:
            raise ValueError(
                "warm_start must resume a model at the class frequencies of its training; got a copy at "
                "others. Resume the model that with_class_frequencies was called on."
            )
        return super()._earlier_model()
