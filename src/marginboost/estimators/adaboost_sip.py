"""AdaBoost.SIP as a scikit-learn classifier."""

from __future__ import annotations

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.adaboost_sip import AdaBoostSIP
from marginboost.data.rows import Rows
from marginboost.engine import StumpEngine
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.votes import TwoVotesClassifier

__all__ = ["AdaBoostSIPClassifier"]


@with_shared_docs
class AdaBoostSIPClassifier(TwoVotesClassifier):
    """AdaBoost.SIP: AdaBoost.ECC with the colouring chosen together with the weak classifier.

    For a given weak classifier the best colour of a class is the sign of the class's own edge, so each
    round adds the weak classifier with the largest sum of `|edge|` over the classes. `predict_proba` is
    softmax(2 F).

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>

    Attributes
    ----------
    <code_ and votes_>
    <common attributes>

    References
    ----------
    B. Zhang, G. Ye, Y. Wang, J. Xu, G. Herman: Finding shareable informative patterns and optimal coding
    matrix for multiclass boosting. ICCV 2009.
    """

    def _make_method(self, engine: StumpEngine, data: Rows) -> Method:
        return AdaBoostSIP(engine, data, self._learner(data), eta=self.learning_rate)
