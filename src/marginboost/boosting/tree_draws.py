"""What the rounds of vector-leaf boosting draw: features, rows and signs."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.base import RowSample

if TYPE_CHECKING:
    from marginboost.engine.trees.base import Singles
    from marginboost.engine.trees.slots import Slots

__all__ = ["RoundDraw", "Sampling", "TreeDraws"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a tree gets to see.

    Attributes
    ----------
    features : int
        How many features.
    rows : float
        The share of the rows.
    """

    features: int
    rows: float


class RoundDraw(NamedTuple):
    """What one round draws.

    Attributes
    ----------
    sample : RowSample
        The rows that the search sees.
    features : int32 array
        The features that it sees, ascending.
    signs : float32 array
        -1 or +1: the factor of each class in the direction that the round leaves.
    """

    sample: RowSample
    features: NDArray[np.int32]
    signs: Singles


class TreeDraws:
    """Draws for one round after the other.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws; its bit generator has 64 bits, as that of `default_rng`.
    features : int32 array
        All features that can be split.
    sampling : Sampling
        How much of the data a tree gets to see.
    slots : Slots
        Where the classes lie: those that share a lane get signs, anew for every tree.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        features: NDArray[np.int32],
        sampling: Sampling,
        slots: Slots,
    ) -> None:
        self._rng = rng
        self._features = features
        self._sampling = sampling
        self._shares_lanes = slots.shares_lanes
        self._no_signs = np.ones(slots.n_classes, dtype=np.float32)
        self._ready: deque[RoundDraw] = deque()

    def next_round(self) -> RoundDraw:
        """Draw for the next round."""
        if self._ready:
            return self._ready.popleft()
        sample, features = RowSample(), self._features
        if self._sampling.rows < 1.0:
            seed = self._rng.bit_generator.random_raw()  # as `integers(2**64)`, in less time
            sample = RowSample(seed, int(self._sampling.rows * 2.0**64))
        if self._sampling.features < len(features):
            n = self._sampling.features
            drawn = self._rng.choice(len(features), n, replace=False, shuffle=False)
            drawn.sort()
            features = features[drawn]
        return RoundDraw(sample, features, self.signs())

    def upcoming(self) -> RoundDraw:
        """Return what `next_round` will return."""
        if not self._ready:
            self._ready.append(self.next_round())
        return self._ready[0]

    def put_back(self, draws: list[RoundDraw]) -> None:
        """Take back the draws of the next rounds, to be drawn again."""
        self._ready.extendleft(reversed(draws))

    def signs(self) -> Singles:
        """Draw the signs of the classes."""
        if not self._shares_lanes:
            return self._no_signs
        bits = self._rng.integers(0, 2, len(self._no_signs))  # as `choice` of two draws them
        return (2 * bits - 1).astype(np.float32)
