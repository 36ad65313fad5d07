"""GradBoost as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.gradboost import GradBoost
from marginboost.boosting.round import Round
from marginboost.boosting.train import Trained
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.choices import ClassWeight, Device, Engine
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import check_real, store_parameters
from marginboost.estimators.weak_learner import WeakLearnerClassifier

__all__ = ["GradBoostClassifier"]


@with_shared_docs
class GradBoostClassifier(WeakLearnerClassifier):
    """GradBoost: steps on a quadratic bound of the multi-class logistic loss, with group shrinkage.

    The objective is the mean of log(1 + sum of exp(-margin)), plus `regularization` times the l2 norm of
    each weak classifier's row of W (the l1/l2 norm of W). `predict_proba` is softmax(F).

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>
    regularization : float, default=1e-5
        Weight of the l1/l2 norm. The paper cross-validates it over 5e-7 ... 1e-1.

    Attributes
    ----------
    coef_ : ndarray of shape (n_iter_, n_classes)
        W: what each round adds.
    <common attributes>

    References
    ----------
    J. Duchi, Y. Singer: Boosting with structural sparsity. ICML 2009.
    """

    coef_: Floats

    regularization: float

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        regularization: float = 1e-5,
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
        n_jobs: int | None = None,
        engine: Engine = "native",
        device: Device = "cpu",
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("regularization", self.regularization, 0.0)

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        return GradBoost(
            engine,
            data,
            self._learner(data),
            eta=self.learning_rate,
            penalty=self.regularization,
        )

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.coef_ = self.ensemble_.vectors
