"""The classifier to use: one tree a round, whose leaves carry a coefficient for every class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from marginboost.backends.host import Backend
from marginboost.boosting.methods.marginboost import MarginBoost, Sampling
from marginboost.boosting.round import Round
from marginboost.boosting.train import Algorithm, Trained
from marginboost.data.memory import tree_fit_bytes
from marginboost.data.row_view import RowView
from marginboost.data.rows import Rows
from marginboost.data.user_warning import warn_user
from marginboost.engine import TreeEngine
from marginboost.engine.threads import effective_threads
from marginboost.engine.trees.growth import GrowthRules
from marginboost.engine.trees.slots import Slots
from marginboost.estimators.calibrated import CalibratedClassifier
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import check_bool, check_choice, check_integer, check_real
from marginboost.loss import LOSSES
from marginboost.model.link import Softmax

# The default of max_leaf_nodes. One tree serves all classes, so large data need large ones; on small
# data they cost time, and make probabilities worse.
ROWS_A_LEAF = 64
LEAVES = (31, 255)


# The default of subsample. With less than that it is the user's choice, and few rows are worth a word.
USUAL_SUBSAMPLE = 0.5


@with_shared_docs
class MarginBoostClassifier(CalibratedClassifier):
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

    _sparse_formats = ("csr", "csc")

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
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
        slots = Slots(n_classes)
        two_fits = self.calibrate and not self.early_stopping
        return tree_fit_bytes(
            X.shape[0],
            X.shape[1],
            X.nnz if issparse(X) else X.shape[0] * X.shape[1],
            lanes=slots.lanes * (slots.tiles + 1),
            wide=self.max_bins > 256,
            sparse=issparse(X),
            n_fits=2 if two_fits and effective_threads(self.n_jobs) > 1 else 1,
        )

    def _draw_seed(self, anew: bool) -> None:
        if anew or not hasattr(self, "seed_"):
            self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        scale = LOSSES[self.loss].probability_factor
        return Algorithm(
            backend.make_tree_engine,
            self._make_method,
            Softmax,
            scale,
            seed=self.seed_,
            second_fit=True,
        )

    def _make_method(
        self, engine: TreeEngine, data: Rows, bounds: NDArray[np.uint64] | None, stream: int
    ) -> MarginBoost:
        """Make the method; rows whose hashes are below the bounds of their class are held out."""
        seed = self.seed_ if self.subsample < 1.0 or bounds is not None else None
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
            rng=np.random.default_rng([self.seed_, stream] if stream else self.seed_),
            slots=Slots(data.n_classes),
            view=RowView(seed, bounds),
        )

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        method = trained.method
        if self.subsample < USUAL_SUBSAMPLE and method.n_from_all > method.n_grown / 4:
            self._warn_of_small_samples(method, trained.data.n_counted)

    def _warn_of_small_samples(self, method: MarginBoost, n_counted: int) -> None:
        """Warn that many trees were grown from all rows, because a sample had no split."""
        least, n_rows = self.min_samples_leaf, self.subsample * n_counted
        other = f", or a min_samples_leaf below {least}" if least > 1 and n_rows >= 2 else ""
        warn_user(
            f"subsample={self.subsample:g} lets a tree grow from about "
            f"{n_rows:,.0f} of {n_counted:,} rows. In "
            f"{method.n_from_all:,} of {method.n_grown:,} rounds they had no split, and the tree was "
            f"grown from all rows. Set a larger subsample{other}."
        )
