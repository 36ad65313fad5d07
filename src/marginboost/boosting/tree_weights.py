"""The host's view of the weights of vector-leaf boosting: their scale, and how a step moves them.

As in `marginboost.boosting.weights` the fixed-point scales follow from exact sums, by way of bounds on
what a step can make of them, so that every engine works with the same ones and none spends a pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.trees.base import LOSS_BITS

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.data.rows import Rows
    from marginboost.engine.trees.base import TreeEngine
    from marginboost.engine.trees.growth import Tree
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
    rng : numpy.random.Generator
        Draws the signs of classes that share a lane, anew for every tree.
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

    def __init__(
        self,
        engine: TreeEngine,
        data: Rows,
        loss: Loss,
        slots: Slots,
        view: RowView,
        rng: np.random.Generator,
        pseudo_count: float,
    ) -> None:
        self._engine = engine
        self._data = data
        self._loss = loss
        self._slots = slots
        self._lane = slots.lane_of_class()
        self._view = view
        self._rng = rng
        self._pseudo_count = pseudo_count
        self._sum_exponent = 0
        mass = data.class_mass if view.hash_bounds is None else data.class_mass_seen(view)
        self._class_mass = np.ldexp(mass, -view.weight_exponent)
        self._row_mass = float(self._class_mass.sum())
        self._n_pairs = self._row_mass * (data.n_classes - 1)
        self._n_counted = data.n_counted
        self._counts = data.class_counts
        self._no_signs = np.ones(data.n_classes, dtype=np.float32)

    def start(self) -> float:
        """Set all margins to zero and form the first direction; return the training error."""
        data = self._data
        self._engine.load(data, self._loss, self._slots, self._view)
        mass = self._class_mass * self._loss.start_weight
        own = mass * (data.n_classes - 1)
        against = mass.sum() - mass
        one = np.ones((1, data.n_classes), dtype=np.float32)
        by_lane = np.bincount(self._lane, weights=own + against)
        return self._advance(one, one, float(own.sum()), float(by_lane.max()), float(against.max()))

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

    def advance(self, w: Floats) -> float:
        """Move the margins by the vectors of the tree's leaves; follows `leaf_sums`.

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
        return self._advance(up, down, *masses)

    def _advance(
        self,
        up: NDArray[np.float32],
        down: NDArray[np.float32],
        total: float,
        largest_lane: float,
        largest_class: float,
    ) -> float:
        """Set the scales by bounds on the sums to come, then advance."""
        exponent = fixed_point_exponent(_BITS, largest_lane, _MOST)
        mass_exponent = fixed_point_exponent(_BITS, total, _MOST)
        self._sum_exponent = fixed_point_exponent(_BITS, largest_class, _MOST)
        signs = self._no_signs
        if self._slots.shares_lanes:
            signs = self._rng.choice(np.array([-1.0, 1.0], dtype=np.float32), len(signs))
        wrong, loss_units = self._engine.advance(up, down, signs, exponent, mass_exponent)
        self.mass = total
        self.mass_unit = math.ldexp(1.0, -mass_exponent)
        self.gain_unit = math.ldexp(1.0, mass_exponent - 2 * exponent) / max(total, 1e-300)
        total_loss = math.ldexp(float(loss_units), -(mass_exponent + LOSS_BITS))
        self.mean_loss = total_loss / self._row_mass
        self.is_spent = total <= _SPENT * self._n_pairs
        return wrong / self._n_counted


def fixed_point_exponent(bits: int, mass: float, most: int = _MOST_OF_DOUBLE) -> int:
    """Return the largest x, from -most to most, for which mass * 2**x is below 2**bits."""
    if mass <= 0.0:
        return most
    return max(-most, min(most, bits - math.frexp(mass * _SLACK)[1]))
