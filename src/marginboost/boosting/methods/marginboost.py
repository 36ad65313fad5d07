"""Boosting of vector-leaf trees: beyond the paper.

The paper's loss and weights, with a weak learner that is a tree whose leaves each carry a row of
coefficients. Leaf indicators are weak classifiers in {0, 1}, so the loss separates by leaf and every
leaf has its coefficients in closed form; one tree per round serves all classes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.methods.base import Floats, Shrinking
from marginboost.boosting.round import Round
from marginboost.boosting.rounds_ahead import FoundRound, most_ahead, separate_rounds
from marginboost.boosting.tree_draws import RoundDraw, Sampling, TreeDraws
from marginboost.boosting.tree_weights import TreeWeights
from marginboost.coefficients import Solution
from marginboost.coefficients.grid import on_grid
from marginboost.coefficients.leaves import leaf_vectors, most_step
from marginboost.data.thresholds import Thresholds
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.growth import GrowthRules, Tree, divide_again
from marginboost.engine.trees.slots import Slots

if TYPE_CHECKING:
    from marginboost.boosting.monotone import MonotoneSteps
    from marginboost.boosting.resume import PastTree
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.engine.trees.base import PlannedTree, TreeEngine
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.loss import Loss
    from marginboost.model.builder import EnsembleBuilder


# A tree of one leaf is kept where it shifts more than this share of the weights.
LEAST_IMBALANCE = 1e-3


class MarginBoost(Shrinking):
    """The steps of a round.

    Parameters
    ----------
    engine : TreeEngine
        Where the rows live.
    data : Rows
        The rows.
    loss : Loss
        Of the margins.
    rules : GrowthRules
        What a tree must keep to; the smoothing is set anew for each.
    sampling : Sampling
        What a tree gets to see.
    pseudo_count : float
        lambda: added to the sums of a leaf, on the scale where the mean weight is 1/2.
    eta : float
        Shrinkage.
    rng : numpy.random.Generator
        Draws features, rows and signs.
    slots : Slots
        Where the classes lie.
    view : RowView
        What of the rows it sees; with a seed where a tree sees a share of them only.
    interactions : Interactions, optional
        Which columns may be split below which; None: all.
    monotone : MonotoneSteps, optional
        What the steps of a tree's leaves must keep to.

    Attributes
    ----------
    n_grown : int
        Trees with splits, so far.
    n_from_all : int
        Those of them that were grown from all rows, as the sample had no split.
    """

    def __init__(
        self,
        engine: TreeEngine,
        data: Rows,
        loss: Loss,
        *,
        rules: GrowthRules,
        sampling: Sampling,
        pseudo_count: float,
        eta: float,
        rng: np.random.Generator,
        slots: Slots,
        view: RowView,
        interactions: Interactions | None = None,
        monotone: MonotoneSteps | None = None,
    ) -> None:
        super().__init__(eta)
        self._interactions, self._monotone = interactions, monotone
        # Weights are divided by a power of two, so that those that count are far inside of a float32.
        largest = data.largest_weight
        exponent = 0 if largest is None else math.frexp(largest)[1]
        self._engine = engine
        self._data = data
        # The pairs' losses that are not exponential bend less: their full step is twice as long.
        self._factor = 1.0 / loss.probability_factor
        self._most_step = most_step(data.n_counted, eta)
        self._rules = rules
        self._thresholds = Thresholds.of(data.binned.thresholds)
        view = replace(view, weight_exponent=exponent)
        pseudo_count *= math.ldexp(1.0, -exponent)
        self._weights = TreeWeights(engine, data, loss, slots, view, pseudo_count)
        self.n_grown = 0
        self.n_from_all = 0
        self._features = np.flatnonzero(data.binned.n_bins > 1).astype(np.int32)
        self._draws = TreeDraws(rng, self._features, sampling, slots)
        self._draw: RoundDraw | None = None  # of this round
        self._training_loss = math.nan
        self._most_ahead = 0
        if hasattr(engine, "boost_rounds") and interactions is None and monotone is None:
            size = data.n_rows, len(self._features), data.n_classes
            self._most_ahead = most_ahead(*size, getattr(engine, "n_threads", 1))
        self._plans: Callable[[PlannedTree], None] | None = getattr(engine, "plan_tree", None)
        self._horizon = 0
        self._ahead: deque[FoundRound] = deque()  # rounds that are found but not yet asked for

    @property
    def training_loss(self) -> float:
        """The mean over rows of the sum of the pairs' losses."""
        return self._training_loss

    def start(self) -> None:
        """Set all margins to zero."""
        self._weights.start(self._draws.signs())
        self._training_loss = self._weights.mean_loss

    def look_ahead(self, n_rounds: int) -> None:
        """Allow so many rounds, the next included, to be found before they are asked for."""
        self._horizon = max(n_rounds, 1)

    def take_ahead(self, builder: EnsembleBuilder, number: int) -> Round | None:
        """Take the next round whole, if it was found before it was asked for."""
        if not self._ahead:
            self._find_ahead()
            if not self._ahead:
                return None
        feature, threshold, left, right, step, edge, error, gains, loss = self._ahead.popleft()
        self.n_grown += 1
        self._training_loss = loss
        builder.append_round(feature, threshold, left, right, step)
        return Round(number, step, edge, 0.0, error, gains, loss, coefficient_seconds=0.0)

    def train_weak_classifier(self) -> Tree | None:
        """Grow a tree; one leaf where no split gains anything but the classes' shares still do.

        None where nothing is to be gained.
        """
        features = self._features
        if not len(features) or self._weights.is_spent:
            return None
        everything = RowSample()
        self._draw = self._draws.next_round()
        sample, drawn, _ = self._draw
        choices = [(features, sample)]
        if len(drawn) < len(features):
            choices.insert(0, (drawn, sample))
        if sample != everything:
            choices.append((features, everything))
        for chosen, rows in choices:  # a fit ends only where all features of all rows say nothing
            plan = self._plan_tree(chosen, rows)
            grown = self._engine.grow_tree(*plan[:4])
            place = self._thresholds.offsets[grown.feature] + grown.bin
            tree = Tree(*grown, self._thresholds.values[place], np.ones(len(grown.counts)))
            if len(tree.feature):
                self.n_grown += 1
                self.n_from_all += rows != sample
                return tree
        return tree if self._imbalance(tree) > LEAST_IMBALANCE else None

    def restore_round(self, trees: Sequence[PastTree], votes: Floats | None) -> tuple[Tree, Floats]:
        """Divide the rows as an earlier round's tree does."""
        tree = trees[0]
        self._check_constraints(tree)
        self._draw = self._draws.next_round()
        sample = self._draw.sample
        if sample != RowSample():
            sample = RowSample(0, 0)  # no search has to see any row
        features = np.unique(np.array(tree.feature or self._features[:1], dtype=np.int32))
        grown = divide_again(self._engine, tree, features, sample)
        threshold = np.array(tree.threshold)
        return Tree(*grown, threshold, np.ones(len(grown.counts))), tree.vectors

    def _check_constraints(self, tree: PastTree) -> None:
        """Raise where a tree of an earlier fit does not keep to the constraints of this one."""
        for name, kept in (
            ("interaction_cst", self._interactions is None or self._interactions.hold(tree)),
            ("monotonic_cst", self._monotone is None or self._monotone.hold(tree, tree.vectors)),
        ):
            if not kept:
                raise ValueError(
                    f"{name} must hold for the rounds that warm_start resumes; got rounds that were "
                    "fitted without it. Set warm_start=False to start anew."
                )

    def _imbalance(self, tree: Tree) -> float:
        """Return how far a tree of one leaf is from moving no class, as a share of all weights."""
        own, against = self._weights.leaf_sums(tree)
        return float(np.abs(own - against).sum()) / max(2.0 * self._weights.mass, 1e-300)

    def _find_ahead(self) -> None:
        """Find some rounds at once, if that is allowed and the engine can."""
        n_rounds = min(self._horizon, self._most_ahead)
        if not n_rounds or not len(self._features) or self._weights.is_spent:
            return
        draws = self._draws.next_rounds(n_rounds)
        found = self._weights.boost_rounds(
            draws, self._rules, self._factor, self._most_step, self._eta
        )
        self._ahead.extend(
            separate_rounds(found, self._thresholds, self._data.n_counted, self._training_loss)
        )
        self._draws.put_back(draws.part(len(self._ahead), draws.n_rounds))

    def edge(self, found: Tree) -> float:
        """Return what the tree gains, as a share of all weights."""
        if not len(found.gain):
            return self._imbalance(found)
        return float(found.gain.sum()) * self._weights.gain_unit

    def solve(self, found: Tree) -> Solution:
        """Compute each leaf's coefficients in closed form."""
        own, against = self._weights.leaf_sums(found)
        if self._monotone is not None:
            return Solution(self._monotone.steps(found, own, against, self._short_steps), 0.0, 1)
        return Solution(self._leaf_vectors(own, against), 0.0, 1)

    def shrink(self, w: Floats) -> Floats:
        """Multiply the step by eta, unless that was done before; round it to the grid."""
        return on_grid(w) if self._monotone is not None else super().shrink(w)

    def _leaf_vectors(self, own: Floats, against: Floats) -> Floats:
        pseudo_count = self._weights.pseudo_count
        return leaf_vectors(own, against, pseudo_count, self._factor, self._most_step)

    def _short_steps(self, own: Floats, against: Floats) -> Floats:
        return self._eta * self._leaf_vectors(own, against)

    def update_weights(self, found: Tree, w: Floats) -> float:
        """Multiply the weights by what the tree does to the margins."""
        assert self._draw is not None
        error = self._weights.advance(w, self._draw.signs, self._plan_next)
        self._training_loss = self._weights.mean_loss
        return error

    def _plan_tree(self, features: NDArray[np.int32], sample: RowSample) -> PlannedTree:
        """Return a tree to grow; tell an engine of it that plans."""
        plan = self._weights.plan_tree(features, sample, self._rules, self._interactions)
        if self._plans is not None:
            self._plans(plan)
        return plan

    def _plan_next(self) -> None:
        """Tell an engine that plans of the next round's tree, if there will be one."""
        goes_on = self._horizon > 1 and len(self._features) > 0 and not self._weights.is_spent
        if self._plans is not None and goes_on:
            sample, features, _ = self._draws.upcoming()
            self._plan_tree(features, sample)

    def extend(self, builder: EnsembleBuilder, found: Tree, w: Floats) -> Floats:
        """Add the tree with the coefficients of its leaves."""
        first = builder.add_vectors(w)
        builder.append(found, np.arange(first, first + len(w), dtype=np.int32))
        builder.end_round()
        return found.gain
