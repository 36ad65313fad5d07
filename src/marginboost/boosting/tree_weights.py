"""The host's view of the weights of vector-leaf boosting: their scale, and how a step moves them.

As in `marginboost.boosting.weights` the fixed-point scales follow from exact sums, by way of bounds on
what a step can make of them, so that every engine works with the same ones and none spends a pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.boosting.rounds_ahead import BoostedRounds
from marginboost.engine.trees.base import LOSS_BITS, PlannedTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from marginboost.boosting.tree_draws import RoundDraws
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.engine.trees.base import RowSample, Singles, TreeEngine
    from marginboost.engine.trees.growth import GrowthRules, Tree
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

Floats = NDArray[np.float64]

# As for stumps: sums of 2**30 units at most double by rounding, and still fit in int32.
_BITS = 30
_SLACK = 1.0 + 2.0**-20  # for the rounding of the bounds themselves
# Powers of two that a float and a double hold with room to spare.
_MOST, _MOST_OF_DOUBLE = 120, 900
# A mean weight of a pair below which most are at the least that engines keep, 2**-60. What is left
# then is rounding: trees that go on fitting it make a model worse (letter: from 2.7 % to 4.6 % in 700
# rounds).
_SPENT = 2.0**-58


class TreeWeights:
    """The weights of the pairs (row, class), which live in the engine.

    Parameters
    ----------
    engine : TreeEngine
        Loads `data` when the weights start.
    data : Rows
        The rows.
    loss : Loss
        Of the margins.
    slots : Slots
        Where the classes lie.
    view : RowView
        What of the rows the fit sees.
    pseudo_count : float
        Of the sums of a leaf, on the scale where the mean weight of a pair is 1/2.

    Attributes
    ----------
    mass : float
        The sum of all weights.
    mass_unit : float
        The smallest step of the masses that a search sees.
    gain_unit : float
        A gain of 1 in the units of the next search, as a share of all weights.
    mean_loss : float
        The mean over rows of the sum of a row's losses, after the last advance.
    is_spent : bool
        Whether the weights are too small to tell one pair from another.
    """

    mass: float
    mass_unit: float
    gain_unit: float

    def __init__(
        self,
        engine: TreeEngine,
        data: Rows,
        loss: Loss,
        slots: Slots,
        view: RowView,
        pseudo_count: float,
    ) -> None:
        self._engine = engine
        self._data = data
        self._loss = loss
        self._slots = slots
        self._lane = slots.lane_of_class()
        self._view = view
        self._pseudo_count = pseudo_count
        self._sum_exponent = 0
        mass = data.class_mass if view.hash_bounds is None else data.class_mass_seen(view)
        self._class_mass = np.ldexp(mass, -view.weight_exponent)
        self._row_mass = float(self._class_mass.sum())
        self._n_pairs = self._row_mass * (data.n_classes - 1)
        if loss.pair_weights is not None and not loss.normalized:
            # The mean weight of a pair is 1/2 times what the pairs count on average.
            counted = float(self._class_mass @ self._pairs().sum(axis=1))
            self._pseudo_count *= counted / self._n_pairs
        self._n_counted = data.n_counted
        self._counts = data.class_counts

    def start(self, signs: Singles) -> float:
        """Set all margins to zero and form the first direction; return the training error."""
        data = self._data
        self._engine.load(data, self._loss, self._slots, self._view)
        mass = self._class_mass * self._loss.start_weight
        own, against = mass * (data.n_classes - 1), mass.sum() - mass
        if self._loss.pair_weights is not None:
            pairs = self._pairs()
            own, against = mass * pairs.sum(axis=1), mass @ pairs
        one = np.ones((1, data.n_classes), dtype=np.float32)
        by_lane = np.bincount(self._lane, weights=own + against)
        bounds = float(own.sum()), float(by_lane.max()), float(against.max())
        return self._advance(one, one, signs, *bounds)

    def _pairs(self) -> Floats:
        """Return what the pairs of classes count, and 0 for a class with itself."""
        pairs: Floats = np.asarray(self._loss.pair_weights, dtype=np.float64)
        return pairs * (1.0 - np.eye(len(pairs)))

    @property
    def pseudo_count(self) -> float:
        """The pseudo-count on the scale of the weights.

        The exponential loss's weights have no scale of their own; the others' have.
        """
        half_mean = 2.0 * self.mass / self._n_pairs if self._loss.normalized else 1.0
        return max(self._pseudo_count * half_mean, 1e-30)

    def leaf_sums(self, tree: Tree) -> tuple[Floats, Floats]:
        """End the tree; sum the weights by leaf and class: of its own rows, and against it."""
        own, against = self._engine.finish_tree(tree.leaf_of_node, self._sum_exponent)
        unit = math.ldexp(1.0, -self._sum_exponent)
        self._own, self._against = own * unit, against * unit
        self.mass = float(self._own.sum())
        return self._own, self._against

    def plan_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None,
    ) -> PlannedTree:
        """Return a tree of the next search, with the smoothing and the scale of its sums."""
        # In units of the mass, of which no side that holds any has less than one.
        smoothing = max(self.pseudo_count / self.mass_unit, 1e-30)
        rules = rules._replace(smoothing=smoothing)
        return PlannedTree(features, sample, rules, interactions, self._sum_exponent)

    def advance(
        self, w: Floats, signs: Singles, before: Callable[[], None] = lambda: None
    ) -> float:
        """Move the margins by the vectors of the tree's leaves; follows `leaf_sums`.

        Parameters
        ----------
        w : float64 array of leaves x classes
            The step.
        signs : float32 array
            -1 or +1: the factor of each class in the next direction.
        before : callable
            Called before the engine is, when the scales of the next search are known.

        Returns
        -------
        float
            Share of the rows with a margin of zero or less.
        """
        up, down, *masses = _native.leaf_step(
            w,
            self._own,
            self._against,
            self._counts,
            self._class_mass,
            self._lane,
            math.ldexp(0.5, -self._sum_exponent),
            not self._loss.normalized,
        )
        return self._advance(up, down, signs, *masses, before=before)

    def boost_rounds(
        self,
        draws: RoundDraws,
        rules: GrowthRules,
        factor: float,
        most_step: float,
        eta: float,
    ) -> BoostedRounds:
        """Boost some rounds in one call of an engine that can.

        Parameters
        ----------
        draws : RoundDraws
            For each round.
        rules : GrowthRules
            What a tree must keep to; the smoothing is set anew for each.
        factor, most_step : float
            Of the coefficients: see `marginboost.coefficients.leaves.leaf_vectors`.
        eta : float
            Shrinkage.

        Returns
        -------
        BoostedRounds
            Fewer rounds than draws if one needs a decision, which is then not taken.
        """
        engine: Any = self._engine
        *rounds, state = engine.boost_rounds(
            draws.features,
            draws.seeds,
            draws.limit,
            draws.signs,
            rules.min_samples_leaf,
            rules.max_leaf_nodes,
            rules.max_depth,
            self._pseudo_count,
            self._loss.normalized,
            self._n_pairs,
            self._row_mass,
            factor,
            most_step,
            eta,
            self._counts,
            self._class_mass,
            self._lane,
            self._sum_exponent,
            self.mass,
            self.mass_unit,
            self.gain_unit,
        )
        found = BoostedRounds(*rounds)
        self._sum_exponent, self.mass, self.mass_unit, self.gain_unit = state
        self.is_spent = self.mass <= _SPENT * self._n_pairs
        if len(found.loss):
            self.mean_loss = float(found.loss[-1])
        return found._replace(step=found.step.reshape(-1, len(self._counts)))

    def _advance(
        self,
        up: NDArray[np.float32],
        down: NDArray[np.float32],
        signs: Singles,
        total: float,
        largest_lane: float,
        largest_class: float,
        *,
        before: Callable[[], None] = lambda: None,
    ) -> float:
        """Set the scales by bounds on the sums to come, then advance."""
        exponent = fixed_point_exponent(_BITS, largest_lane, _MOST)
        mass_exponent = fixed_point_exponent(_BITS, total, _MOST)
        self._sum_exponent = fixed_point_exponent(_BITS, largest_class, _MOST)
        self.mass = total
        self.mass_unit = math.ldexp(1.0, -mass_exponent)
        self.gain_unit = math.ldexp(1.0, mass_exponent - 2 * exponent) / max(total, 1e-300)
        self.is_spent = total <= _SPENT * self._n_pairs
        before()
        wrong, loss_units = self._engine.advance(up, down, signs, exponent, mass_exponent)
        total_loss = math.ldexp(float(loss_units), -(mass_exponent + LOSS_BITS))
        self.mean_loss = total_loss / self._row_mass
        return wrong / self._n_counted


def fixed_point_exponent(bits: int, mass: float, most: int = _MOST_OF_DOUBLE) -> int:
    """Return the largest x, from -most to most, for which mass * 2**x is below 2**bits."""
    if mass <= 0.0:
        return most
    return max(-most, min(most, bits - math.frexp(mass * _SLACK)[1]))
