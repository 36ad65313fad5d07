"""MultiBoost as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marginboost.backends.host import Backend
from marginboost.boosting.loop import Method
from marginboost.boosting.methods.multiboost import STOPPING, MultiBoost, Stopping
from marginboost.boosting.round import Round
from marginboost.boosting.train import Algorithm, Options, Trained
from marginboost.data.training_set import TrainingSet
from marginboost.engine import HostStumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.choices import ClassWeight, Device, Engine, LossName
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import (
    check_bool,
    check_choice,
    check_integer,
    check_real,
    store_parameters,
)
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.loss import LOSSES
from marginboost.model.link import Link, Softmax

__all__ = ["MultiBoostClassifier"]


@with_shared_docs
class MultiBoostClassifier(WeakLearnerClassifier):
    """MultiBoost: totally corrective large-margin multi-class boosting.

    As `MCBoostClassifier`, but after every round the whole of W is found anew, by L-BFGS-B. Accurate in
    few rounds and slow: the paper's method reaches the same accuracy without. `predict_proba` is as for
    `MCBoostClassifier`. It is fitted on the CPU of one machine, not on a GPU or a cluster.

    Parameters
    ----------
    <n_estimators>
    <common parameters>
    loss : {"logistic", "exponential"}, default="logistic"
        Loss of the margins; the logistic one is the paper's choice.
    regularization : float, default=1e-3
        nu: l1 penalty on W, beside the sum of the losses over rows and classes (its logarithm, if
        exponential), as for `MCBoostClassifier`. The paper cross-validates it over 1e-8 ... 5e-3.
    stopping : {"paper", "optimum"}, default="paper"
        When L-BFGS-B ends a round. "paper": at a projected gradient of at most `tol`, at a change of the
        objective of at most 1e-9 (of its value, where that is above 1), or after 100 iterations.
        "optimum": no earlier than at a projected gradient per row of at most `tol`, however many
        iterations and restarts that takes.
    tol : float, default=1e-5
        Largest entry of the projected gradient at which L-BFGS-B stops. For early stopping any lower loss
        is an improvement.
    max_iter : int or None, default=None
        Another limit on the iterations of L-BFGS-B in a round. None for that of `stopping`.
    from_zero : bool, default=False
        Let L-BFGS-B start from W = 0 in every round, and not from the W of the round before. With few
        iterations it then stops short of the optimum, which regularises; see docs/results.md.
    keep_path : bool, default=False
        Keep W after every round, which `staged_predict` needs: n_iter_^2 / 2 rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_iter_, n_classes)
        The paper's W, of the last round.
    coef_path_ : list of ndarrays
        W after every round, if `keep_path`.
    optimality_errors_ : ndarray of shape (n_iter_,)
        Largest KKT residual of all coefficients after each round, in the units of `stopping`.
    <common attributes>

    References
    ----------
    C. Shen, Z. Hao: A direct formulation for totally-corrective multi-class boosting. CVPR 2011.
    """

    _host_only = True
    _no_warm_start_reason = "its solver starts from all of its earlier steps"

    coef_: Floats
    coef_path_: list[Floats]
    optimality_errors_: Floats

    learning_rate = 1.0  # not a parameter: each round computes all coefficients anew
    from_zero: bool
    keep_path: bool
    loss: str
    max_iter: int | None
    regularization: float
    stopping: str

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        loss: LossName = "logistic",
        regularization: float = 1e-3,
        stopping: Literal["paper", "optimum"] = "paper",
        tol: float = 1e-5,
        max_iter: int | None = None,
        from_zero: bool = False,
        keep_path: bool = False,
        max_depth: int = 1,
        max_bins: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: ClassWeight = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
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
        check_choice("loss", self.loss, LOSSES)
        check_real("regularization", self.regularization, 0.0)
        check_choice("stopping", self.stopping, STOPPING)
        check_real("tol", self.tol, 0.0, low_included=False)
        check_integer("max_iter", self.max_iter, 1, none_is="that of stopping")
        check_bool("from_zero", self.from_zero)

    def _make_method(self, engine: HostStumpEngine, data: TrainingSet) -> Method:
        return MultiBoost(
            engine,
            data,
            LOSSES[self.loss],
            self._learner(data),
            nu=self.regularization,
            stopping=self._stopping(),
            from_zero=self.from_zero,
            keep_path=self.keep_path or self.early_stopping,
        )

    def _stopping(self) -> Stopping:
        """Return the named way to stop, with the numbers that the user gave instead of its own."""
        named = STOPPING[self.stopping]
        return named._replace(
            tolerance=self.tol,
            max_iter=named.max_iter if self.max_iter is None else self.max_iter,
        )

    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        return replace(super()._algorithm(backend, n_classes), corrects_rounds=True)

    def _options(self, n_threads: int) -> Options:
        return replace(super()._options(n_threads), improvement=0.0)  # `tol` is the solver's

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        kept = trained.rounds[: trained.n_kept]
        self.coef_ = self.ensemble_.vectors
        self.optimality_errors_ = np.array([finished.optimality_error for finished in kept])
        path = trained.method.path
        if self.keep_path and path is not None:
            self.coef_path_ = [self.coef_] if trained.splits_nothing else path[: len(kept)]

    def _link(self, n_classes: int) -> Link:
        return Softmax(LOSSES[self.loss].probability_factor)

    def _staged_scores(self, X: NDArray[Any]) -> Iterator[Floats]:
        """Yield the scores of every round's own W; needs `keep_path`."""
        if not self.keep_path:
            raise AttributeError(
                "The scores after each round need the W of each round: fit with keep_path=True."
            )
        outputs = [self.ensemble_.weak_outputs(X, j) for j in range(self.n_iter_)]
        for number, W in enumerate(self.coef_path_, start=1):
            yield np.column_stack(outputs[:number]) @ W
