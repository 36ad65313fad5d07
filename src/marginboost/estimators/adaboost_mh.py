"""AdaBoost.MH as a scikit-learn classifier."""

from __future__ import annotations

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.adaboost_mh import AdaBoostMH
from marginboost.boosting.train import Trained
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.model.link import Link, OneAgainstAll

__all__ = ["AdaBoostMHClassifier"]


@with_shared_docs
class AdaBoostMHClassifier(WeakLearnerClassifier):
    """AdaBoost.MH: one binary question a class, one weak classifier for all of them.

    Each round adds the weak classifier with the largest sum of `|edge|` over the questions "is it class
    r?"; it votes for or against each class. `predict_proba` is the logistic function of 2 F, scaled to
    sum to 1.

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>

    Attributes
    ----------
    coef_ : ndarray of shape (n_iter_, n_classes)
        W: the vote of each round for (+) or against (-) each class.
    <common attributes>

    References
    ----------
    R. E. Schapire, Y. Singer: Improved boosting algorithms using confidence-rated predictions. Machine
    Learning 37, 1999.
    """

    coef_: Floats

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        return AdaBoostMH(engine, data, self._learner(data), eta=self.learning_rate)

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.coef_ = self.ensemble_.vectors

    def _link(self, n_classes: int) -> Link:
        return OneAgainstAll()
