"""JointBoost as a scikit-learn classifier."""

from __future__ import annotations

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.jointboost import JointBoost
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.model.link import Link, OneAgainstAll

__all__ = ["JointBoostClassifier"]


@with_shared_docs
class JointBoostClassifier(WeakLearnerClassifier):
    """JointBoost: regression stumps that a growing set of classes shares.

    One binary question a class, weights as in AdaBoost.MH; each round fits a stump by weighted least
    squares for the set of classes that gains most from sharing it. `predict_proba` is the logistic
    function of 2 F, scaled to sum to 1.

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>

    Attributes
    ----------
    <common attributes>

    References
    ----------
    A. Torralba, K. P. Murphy, W. T. Freeman: Sharing visual features for multiclass and multiview object
    detection. IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.
    """

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        return JointBoost(engine, data, max_depth=self.max_depth, eta=self.learning_rate)

    def _n_outputs(self, n_classes: int) -> int:
        return 2 * n_classes

    def _link(self, n_classes: int) -> Link:
        return OneAgainstAll()
