"""The host's view of the weights: which scale they have, and how a step moves them.

The fixed-point scales follow from sums that do not depend on the order of rows, by way of exact bounds
on what a step can make of them; so every engine works with the same ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.tree_weights import fixed_point_exponent
from marginboost.coefficients import mass_after, step_factors

if TYPE_CHECKING:
    from marginboost.data.rows import Rows
    from marginboost.engine.stumps.base import StumpEngine
    from marginboost.loss import Loss

Floats = NDArray[np.float64]

# Rounding to the nearest at most doubles a sum of positive numbers, so a direction whose absolute
# values add up to 2**30 units fits in int32, and weights that add up to 2**50 in a double's integers.
DIRECTION_BITS = 30
SUM_BITS = 50


class MarginWeights:
    """The dual variables u of the pairs (row, class), which live in the engine.

    Parameters
    ----------
    engine : StumpEngine
        Has loaded `data`.
    data : Rows
        The rows.
    loss : Loss
        Of the margins.
    mixes_outputs : bool
        Whether searches add up outputs of the direction, so that their sum must fit in int32 too.

    Attributes
    ----------
    next_search : Criterion or None
        The stump search that the method will ask for after each advance, once it searches.
    """

    next_search: int | None = None

    def __init__(
        self, engine: StumpEngine, data: Rows, loss: Loss, *, mixes_outputs: bool = False
    ) -> None:
        self._engine = engine
        self._loss = loss
        self._logistic = not loss.normalized
        self._mixes_outputs = mixes_outputs
        self._n_counted = data.n_counted
        self._class_mass = data.class_mass
        self._counts = data.class_counts
        # Pairs of a row with its own class: e = 1 for ever, in the sum but not in any choice.
        self.constant = float(data.class_mass.sum())

    def start(self) -> None:
        """Form the first direction, at margins zero."""
        self.next_search = None
        k = len(self._class_mass)
        pairs = np.repeat(self._class_mass[:, None] * self._loss.start_weight, k, axis=1)
        sums = np.stack([pairs, np.zeros((k, k))])
        # The weights are equal, so these sums are as good as exact.
        self._here = _Sums(sums, sums if self._logistic else None, np.zeros(k))
        self._trial: tuple[Floats, _Sums] | None = None
        self.advance(np.zeros(k))

    @property
    def unit(self) -> float:
        """The smallest step of the sums."""
        return math.ldexp(1.0, -self._sum_exponent)

    @property
    def mean_loss(self) -> float:
        """The mean over rows of the sum of a row's losses; NaN for losses that are not their weights."""
        return math.nan if self._logistic else self._mass / self.constant

    def edge(self, fixed: int) -> float:
        """Turn a fixed-point edge into the units of the paper's stopping rule."""
        edge = math.ldexp(float(fixed), -self._direction_exponent)
        return edge / (self.constant + self._mass) if self._loss.normalized else edge

    def share(self, fixed: int) -> float:
        """Turn a fixed-point edge into a share of all weights; where those are nothing, so is it."""
        edge = math.ldexp(float(fixed), -self._direction_exponent)
        return edge / self._mass if self._mass > 0.0 else 0.0

    def sums(self) -> Floats:
        """Sum the weights by side, class of the row, and class."""
        sums = self._engine.sums(self._sum_exponent)
        self._here = _Sums(sums, None, self._counts * (0.5 * self.unit))
        return sums

    def sums_at(self, w: Floats) -> tuple[Floats, Floats]:
        """Sum the weights and the curvatures at a trial w; the first trial must be zero."""
        up, down = step_factors(w)
        exponent = self._sum_exponent
        if w.any():
            _, total = self._mass_at(w, up, down)
            exponent = fixed_point_exponent(SUM_BITS, total)
        sums, curvature = self._engine.sums_and_curvature(exponent, up, down)
        here = _Sums(sums, curvature, self._counts * math.ldexp(0.5, -exponent))
        if w.any():
            self._trial = (w, here)
        else:
            self._here, self._trial = here, None
        return sums, curvature

    def advance(self, w: Floats) -> float:
        """Move the margins by the weak classifier times w; follows `sums` or `sums_at`.

        Returns
        -------
        float
            Share of the rows with a margin of zero or less.
        """
        up, down = step_factors(w)
        return self._advance(up, down, *self._mass_at(w, up, down))

    def _mass_at(self, w: Floats, up: Floats, down: Floats) -> tuple[float, float]:
        """Bound the largest sum of |g| of a class, and the sum of all weights, at w."""
        reach = self._here.to(up, down)
        if self._trial is not None:  # the last trial is near, and bounds the sums more tightly
            trial, sums = self._trial
            reach += sums.to(*step_factors(w - trial))
        return mass_after(self._logistic, *reach)

    def advance_table(self, table: Floats) -> float:
        """Multiply e by `table[side, class, class]`, exponential loss; follows `sums`."""
        pairs = ~np.eye(len(self._class_mass), dtype=bool)
        moved = (self._here.sums + self._here.rounding[:, None]) * table * pairs
        by_pair = moved.sum(axis=0)
        of_class = float((by_pair.sum(axis=0) + by_pair.sum(axis=1)).max())
        self._set_scale(of_class, float(by_pair.sum()))
        exponent = self._direction_exponent
        return self._engine.advance_table(table, exponent, self.next_search) / self._n_counted

    def refresh(self, of_class: float, total: float) -> float:
        """Form the direction of an e that was set, its weights' sums given; return as `advance` does."""
        still = np.ones((2, len(self._class_mass)))
        return self._advance(still, still, of_class, total)

    def _advance(self, up: Floats, down: Floats, of_class: float, total: float) -> float:
        self._set_scale(of_class, total)
        exponent = self._direction_exponent
        return self._engine.advance(up, down, exponent, self.next_search) / self._n_counted

    def _set_scale(self, of_class: float, total: float) -> None:
        self._mass = total
        most = 2.0 * total if self._mixes_outputs else of_class
        self._direction_exponent = fixed_point_exponent(DIRECTION_BITS, most)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, total)


class _Sums(NamedTuple):
    """Sums of weights at some margins, and how far each may be off by rounding."""

    sums: Floats
    curvature: Floats | None
    rounding: Floats

    def to(self, up: Floats, down: Floats) -> tuple[Any, ...]:
        """Return what `mass_after` asks for, for the way from here by these factors."""
        return (self.sums, self.curvature, up, down, self.rounding)


class CodedEngine(Protocol):
    """What `CodedWeights` needs of a `StumpEngine`."""

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and output."""
        ...

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Multiply the weights, then form the new direction."""
        ...


class CodedWeights:
    """The weights of the pairs (row, output), exponential in what is said of them.

    Each column of a code is an output.

    Parameters
    ----------
    engine : CodedEngine
        Has loaded `data` with `code`.
    data : Rows
        The rows.
    code : int8 array of n_classes x n_outputs
        What each output should say of each class.
    mixes_outputs : bool
        Whether searches add up outputs of the direction, so that their sum must fit in int32 too.

    Attributes
    ----------
    next_search : Criterion or None
        The stump search that the method will ask for after each advance, once it searches.
    """

    next_search: int | None = None

    def __init__(
        self,
        engine: CodedEngine,
        data: Rows,
        code: NDArray[np.int8],
        *,
        mixes_outputs: bool = False,
    ) -> None:
        self._engine = engine
        self._mixes_outputs = mixes_outputs
        self._counts = data.class_counts
        self._row_mass = float(data.class_mass.sum())
        self._rounding = 0.0
        self._sum_exponent = 0
        self._sums = np.zeros((2, *code.shape))
        self._sums[0] = data.class_mass[:, None] * np.abs(code)

    def start(self) -> None:
        """Form the first direction."""
        self.next_search = None
        self.advance(np.ones_like(self._sums))

    @property
    def unit(self) -> float:
        """The smallest step of the sums."""
        return math.ldexp(1.0, -self._sum_exponent)

    @property
    def mean_loss(self) -> float:
        """The mean over rows of the sum of a row's weights, which are its losses."""
        return self._mass / self._row_mass

    def share(self, value: float) -> float:
        """Divide by the sum of all weights; where that is nothing, nothing is left to gain."""
        return value / self._mass if self._mass > 0.0 else 0.0

    @property
    def unseen(self) -> Floats:
        """By how much rounding may have hidden weights from the sums of each output."""
        hidden = self._rounding * float(self._counts.sum())
        return np.full(self._sums.shape[2], hidden)

    def real(self, fixed: int) -> float:
        """Turn a fixed-point edge, or sum of edges, into a real number."""
        return math.ldexp(float(fixed), -self._direction_exponent)

    def sums(self) -> Floats:
        """Sum the weights by side, class of the row, and output."""
        self._sums = self._engine.sums(self._sum_exponent)
        self._mass = float(self._sums.sum())
        self._rounding = 0.5 * self.unit
        return self._sums

    def advance(self, table: Floats) -> None:
        """Multiply the weights by `table[side, class, output]`; follows `sums`."""
        unseen = (self._rounding * self._counts[:, None] * table).sum(axis=(0, 1))
        self.refresh((self._sums * table).sum(axis=(0, 1)), unseen, table)

    def refresh(self, masses: Floats, unseen: Floats, table: Floats | None = None) -> None:
        """Form the direction for weights whose sums by output will be `masses`.

        `unseen` is by how much rounding may have hidden more.
        """
        self._mass = float(masses.sum())
        bounds = masses + unseen
        most = float(bounds.sum() if self._mixes_outputs else bounds.max())
        self._direction_exponent = fixed_point_exponent(DIRECTION_BITS, most)
        self._sum_exponent = fixed_point_exponent(SUM_BITS, float(bounds.sum()))
        factors = np.ones_like(self._sums) if table is None else table
        self._engine.advance_table(factors, self._direction_exponent, self.next_search)
