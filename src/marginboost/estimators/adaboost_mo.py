"""AdaBoost.MO as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.adaboost_mo import AdaBoostMO
from marginboost.boosting.train import Trained
from marginboost.data.rows import Rows
from marginboost.engine import HostStumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.votes import votes_of
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.model.constant import code_of
from marginboost.model.link import Link, Softmax

__all__ = ["AdaBoostMOClassifier"]


@with_shared_docs
class AdaBoostMOClassifier(WeakLearnerClassifier):
    """AdaBoost.MO: the code of all ways to part the classes, a weak classifier per column and round.

    With k classes the code has 2^(k - 1) - 1 columns, so this is for few classes: each round trains as
    many weak classifiers. `predict_proba` is the softmax of the columns' mean log-odds for the class, an
    estimate that, unlike those of the other methods, is not derived from the loss. It is fitted on the
    CPU of one machine, not on a GPU or a cluster.

    Parameters
    ----------
    <n_estimators>
    <learning_rate>
    <common parameters>
    <tol>

    Attributes
    ----------
    code_ : ndarray of shape (n_columns, n_classes)
        The code, -1 and +1.
    votes_ : ndarray of shape (n_iter_,)
        The vote of each round.
    <common attributes>

    References
    ----------
    R. E. Schapire, Y. Singer: Improved boosting algorithms using confidence-rated predictions. Machine
    Learning 37, 1999.
    """

    _host_only = True

    code_: NDArray[np.int8]
    votes_: Floats

    def _make_method(self, engine: HostStumpEngine, data: Rows) -> Method:
        return AdaBoostMO(engine, data, self._learner(data), eta=self.learning_rate)

    def _n_outputs(self, n_classes: int) -> int:
        return int(2 ** (n_classes - 1) - 1)

    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        # Every round keeps a tree per output: two leaves of 12 bytes and a node of 20, and offsets.
        trees = self.n_estimators * self._n_outputs(n_classes) * 64
        return super()._needed_bytes(X, n_classes) + trees

    def _describe_memory(self, n_rows: int, n_features: int, n_classes: int) -> str:
        return (
            f"the exhaustive code of {n_classes} classes has {self._n_outputs(n_classes):,} codewords, "
            "and every row a weight for each; AdaBoostECCClassifier draws one codeword per round "
            "instead, and AdaBoostSIPClassifier chooses it"
        )

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.code_ = code_of(self.ensemble_)
        self.votes_ = votes_of(trained)

    def _link(self, n_classes: int) -> Link:
        # Two classes are parted by 2^(k - 2) of the columns.
        return Softmax(2.0 ** (2 - n_classes))
