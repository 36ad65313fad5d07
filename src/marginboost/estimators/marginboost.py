"""The classifier to use: one tree per round, whose leaves carry a coefficient for every class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from marginboost.backends.host import Backend
from marginboost.backends.requirements import Requirements, Sized
from marginboost.boosting.calibration import held_out_share
from marginboost.boosting.methods.marginboost import MarginBoost
from marginboost.boosting.repeats import side_by_side
from marginboost.boosting.round import Round
from marginboost.boosting.run import Candidate, LinearCandidate, Settings
from marginboost.boosting.train import Algorithm, Trained
from marginboost.boosting.tree_draws import Sampling
from marginboost.data.memory import in_words, tree_fit_bytes
from marginboost.data.row_view import RowView
from marginboost.data.rows import Rows
from marginboost.data.user_warning import warn_user
from marginboost.engine import TreeEngine
from marginboost.engine.threads import effective_threads
from marginboost.engine.trees.growth import GrowthRules
from marginboost.engine.trees.slots import Slots
from marginboost.estimators.calibrated import CalibratedClassifier
from marginboost.estimators.candidates import (
    BINS,
    CHOSEN_BINS,
    ROUNDS,
    candidate_settings,
    described,
    linear_settings,
    may_follow_rules,
    rounds_of_candidates,
)
from marginboost.estimators.choices import Auto, ClassWeight, Device, Engine, LossName
from marginboost.estimators.constraints import Constraints, check_constraints
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.settings import (
    AUTO,
    check_bool,
    check_choice,
    check_integer,
    check_real,
    is_auto,
    store_parameters,
)
from marginboost.loss import LOSSES, weigh_by_distance
from marginboost.model.link import Softmax

# With a smaller subsample it is the user's choice, and few rows are worth a word.
USUAL_SUBSAMPLE = 0.5


@with_shared_docs
class MarginBoostClassifier(CalibratedClassifier):
    """Large-margin boosting of vector-leaf trees.

    Each round grows one tree for all classes, whose leaves each carry a row of coefficients, where
    other libraries grow one per class. The loss is the paper's, of the multi-class margins; a split
    is judged by all classes at once, and a leaf's coefficients have a closed form.

    `predict_proba` is softmax(s * F). A boosted model is surer of itself than it should be, so s is
    the scale of least log loss on rows that it was not shown, or a second fit (`calibrate`).

    With its defaults a fit decides what people tune by hand: see `chosen_`, and the page on defaults.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Rounds, one tree each. "auto": the fit chooses them, and everything else that is left at "auto",
        by trials on held-out rows, or by the validation rows where `fit` gets any; the model may be the
        sum of several fits. A number: that many rounds of one fit, and nothing is chosen. Nothing is
        chosen either with `calibrate=False`, `early_stopping` or `warm_start`; then "auto" means 100
        rounds.
    loss : {"auto", "exponential", "logistic"}, default="auto"
        Loss of the margins. Where nothing is chosen, "auto" means "exponential".
    learning_rate : float or "auto", default="auto"
        Shrinkage: a leaf's coefficients are multiplied by it. Above 0, at most 1. "auto" means 0.1 where
        settings are chosen, else 0.2.
    max_leaf_nodes : int, "auto" or None, default="auto"
        Most leaves of a tree. None: one for every 64 rows, but at least 31 and at most 255. Where nothing
        is chosen, "auto" means the same.
    max_depth : int or None, default=None
        Most splits between a tree's root and a leaf; None for no limit.
    min_samples_leaf : int, default=5
        Least rows of a leaf.
    l2_regularization : float, default=1.0
        Pseudo-count added to the sums of a leaf, on the scale where the mean weight of a row and class
        is 1/2. The larger, the shorter the steps of leaves that hold little.
    max_features : float or "auto", default="auto"
        Share of the features that a tree is grown from, drawn anew each time. Above 0, at most 1. Where
        nothing is chosen, "auto" means 0.5.
    subsample : float or "auto", default="auto"
        Share of the rows that a tree is grown from, drawn anew each time. Above 0, at most 1. The
        leaves' coefficients are those of all rows. Where the drawn rows have no split, being too few for
        two leaves for example, the tree is grown from all rows. Where nothing is chosen, "auto" means
        0.5.
    max_bins : int or "auto", default="auto"
        Most bins of a feature. "auto" means 255 where settings are chosen, else 64.
    <constraints>
    calibrate : bool, default=True
        Whether to set the scale of the probabilities on rows that were not learned from: the validation
        rows, where there are any; else it takes a second fit, without some rows, of as many rounds. It
        changes neither scores nor predicted classes.
    <costs>
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
    <costs_>
    ensemble_ : Ensemble
        The trees and the vectors of their leaves, in flat arrays.
    n_iter_ : int
        Number of rounds kept, of all parts; 1, without a split, where the model predicts the class
        frequencies.
    stop_reason_ : str
        "max_rounds"; "no_violated_constraint": no split gains anything; "early_stopping": held-out rows
        or validation rows say so; "max_time"; "callback"; or "interrupted", by Ctrl-C.
    probability_scale_ : float
        The s in softmax(s * F).
    <frequencies>
    seed_ : int
        What the random draws came from.
    chosen_ : dict
        What the fit has decided. "parts": the settings of each fit that the model is the sum of, with its
        rounds (`n_estimators`), its share in the scores, the largest first, and of how many `fits` it is
        the mean. The part "linear", of one round, is softmax regression on the columns with a "penalty".
        "held_out_error" and "held_out_loss": error and log loss of the trials on the rows that they did
        not see; NaN where nothing was chosen.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in how far its splits move the scores of training rows.
    train_errors_ : ndarray of shape (n_rounds,)
        Training error after each round; a margin of zero counts as one. With early stopping these arrays
        go on after the `n_iter_` rounds that were kept, to the last that was done. Where the model is the
        sum of several fits, each round's is that of its own fit.
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

    _accepts_auto = True

    # Whether the linear candidate is the only one; the tuner says so.
    _linear_alone = False

    n_estimators: Any
    learning_rate: Any
    max_bins: Any
    max_features: Any
    subsample: Any
    chosen_: dict[str, Any]

    interaction_cst: Any
    l2_regularization: float
    max_depth: int | None
    max_leaf_nodes: Any
    min_samples_leaf: int
    monotonic_cst: Any

    def __init__(
        self,
        n_estimators: int | Auto = "auto",
        *,
        loss: LossName | Auto = "auto",
        learning_rate: float | Auto = "auto",
        max_leaf_nodes: int | Auto | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 1.0,
        max_features: float | Auto = "auto",
        subsample: float | Auto = "auto",
        max_bins: int | Auto = "auto",
        interaction_cst: Any = None,
        monotonic_cst: Any = None,
        calibrate: bool = True,
        cost_matrix: Any = None,
        classes_order: Sequence[Any] | None = None,
        class_weight: ClassWeight = None,
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
        engine: Engine = "native",
        device: Device = "cpu",
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, (*LOSSES, AUTO))
        check_integer("max_depth", self.max_depth, 1, none_is="no limit")
        check_integer("max_bins", self.max_bins, 2, 65535, auto=True)
        none_is = "one for every 64 rows"
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, 65535, none_is=none_is, auto=True)
        check_integer("min_samples_leaf", self.min_samples_leaf, 1, 2**30)
        check_real("l2_regularization", self.l2_regularization, 0.0)
        check_real("max_features", self.max_features, 0.0, 1.0, low_included=False, auto=True)
        check_real("subsample", self.subsample, 0.0, 1.0, low_included=False, auto=True)
        if self.interaction_cst is not None or self.monotonic_cst is not None:
            check_constraints(self.interaction_cst, self.monotonic_cst)
        check_bool("calibrate", self.calibrate)
        if self.cost_matrix is not None or self.classes_order is not None:
            self._check_costs()

    def _chooses(self) -> bool:
        """Whether the fit chooses what is left to it."""
        alone = not self.early_stopping and not self.warm_start
        return is_auto(self.n_estimators) and self.calibrate and alone

    def _requirements(self, X_val: Any = None) -> Requirements:
        bins = self.max_bins
        if is_auto(bins):
            bins = CHOSEN_BINS if self._chooses() else BINS
        return replace(super()._requirements(X_val), max_bins=bins)

    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        slots, (n_rows, n_features), sparse = Slots(n_classes), X.shape, issparse(X)
        rounds = ROUNDS if is_auto(self.n_estimators) else int(self.n_estimators)
        # Rows that go in different ways are of different leaves.
        leaves = min(self._settings("given", n_rows).max_leaf_nodes, n_rows)
        fits_twice = self.calibrate and not self.early_stopping
        held_out = held_out_share(n_rows, n_classes) * n_rows if fits_twice else 0.0
        threads = effective_threads(self.n_jobs)
        n_fits = min(2, threads) if fits_twice else 1
        if self._chooses():
            n_fits = side_by_side(n_rows, n_classes, threads)
        directions = slots.stored if self.device == "cpu" else slots.lanes * slots.tiles
        return tree_fit_bytes(
            n_rows,
            n_features,
            X.nnz if sparse else n_rows * n_features,
            lanes=slots.lanes + directions,
            wide=not is_auto(self.max_bins) and self.max_bins > 256,
            sparse=sparse,
            n_fits=n_fits,
            model_size=rounds * leaves * n_classes,
            held_out_size=held_out * n_classes,
        )

    def _describe_memory(self, n_rows: int, n_features: int, n_classes: int) -> str:
        shape = super()._describe_memory(n_rows, n_features, n_classes)
        if not self.calibrate or self.early_stopping or effective_threads(self.n_jobs) == 1:
            return shape
        alone = clone(self).set_params(n_jobs=1)
        least = in_words(alone._needed_bytes(Sized((n_rows, n_features)), n_classes))
        return f"{shape}; about {least} with n_jobs=1 if X is dense: one fit after the other"

    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        constraints = Constraints.of(self, self.classes_, self.encoding_.categories)
        loss = "exponential" if is_auto(self.loss) else self.loss
        return Algorithm(
            backend.make_tree_engine,
            partial(self._make_method, constraints, None),
            Softmax,
            LOSSES[loss].probability_factor,
            seed=self.seed_,
            second_fit=True,
            candidates=partial(self._candidates, constraints) if self._chooses() else None,
            linear=self._linear(constraints) if self._chooses() else None,
            exact_factors=constraints is not None and bool(constraints.rules),
        )

    def _candidates(self, constraints: Constraints | None, data: Rows) -> list[Candidate]:
        """Return the settings to choose from; those for clean data first."""
        if self._linear_alone:
            return []
        found: dict[tuple[Any, ...], Candidate] = {}
        shape = data.n_counted, self.n_features_in_
        rules = may_follow_rules(*shape, data.binned.n_bins)
        rounds = rounds_of_candidates(*shape, data.n_classes, rules=rules)
        for name, (least, most) in rounds.items():
            settings = self._settings(name, *shape)
            make_method = partial(self._make_method, constraints, settings)
            found.setdefault(settings[1:], Candidate(settings, make_method, most, least))
        return list(found.values())

    def _linear(self, constraints: Constraints | None) -> LinearCandidate | None:
        """Return the linear candidate, where nothing that was given speaks against it."""
        of_trees = (self.loss, self.max_leaf_nodes)
        if not all(map(is_auto, of_trees)) or self.max_depth is not None:
            return None
        if constraints is not None and constraints.rules:
            return None
        encoding = self.encoding_
        codes = [
            None if positions is None else int(source)
            for source, positions in zip(encoding.source, encoding.positions, strict=True)
        ]
        return LinearCandidate(linear_settings(), codes)

    def _settings(self, name: str, n_rows: int, n_columns: int = 0) -> Settings:
        """Return the settings of a candidate, with what the user gave; or "given": without a choice."""
        given = {part: getattr(self, part) for part in Settings._fields[1:]}
        return candidate_settings(name, n_rows, given, n_columns)

    def _make_method(
        self,
        constraints: Constraints | None,
        settings: Settings | None,
        engine: TreeEngine,
        data: Rows,
        bounds: NDArray[np.uint64] | None,
        stream: int,
        seed: int | None = None,
    ) -> MarginBoost:
        """Make the method; rows whose hashes are below the bounds of their class are held out.

        The settings are by default those that the user gave, and the seed of the hashes that of the fit.
        """
        settings = settings or self._settings("given", data.n_counted)
        seed = self.seed_ if seed is None else seed
        n_features = max(1, round(settings.max_features * data.binned.n_features))
        leaves = settings.max_leaf_nodes
        # No leaf is deeper than there are leaves, and an engine's integers may end before Python's.
        depth = None if self.max_depth is None else min(self.max_depth, leaves)
        hashed = settings.subsample < 1.0 or bounds is not None
        loss, ranks = LOSSES[settings.loss], getattr(self, "class_ranks_", None)
        return MarginBoost(
            engine,
            data,
            loss if ranks is None else weigh_by_distance(loss, ranks),
            rules=GrowthRules(self.min_samples_leaf, 1.0, leaves, depth),
            sampling=Sampling(n_features, settings.subsample),
            pseudo_count=self.l2_regularization,
            eta=settings.learning_rate,
            rng=np.random.default_rng([self.seed_, stream] if stream else self.seed_),
            slots=Slots(data.n_classes),
            view=RowView(seed if hashed else None, bounds),
            interactions=constraints and constraints.interactions(self.encoding_),
            monotone=constraints and constraints.monotone(self.encoding_),
        )

    def _set_fitted(self, trained: Trained) -> None:
        super()._set_fitted(trained)
        self.chosen_ = described(trained, self._settings("given", trained.data.n_counted))
        method, small = (
            trained.method,
            not is_auto(self.subsample) and self.subsample < USUAL_SUBSAMPLE,
        )
        if small and method.n_from_all > method.n_grown / 4:
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
