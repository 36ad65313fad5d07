"""The host's view of the weights: which scale they have, and how a step moves them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.base import Engine
    from marginboost.loss import Loss

Floats = NDArray[np.float64]

# Rounding to the nearest at most doubles a sum of positive numbers, so a direction whose absolute
# values add up to 2**30 units fits in int32, and weights that add up to 2**50 in a double's integers.
_DIRECTION_BITS = 30
_SUM_BITS = 50
_SLACK = 1.0 + 2.0**-20  # for the rounding of the bounds themselves
_MOST = 900  # powers of two that a double can hold with room to spare


def _exponent(bits: int, mass: float) -> int:
    """Return the largest x for which mass * 2**x is below 2**bits."""
    if mass <= 0.0:
        return _MOST
    return max(-_MOST, min(_MOST, bits - math.frexp(mass * _SLACK)[1]))


class Weights:
    """The dual variables u of the pairs (row, class), which live in the engine.

    The fixed-point scales follow from sums that do not depend on the order of rows, by way of exact
    bounds on what a step can make of them; so every engine works with the same ones.
    """

    def __init__(self, engine: Engine, data: TrainingSet, loss: Loss) -> None:
        self._engine = engine
        self._loss = loss
        self._logistic = not loss.normalized
        self._n_counted = data.n_counted
        self._class_mass = data.class_mass
        # Pairs of a row with its own class: e = 1 for ever, in the sum but not in any choice.
        self.constant = float(data.class_mass.sum())

    def start(self) -> None:
        """Form the first direction, at margins zero."""
        k = len(self._class_mass)
        pairs = np.repeat(self._class_mass[:, None] * self._loss.start_weight, k, axis=1)
        self._sums = np.stack([pairs, np.zeros((k, k))])
        self.advance(np.zeros(k))

    @property
    def unit(self) -> float:
        """The smallest step of the sums."""
        return math.ldexp(1.0, -self._sum_exponent)

    def edge(self, fixed: int) -> float:
        """Turn a fixed-point edge into the units of the paper's stopping rule."""
        edge = math.ldexp(float(fixed), -self._direction_exponent)
        return edge / (self.constant + self._mass) if self._loss.normalized else edge

    def sums(self) -> Floats:
        """Sum the weights by side, class of the row, and class."""
        self._sums = self._engine.sums(self._sum_exponent)
        return self._sums

    def sums_at(self, w: Floats) -> tuple[Floats, Floats]:
        """Sum the weights and the curvatures at a trial w; the first trial must be zero."""
        up, down = _factors(w)
        if not w.any():
            sums, curvature = self._engine.sums_and_curvature(self._sum_exponent, up, down)
            self._sums = sums
            return sums, curvature
        _, total = _native.mass_after(self._sums, up, down, self._logistic)
        return self._engine.sums_and_curvature(_exponent(_SUM_BITS, total), up, down)

    def advance(self, w: Floats) -> float:
        """Move the margins by the weak classifier times w; follows `sums` or `sums_at`.

        Returns
        -------
        float
            Share of the rows with a margin of zero or less.
        """
        up, down = _factors(w)
        of_class, self._mass = _native.mass_after(self._sums, up, down, self._logistic)
        self._direction_exponent = _exponent(_DIRECTION_BITS, of_class)
        self._sum_exponent = _exponent(_SUM_BITS, self._mass)
        errors = self._engine.advance(up, down, self._direction_exponent)
        return errors / self._n_counted


def _factors(w: Floats) -> tuple[Floats, Floats]:
    """Return what e is multiplied by: `up[side, r] * down[side, y]`, exp(h (w_r - w_y))."""
    grow = np.exp(w)
    shrink = np.exp(-w)
    return np.array((shrink, grow)), np.array((grow, shrink))
