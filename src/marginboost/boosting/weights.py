"""The host's view of the weights: which scale they have, and how a step moves them.

The fixed-point scales follow from sums that do not depend on the order of rows, by way of exact bounds
on what a step can make of them; so every engine works with the same ones.
"""

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
DIRECTION_BITS = 30
SUM_BITS = 50
_SLACK = 1.0 + 2.0**-20  # for the rounding of the bounds themselves
_MOST = 900  # powers of two that a double can hold with room to spare


def fixed_point_exponent(bits: int, mass: float) -> int:
    """Return the largest x for which mass * 2**x is below 2**bits."""
    if mass <= 0.0:
        return _MOST
    return max(-_MOST, min(_MOST, bits - math.frexp(mass * _SLACK)[1]))


class MarginWeights:
    """The dual variables u of the pairs (row, class), which live in the engine.

    Parameters
    ----------
    engine : Engine
        Has loaded `data`.
    data : TrainingSet
        The rows.
    loss : Loss
        Of the margins.
    mixes_columns : bool
        Whether searches add up columns of the direction, so that their sum must fit in int32 too.
    """

    def __init__(
        self, engine: Engine, data: TrainingSet, loss: Loss, *, mixes_columns: bool = False
    ) -> None:
        self._engine = engine
        self._loss = loss
        self._logistic = not loss.normalized
        self._mixes_columns = mixes_columns
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
        up, down = _native.step_factors(w)
        if not w.any():
            sums, curvature = self._engine.sums_and_curvature(self._sum_exponent, up, down)
            self._sums = sums
            return sums, curvature
        _, total = _native.mass_after(self._sums, up, down, self._logistic)
        return self._engine.sums_and_curvature(fixed_point_exponent(SUM_BITS, total), up, down)

    def advance(self, w: Floats) -> float:
        """Move the margins by the weak classifier times w; follows `sums` or `sums_at`.

        Returns
        -------
        float
            Share of the rows with a margin of zero or less.
        """
        return self.advance_by(*_native.step_factors(w))

    def replace(self, e: Floats, of_class: float, total: float) -> float:
        """Set all of e at once, its weights' sums given; see `advance` for what is returned."""
        self._mass = total
        most = 2.0 * total if self._mixes_columns else of_class
        self._direction_exponent = fixed_point_exponent(DIRECTION_BITS, most)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, total)
        self._engine.set_exponentials(e)
        still = np.ones((2, len(self._class_mass)))
        return self._engine.advance(still, still, self._direction_exponent) / self._n_counted

    def advance_by(self, up: Floats, down: Floats) -> float:
        """Move the margins by given factors; see `Engine.advance`."""
        of_class, self._mass = _native.mass_after(self._sums, up, down, self._logistic)
        most = 2.0 * self._mass if self._mixes_columns else of_class
        self._direction_exponent = fixed_point_exponent(DIRECTION_BITS, most)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, self._mass)
        errors = self._engine.advance(up, down, self._direction_exponent)
        return errors / self._n_counted


class CodedWeights:
    """The weights of the pairs (row, column of a code), exponential in what is said of them.

    Parameters
    ----------
    engine : Engine
        Has loaded `data` with `code`.
    data : TrainingSet
        The rows.
    code : int8 array of n_classes x n_columns
        What each column should say of each class.
    mixes_columns : bool
        Whether searches add up columns of the direction, so that their sum must fit in int32 too.
    """

    def __init__(
        self,
        engine: Engine,
        data: TrainingSet,
        code: NDArray[np.int8],
        *,
        mixes_columns: bool = False,
    ) -> None:
        self._engine = engine
        self._mixes_columns = mixes_columns
        self._sums = np.zeros((2, *code.shape))
        self._sums[0] = data.class_mass[:, None] * np.abs(code)

    def start(self) -> None:
        """Form the first direction."""
        self.advance(np.ones_like(self._sums))

    @property
    def unit(self) -> float:
        """The smallest step of the sums."""
        return math.ldexp(1.0, -self._sum_exponent)

    @property
    def mass(self) -> float:
        """The sum of all weights."""
        return self._mass

    def real(self, fixed: int) -> float:
        """Turn a fixed-point edge, or sum of edges, into a real number."""
        return math.ldexp(float(fixed), -self._direction_exponent)

    def sums(self) -> Floats:
        """Sum the weights by side, class of the row, and column."""
        self._sums = self._engine.sums(self._sum_exponent)
        return self._sums

    def advance(self, table: Floats) -> None:
        """Multiply the weights by `table[side, class, column]`; follows `sums`."""
        self.refresh((self._sums * table).sum(axis=(0, 1)), table)

    def refresh(self, masses: Floats, table: Floats | None = None) -> None:
        """Form the direction for weights whose sums by column will be `masses`."""
        self._mass = float(masses.sum())
        most = self._mass if self._mixes_columns else float(masses.max())
        self._direction_exponent = fixed_point_exponent(DIRECTION_BITS, most)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, self._mass)
        factors = np.ones_like(self._sums) if table is None else table
        self._engine.advance_table(factors, self._direction_exponent)
