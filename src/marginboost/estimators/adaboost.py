"""The AdaBoost family as scikit-learn classifiers: SAMME, MH, ECC, SIP and MO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from marginboost.boosting.loop import Method
from marginboost.boosting.methods.adaboost_ecc import AdaBoostECC, max_cut, random_half
from marginboost.boosting.methods.adaboost_mh import AdaBoostMH
from marginboost.boosting.methods.adaboost_mo import AdaBoostMO
from marginboost.boosting.methods.adaboost_sip import AdaBoostSIP
from marginboost.boosting.methods.samme import SAMME
from marginboost.boosting.methods.two_votes import Colouring
from marginboost.boosting.round import Round
from marginboost.boosting.train import Trained
from marginboost.boosting.weak.tree import ClassTreeLearner
from marginboost.data.rows import Rows
from marginboost.engine import HostStumpEngine, StumpEngine
from marginboost.estimators.base import Floats
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import check_choice
from marginboost.estimators.weak_learner import WeakLearnerClassifier
from marginboost.model.constant import code_of
from marginboost.model.link import Link, OneAgainstAll, Softmax


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

    def _columns(self, n_classes: int) -> int:
        return 1

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.votes_ = votes_of(trained)


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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        code: str = "random-half",
        learning_rate: float = 1.0,
        max_depth: int = 1,
        max_bins: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
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
        engine: str = "native",
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_bins=max_bins,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            class_weight=class_weight,
            categorical_features=categorical_features,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            max_time=max_time,
            warm_start=warm_start,
            callbacks=callbacks,
            n_jobs=n_jobs,
            engine=engine,
            device=device,
            verbose=verbose,
        )
        self.code = code
        self.random_state = random_state

    def _draw_seed(self, anew: bool) -> None:
        if anew or not hasattr(self, "seed_"):
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

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


@with_shared_docs
class AdaBoostMOClassifier(WeakLearnerClassifier):
    """AdaBoost.MO: the code of all ways to part the classes, a weak classifier a column and round.

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

    def _columns(self, n_classes: int) -> int:
        return int(2 ** (n_classes - 1) - 1)

    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        # Every round keeps a tree a column: two leaves of 12 bytes and a node of 20, and offsets.
        trees = self.n_estimators * self._columns(n_classes) * 64
        return super()._needed_bytes(X, n_classes) + trees

    def _describe_memory(self, n_rows: int, n_features: int, n_classes: int) -> str:
        return (
            f"the exhaustive code of {n_classes} classes has {self._columns(n_classes):,} codewords, "
            "and every row a weight for each; AdaBoostECCClassifier draws one codeword a round "
            "instead, and AdaBoostSIPClassifier chooses it"
        )

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.code_ = code_of(self.ensemble_)
        self.votes_ = votes_of(trained)

    def _link(self, n_classes: int) -> Link:
        # Two classes are parted by 2^(k - 2) of the columns.
        return Softmax(2.0 ** (2 - n_classes))


def votes_of(trained: Trained) -> Floats:
    """Return the one vote of each round; 0 for that of the class frequencies."""
    kept = trained.rounds[: trained.n_kept]
    return np.array([0.0 if trained.splits_nothing else float(finished.w[0]) for finished in kept])
