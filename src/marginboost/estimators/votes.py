"""The votes of the rounds: one, or one for each thing that the weak classifier may say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.train import Trained
from marginboost.estimators.base import Floats
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.model.constant import code_of
from marginboost.model.link import Link, Softmax

__all__ = ["TwoVotesClassifier", "votes_of"]


class TwoVotesClassifier(WeakLearnerClassifier):
    """What AdaBoost.ECC and AdaBoost.SIP keep of a fit."""

    code_: NDArray[np.int8]
    votes_: Floats

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.code_ = code_of(self.ensemble_)
        self.votes_ = np.zeros((trained.n_kept, 2))
        if not trained.splits_nothing:
            kept = trained.rounds[: trained.n_kept]
            self.votes_ = np.array([finished.w for finished in kept]).reshape(-1, 2)

    def _link(self, n_classes: int) -> Link:
        return Softmax(2.0)


def votes_of(trained: Trained) -> Floats:
    """Return the one vote of each round; 0 for that of the class frequencies."""
    kept = trained.rounds[: trained.n_kept]
    return np.array([0.0 if trained.splits_nothing else float(finished.w[0]) for finished in kept])
