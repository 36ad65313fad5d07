"""The paper's method as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marginboost.backends.host import Backend
from marginboost.boosting.loop import Method
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.round import Round
from marginboost.boosting.train import Algorithm, Trained
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.calibrated import CalibratedClassifier
from marginboost.estimators.choices import ClassWeight, Device, Engine, LossName
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import check_bool, check_choice, check_real, store_parameters
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.loss import LOSSES
from marginboost.model.link import Softmax


@with_shared_docs
class MCBoostClassifier(CalibratedClassifier, WeakLearnerClassifier):
    """Stage-wise large-margin multi-class boosting (MCBoost).

    Weak classifiers h_j(x) in {-1, +1} are shared by all classes through a matrix W >= 0:
    F(x) = sum of h_j(x) W[j, :]. Each round adds the weak classifier with the largest edge for any
    class, and the row of W that minimises the loss of all multi-class margins. The defaults are the
    paper's.

    The loss is a sum over pairs of classes, and each pair's expected loss is least where F_a - F_b is
    log(p_a / p_b) / c; so `predict_proba` is softmax(c * F), with c = 2 for the exponential loss and 1
    for the logistic one; or what suits the validation rows best, where there are any.

    Parameters
    ----------
    n_estimators : int, default=500
        Most rounds, one weak classifier each.
    loss : {"exponential", "logistic"}, default="exponential"
        Loss of the margins. The exponential one fits faster; the logistic one is less moved by
        mislabelled rows and gives better probabilities.
    learning_rate : float, default=0.5
        Shrinkage: each row of W is multiplied by it. Above 0, at most 1.
    regularization : float, default=1e-9
        The paper's nu: l1 penalty on W, and the edge at which boosting stops.
    max_step : float or None, default=None
        The paper's kappa: no coefficient of a round exceeds it. None for no bound.
    max_depth : int, default=1
        Depth of the weak classifiers; 1 for stumps, which is all that a GPU or a cluster can fit.
    max_bins : int or None, default=None
        None searches every threshold between two distinct values of a feature. A number puts the
        values of a feature into at most so many bins of about equal counts, and searches between
        those: 255 is fast and rarely worse.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the rows' weight in a leaf, from 0 to 0.5. Worth setting where weights differ
        widely: it keeps splits from fencing in rows that hardly count.
    calibrate : bool, default=True
        Whether the c of `predict_proba` is the one of least log loss on the validation rows, where there
        are any. It changes neither scores nor predicted classes.
    <costs>
    <columns>
    <validation>
    validation_fraction : float, default=0.1
        Share of the rows of every class to hold out, where early stopping has no other validation rows.
        They are chosen by what is in them, so they are the same for any order and any machine.
    n_iter_no_change : int, default=50
        Rounds without an improvement to wait for.
    <tol>
    <stopping>
    <threads>
    engine : {"native", "reference"}, default="native"
        Where the sums are made: in C++, or in NumPy, slowly, for reading and checking. The model does
        not depend on it.
    <device>

    Attributes
    ----------
    <classes_>
    <costs_>
    coef_ : ndarray of shape (n_iter_, n_classes)
        The paper's W.
    ensemble_ : Ensemble
        The weak classifiers and W, in flat arrays.
    n_iter_ : int
        Number of rounds kept; 1, without a split, where the model predicts the class frequencies.
    stop_reason_ : str
        "max_rounds"; "no_violated_constraint": no weak classifier has an edge above `regularization`;
        "early_stopping"; "max_time"; "callback"; or "interrupted", by Ctrl-C.
    probability_scale_ : float
        The c in softmax(c * F).
    <frequencies>
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in how far its splits move the scores of training rows.
    train_errors_ : ndarray of shape (n_rounds,)
        Training error after each round; a margin of zero counts as one. With early stopping these arrays
        go on after the `n_iter_` rounds that were kept, to the last that was done.
    train_losses_ : ndarray of shape (n_rounds,)
        Mean training loss after each round: the sum over the other classes of exp(-margin); NaN for the
        logistic loss, which its sums do not give.
    <curves>
    optimality_errors_ : ndarray of shape (n_iter_,)
        How far each row of W was from the minimum, before shrinkage: the largest KKT residual,
        relative to the loss.
    <features>

    References
    ----------
    S. Paisitkriangkrai, C. Shen, A. van den Hengel: A scalable stage-wise approach to large-margin
    multi-class loss based boosting. IEEE Transactions on Neural Networks and Learning Systems, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from marginboost import MCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCBoostClassifier(n_estimators=50).fit(X, y)
    >>> model.coef_.shape
    (50, 3)
    >>> round(model.score(X, y), 2)
    0.99
    """

    coef_: Floats
    optimality_errors_: Floats

    regularization: float
    max_step: Any

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        loss: LossName = "exponential",
        learning_rate: float = 0.5,
        regularization: float = 1e-9,
        max_step: float | None = None,
        max_depth: int = 1,
        max_bins: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        calibrate: bool = True,
        cost_matrix: Any = None,
        classes_order: Sequence[Any] | None = None,
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
        check_choice("loss", self.loss, LOSSES)
        check_real("regularization", self.regularization, 0.0)
        check_bool("calibrate", self.calibrate)
        if self.cost_matrix is not None or self.classes_order is not None:
            self._check_costs()
        check_real("max_step", self.max_step, 0.0, low_included=False, none_is="no bound")

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        return MCBoost(
            engine,
            data,
            LOSSES[self.loss],
            self._learner(data),
            nu=self.regularization,
            eta=self.learning_rate,
            kappa=self.max_step,
        )

    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        algorithm = super()._algorithm(backend, n_classes)
        return replace(algorithm, link=Softmax, scale=LOSSES[self.loss].probability_factor)

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        kept = trained.rounds[: trained.n_kept]
        self.coef_ = self.ensemble_.vectors[: self.n_iter_]
        self.optimality_errors_ = np.array([finished.optimality_error for finished in kept])
