"""What the classifiers share whose probabilities are softmax(s * F), with an s that may be learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marginboost.boosting.frequencies import class_frequencies
from marginboost.coefficients.grid import on_grid
from marginboost.data.user_warning import warn_user
from marginboost.estimators.training import Training
from marginboost.loss import LOSSES
from marginboost.model.constant import with_offset
from marginboost.model.link import Link, Softmax

if TYPE_CHECKING:
    from marginboost.boosting.calibration import Calibration
    from marginboost.boosting.validation import Validation
    from marginboost.estimators.plan import Plan
    from marginboost.model.builder import EnsembleBuilder

__all__ = ["Calibrating"]


class Calibrating(Training):
    """A classifier with a `probability_scale_`."""

    loss: str
    calibrate: bool
    probability_scale_: float

    def _link(self, n_classes: int) -> Link:
        return Softmax(self.probability_scale_)

    def _interim(self, builder: EnsembleBuilder) -> dict[str, Any]:
        scale = LOSSES[self.loss].probability_factor
        return {**super()._interim(builder), "probability_scale_": scale}

    def _set_scale(self) -> None:
        self.probability_scale_ = LOSSES[self.loss].probability_factor

    def _calibrate(self, plan: Plan, validation: Validation) -> None:
        if self.calibrate:
            found = validation.calibrate(class_frequencies(plan.data))
            self._apply_calibration(found, plan, validation)

    def _apply_calibration(
        self, found: Calibration, plan: Plan, validation: Validation | None
    ) -> None:
        """Set the scale; add the class frequencies where they are needed, or settle for them."""
        if found.scale == 0.0:
            self._settle_for_frequencies(plan, validation)
            warn_user(
                "On the rows that were held out, the rounds of the model add nothing to the class "
                "frequencies: the model predicts those for every row. Have more rows, or set "
                "calibrate=False to keep the rounds."
            )
            return
        if found.prior > 0.0:
            offset = on_grid(found.offset(class_frequencies(plan.data)))
            self.ensemble_ = with_offset(self.ensemble_, offset)
            if validation is not None:
                self.validation_score_ = 1.0 - validation.replace(self.ensemble_).error
        self.probability_scale_ = found.scale
