"""The classifier to use: one tree a round, whose leaves carry a coefficient for every class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from marginboost.backends.host import Backend
from marginboost.boosting.calibration import (
    Calibration,
    calibrate_held_out,
    held_out_share,
)
from marginboost.boosting.frequencies import class_frequencies
from marginboost.boosting.interrupts import Interrupts
from marginboost.boosting.loop import INTERRUPTED, MAX_ROUNDS, boost
from marginboost.boosting.methods.marginboost import MarginBoost, Sampling
from marginboost.boosting.round import Round
from marginboost.boosting.second_fit import Check, Pace, SecondFit
from marginboost.data.memory import tree_fit_bytes
from marginboost.data.row_view import RowView
from marginboost.data.rows import Rows
from marginboost.data.user_warning import warn_user
from marginboost.engine import TreeEngine
from marginboost.engine.threads import effective_threads
from marginboost.engine.trees.growth import GrowthRules
from marginboost.engine.trees.slots import Slots
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.calibrating import Calibrating
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.plan import Plan
from marginboost.estimators.settings import check_bool, check_choice, check_integer, check_real
from marginboost.loss import LOSSES
from marginboost.model.builder import NoEnsemble

# Tiles of lanes that a search sees: with more classes than lanes, some share one, with signs drawn
# anew for every tree. See docs/method.md, and benchmarks/defaults.py for what it costs.
FOLDS = 1

# The default of max_leaf_nodes. One tree serves all classes, so large data need large ones; on small
# data they cost time, and make probabilities worse.
ROWS_A_LEAF = 64
LEAVES = (31, 255)


# The default of subsample. With less than that it is the user's choice, and few rows are worth a word.
USUAL_SUBSAMPLE = 0.5


@with_shared_docs
class MarginBoostClassifier(Calibrating, BoostedClassifier):
    """Large-margin boosting of vector-leaf trees.

    Each round grows one tree for all classes, whose leaves each carry a row of coefficients, where
    other libraries grow a tree a class. The loss is the paper's, of the multi-class margins; a split
    is judged by all classes at once, and a leaf's coefficients have a closed form.

    `predict_proba` is softmax(s * F). A boosted model is surer of itself than it should be, so s is
    the scale of least log loss on rows that it was not shown, or a second fit (`calibrate`).

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds, one tree each.
    loss : {"exponential", "logistic"}, default="exponential"
        Loss of the margins.
    learning_rate : float, default=0.2
        Shrinkage: a leaf's coefficients are multiplied by it. Above 0, at most 1.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree. None: one for every 64 rows, but at least 31 and at most 255.
    max_depth : int or None, default=None
        Most splits between a tree's root and a leaf; None for no limit.
    min_samples_leaf : int, default=5
        Least rows of a leaf.
    l2_regularization : float, default=1.0
        Pseudo-count added to the sums of a leaf, on the scale where the mean weight of a row and class
        is 1/2. The larger, the shorter the steps of leaves that hold little.
    max_features : float, default=0.5
        Share of the features that a tree is grown from, drawn anew each time. Above 0, at most 1.
    subsample : float, default=0.5
        Share of the rows that a tree is grown from, drawn anew each time. Above 0, at most 1. The
        leaves' coefficients are those of all rows. Where the drawn rows have no split, being too few for
        two leaves for example, the tree is grown from all rows.
    max_bins : int, default=64
        Most bins of a feature.
    calibrate : bool, default=True
        Whether to set the scale of the probabilities on rows that were not learned from: the validation
        rows, where there are any; else it takes a second fit, without some rows, of as many rounds. It
        changes neither scores nor predicted classes.
    <columns>
    <validation>
    validation_fraction : float, default=0.1
        Share of the rows of every class to hold out, where early stopping has no other validation rows.
        They are chosen by what is in them, and by `random_state`: the same for any order and any machine.
    n_iter_no_change : int, default=20
        Rounds without an improvement to wait for.
    <tol>
    <stopping>
    <threads>
    random_state : int, RandomState instance or None, default=None
        Draws features, rows, and the rows to hold out.
    <engine>
    <device>

    Attributes
    ----------
    <classes_>
    ensemble_ : Ensemble
        The trees and the vectors of their leaves, in flat arrays.
    n_iter_ : int
        Number of rounds kept; 1, without a split, where the model predicts the class frequencies.
    stop_reason_ : str
        "max_rounds"; "no_violated_constraint": no split gains anything; "early_stopping"; "max_time";
        "callback"; or "interrupted", by Ctrl-C.
    probability_scale_ : float
        The s in softmax(s * F).
    seed_ : int
        What the random draws came from.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in how far its splits move the scores of training rows.
    train_errors_ : ndarray of shape (n_rounds,)
        Training error after each round; a margin of zero counts as one. With early stopping these arrays
        go on after the `n_iter_` rounds that were kept, to the last that was done.
    train_losses_ : ndarray of shape (n_rounds,)
        Mean training loss after each round: over the rows, of the sum over the other classes of
        exp(-margin) or log(1 + exp(-margin)).
    <curves>
    <features>

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from marginboost import MarginBoostClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MarginBoostClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.93
    True
    """

    _accepts_sparse = True

    max_bins: int
    seed_: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        loss: str = "exponential",
        learning_rate: float = 0.2,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 1.0,
        max_features: float = 0.5,
        subsample: float = 0.5,
        max_bins: int = 64,
        calibrate: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-4,
        max_time: float | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Round], object]] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        engine: str = "native",
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.max_time = max_time
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.engine = engine
        self.device = device
        self.verbose = verbose
        self.loss = loss
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.calibrate = calibrate
        self.random_state = random_state

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("loss", self.loss, LOSSES)
        check_integer("max_depth", self.max_depth, 1, none_is="no limit")
        check_integer("max_bins", self.max_bins, 2, 65535)
        check_integer(
            "max_leaf_nodes", self.max_leaf_nodes, 2, 65535, none_is="one for every 64 rows"
        )
        check_integer("min_samples_leaf", self.min_samples_leaf, 1, 2**30)
        check_real("l2_regularization", self.l2_regularization, 0.0)
        check_real("max_features", self.max_features, 0.0, 1.0, low_included=False)
        check_real("subsample", self.subsample, 0.0, 1.0, low_included=False)
        check_bool("calibrate", self.calibrate)

    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        slots = Slots(n_classes, FOLDS)
        two_fits = self.calibrate and not self.early_stopping
        return tree_fit_bytes(
            X.shape[0],
            X.shape[1],
            X.nnz if issparse(X) else X.shape[0] * X.shape[1],
            lanes=slots.lanes * (slots.tiles + slots.folds),
            wide=self.max_bins > 256,
            sparse=issparse(X),
            n_fits=2 if two_fits and effective_threads(self.n_jobs) > 1 else 1,
        )

    @property
    def _split_seed(self) -> int:
        return self.seed_

    def _draw_seed(self, anew: bool) -> None:
        if anew or not hasattr(self, "seed_"):
            self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _make_engine(self, home: Backend) -> TreeEngine:
        return home.make_tree_engine(home.n_threads)

    def _make_method(self, engine: TreeEngine, data: Rows) -> MarginBoost:
        return self._method(engine, data, self._view(None), np.random.default_rng(self.seed_))

    def _view(self, held_out: NDArray[np.uint64] | None) -> RowView:
        """Say what a fit sees of the rows."""
        seed = self.seed_ if self.subsample < 1.0 or held_out is not None else None
        return RowView(seed, held_out)

    def _method(
        self, engine: TreeEngine, data: Rows, view: RowView, rng: np.random.Generator
    ) -> MarginBoost:
        n_features = max(1, round(self.max_features * data.binned.n_features))
        leaves = self.max_leaf_nodes
        if leaves is None:
            leaves = int(min(max(data.n_counted // ROWS_A_LEAF, LEAVES[0]), LEAVES[1]))
        # No leaf is deeper than there are leaves, and an engine's integers may end before Python's.
        depth = None if self.max_depth is None else min(self.max_depth, leaves)
        return MarginBoost(
            engine,
            data,
            LOSSES[self.loss],
            rules=GrowthRules(self.min_samples_leaf, 1.0, leaves, depth),
            sampling=Sampling(n_features, self.subsample),
            pseudo_count=self.l2_regularization,
            eta=self.learning_rate,
            rng=rng,
            slots=Slots(data.n_classes, FOLDS),
            view=view,
        )

    def _warn_of_method(self, method: MarginBoost, data: Rows) -> None:
        if self.subsample < USUAL_SUBSAMPLE and method.n_from_all > method.n_grown / 4:
            least, n_rows = self.min_samples_leaf, self.subsample * data.n_counted
            other = f", or a min_samples_leaf below {least}" if least > 1 and n_rows >= 2 else ""
            warn_user(
                f"subsample={self.subsample:g} lets a tree grow from about "
                f"{n_rows:,.0f} of {data.n_counted:,} rows. In "
                f"{method.n_from_all:,} of {method.n_grown:,} rounds they had no split, and the tree was "
                f"grown from all rows. Set a larger subsample{other}."
            )

    def _boost(self, plan: Plan) -> None:
        # Validation rows set the scale by the way; without, it takes a second fit.
        if self.calibrate and plan.rows is None:
            self._boost_and_calibrate(plan)
        else:
            super()._boost(plan)

    def _boost_and_calibrate(self, plan: Plan) -> None:
        """Fit twice, the second time without some rows, and find the scale that suits those."""
        data, home = plan.data, plan.home
        share = held_out_share(data.n_counted, data.n_classes)
        view = self._view(data.hash_bounds(self.seed_, share))
        # With two fits side by side, each has half of the threads.
        spare = home.n_threads // 2
        engine = home.make_tree_engine(home.n_threads - spare)
        other = home.make_tree_engine(spare) if spare else engine
        if plan.max_time is not None and not spare:
            plan.max_time /= 2  # the other half is the second fit's
        pace = Pace()
        plan.followers.append(pace.step)
        second = SecondFit(
            lambda check: self._calibration(
                data, view, other, pace, _heeding(plan.interrupts, check)
            ),
            beside=spare > 0,
        )
        try:
            self._boost_on(engine, plan)
            if not self._splits_nothing and self.stop_reason_ != INTERRUPTED:
                pace.end(self.n_iter_)
                self._apply(second.result(), plan)
        except KeyboardInterrupt:
            if not plan.has_model:
                raise
            self.stop_reason_ = INTERRUPTED
            self._warn_of(INTERRUPTED, self.n_iter_)
        finally:
            pace.end(0)
            second.stop()

    def _apply(self, found: Calibration, plan: Plan) -> None:
        """Calibrate the model, at once for whoever looks at it."""
        plan.interrupts.put_together()
        try:
            self._apply_calibration(found, plan, None)
            if self._splits_nothing:
                self._cover(plan)
        finally:
            plan.interrupts.done()

    def _calibration(
        self, data: Rows, view: RowView, engine: TreeEngine, pace: Pace, check: Check
    ) -> Calibration:
        """Fit without some rows, for as many rounds as the first fit, and calibrate on those."""
        method = self._method(engine, data, view, np.random.default_rng([self.seed_, 1]))
        builder = NoEnsemble(data.binned.n_features, data.n_classes)

        def look(finished: Round) -> str | None:
            check()
            more = pace.has_more(finished.number)
            check()
            return None if more else MAX_ROUNDS

        reason = boost(method, self.n_estimators, builder, [look])
        if reason == INTERRUPTED:
            raise KeyboardInterrupt
        held_out = engine.held_out()
        if not len(held_out.labels):  # fewer than five rows of every class
            return Calibration(LOSSES[self.loss].probability_factor)
        share = held_out_share(data.n_counted, data.n_classes)
        n_rows = share * data.n_counted
        return calibrate_held_out(held_out, class_frequencies(data), n_rows)


def _heeding(interrupts: Interrupts, check: Check) -> Check:
    """Make a check that also ends the work where there was a Ctrl-C."""

    def both() -> None:
        check()
        if interrupts.heard:
            raise KeyboardInterrupt

    return both
