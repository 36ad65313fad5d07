"""SAMME as a scikit-learn classifier."""

from __future__ import annotations

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.samme import SAMME
from marginboost.boosting.train import Trained
from marginboost.boosting.weak.tree import ClassTreeLearner
from marginboost.data.rows import Rows
from marginboost.engine import HostStumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.votes import votes_of
from marginboost.estimators.weak_learner import WeakLearnerClassifier

__all__ = ["SAMMEClassifier"]


@with_shared_docs
class SAMMEClassifier(WeakLearnerClassifier):
    """SAMME: AdaBoost with weak classifiers that name one of the classes.

    Each round fits a classification tree to the weighted rows; its vote for the classes that its leaves
    name is log((1 - err) / err) + log(k - 1). `predict_proba` is softmax(F). It is fitted on the CPU
    of one machine, not on a GPU or a cluster.

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>

    Attributes
    ----------
    votes_ : ndarray of shape (n_iter_,)
        The vote of each round.
    <common attributes>

    References
    ----------
    J. Zhu, H. Zou, S. Rosset, T. Hastie: Multi-class AdaBoost. Statistics and Its Interface 2, 2009.
    """

    _host_only = True
    _no_warm_start_reason = "its trees name classes, by which rows are placed in the search alone"

    votes_: Floats

    def _make_method(self, engine: HostStumpEngine, data: Rows) -> Method:
        learner = ClassTreeLearner(data.binned.thresholds, self.max_depth)
        return SAMME(engine, data, learner, eta=self.learning_rate)

    def _n_outputs(self, n_classes: int) -> int:
        return 1

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.votes_ = votes_of(trained)
