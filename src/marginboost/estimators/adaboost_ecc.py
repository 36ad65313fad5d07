"""AdaBoost.ECC as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.adaboost_ecc import AdaBoostECC, max_cut, random_half
from marginboost.boosting.methods.two_votes import Colouring
from marginboost.boosting.round import Round
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.choices import ClassWeight, Code, Device, Engine
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import check_choice, store_parameters
from marginboost.estimators.votes import TwoVotesClassifier

__all__ = ["AdaBoostECCClassifier"]


@with_shared_docs
class AdaBoostECCClassifier(TwoVotesClassifier):
    """AdaBoost.ECC: each round a colouring of the classes, and a weak classifier that tells the colours.

    The weak classifier has two votes, one for each thing it may say. `predict_proba` is softmax(2 F).

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>
    code : {"random-half", "max-cut"}, default="random-half"
        How classes are coloured: a random half of them, or so that classes of large weight between them
        are parted.
    random_state : int, RandomState or None, default=None
        Seed of the colourings.

    Attributes
    ----------
    <code_ and votes_>
    seed_ : int
        What the random draws came from.
    <common attributes>

    References
    ----------
    V. Guruswami, A. Sahai: Multiclass learning, boosting, and error-correcting codes. COLT 1999.

    L. Li: Multiclass boosting with repartitioning. ICML 2006.
    """

    code: str

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        code: Code = "random-half",
        learning_rate: float = 1.0,
        max_depth: int = 1,
        max_bins: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: ClassWeight = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 1e-4,
        max_time: float | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Round], object]] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        engine: Engine = "native",
        device: Device = "cpu",
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("code", self.code, ("random-half", "max-cut"))

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        rng = np.random.default_rng(self.seed_)

        def colour(mass: Floats, attempt: int) -> Colouring:
            # A cut that was in vain would be found again: its weights are what they were.
            if self.code == "max-cut" and attempt == 0:
                return max_cut(mass, rng)
            return random_half(len(mass), rng)

        learner = self._learner(data)
        return AdaBoostECC(engine, data, learner, eta=self.learning_rate, colour=colour)
