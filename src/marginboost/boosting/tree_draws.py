"""What the rounds of vector-leaf boosting draw: features, rows and signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.trees.base import RowSample

if TYPE_CHECKING:
    from marginboost.engine.trees.base import Singles
    from marginboost.engine.trees.slots import Slots

__all__ = ["RoundDraw", "RoundDraws", "Sampling", "TreeDraws"]

# Words of random bits that are taken from the generator at a time.
_WORDS_AT_ONCE = 1 << 10


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


@dataclass(frozen=True, slots=True)
class RoundDraws:
    """What some rounds draw.

    Attributes
    ----------
    seeds : uint64 array
        Of the samples of rows.
    features : int32 array of rounds x features
        The features that each search sees, ascending.
    signs : float32 array of rounds x classes
        As in `RoundDraw`.
    limit : int
        Of the samples.
    """

    seeds: NDArray[np.uint64]
    features: NDArray[np.int32]
    signs: Singles
    limit: int

    @property
    def n_rounds(self) -> int:
        """How many rounds."""
        return len(self.seeds)

    def part(self, begin: int, end: int) -> RoundDraws:
        """Return what some of the rounds draw."""
        some = slice(begin, end)
        return RoundDraws(self.seeds[some], self.features[some], self.signs[some], self.limit)


class TreeDraws:
    """Draws for one round after the other.

    They are those of NumPy's `Generator.choice` and `integers`, made in compiled code.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws, here alone; its bit generator has 64 bits, as that of `default_rng`.
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
        self._random_words = rng.bit_generator.random_raw
        sample = RowSample()
        self._limit = sample.limit if sampling.rows >= 1.0 else int(sampling.rows * 2.0**64)
        n_drawn = min(sampling.features, len(features))
        self._draws = _native.RoundDraws(
            features, n_drawn, bool(sampling.rows < 1.0), slots.n_classes, slots.shares_lanes
        )
        self._words_a_round = 2 + (n_drawn + slots.n_classes) // 2  # hardly ever more
        self._ready: RoundDraws | None = None  # drawn before, and not yet asked for

    def next_rounds(self, n_rounds: int) -> RoundDraws:
        """Draw for the next rounds, at least one and at most so many."""
        ready, self._ready = self._ready, None
        if ready is None:
            if self._draws.n_words < n_rounds * self._words_a_round:
                self._feed(n_rounds)
            draw: Any = self._draws.draw
            n, seeds, features, signs = draw(n_rounds)
            while not n:
                self._feed(1)
                n, seeds, features, signs = draw(n_rounds)
            return RoundDraws(seeds, features, signs, self._limit).part(0, n)
        if ready.n_rounds > n_rounds:
            self._ready = ready.part(n_rounds, ready.n_rounds)
        return ready.part(0, n_rounds)

    def next_round(self) -> RoundDraw:
        """Draw for the next round."""
        drawn = self.next_rounds(1)
        sample = RowSample(int(drawn.seeds[0]), drawn.limit)
        return RoundDraw(sample, drawn.features[0], drawn.signs[0])

    def upcoming(self) -> RoundDraw:
        """Return what `next_round` will return."""
        drawn = self.next_rounds(1)
        self.put_back(drawn)
        sample = RowSample(int(drawn.seeds[0]), drawn.limit)
        return RoundDraw(sample, drawn.features[0], drawn.signs[0])

    def put_back(self, draws: RoundDraws) -> None:
        """Take back the draws of the next rounds, to be drawn again."""
        if not draws.n_rounds:
            return
        if self._ready is not None:
            draws = RoundDraws(
                np.concatenate([draws.seeds, self._ready.seeds]),
                np.concatenate([draws.features, self._ready.features]),
                np.concatenate([draws.signs, self._ready.signs]),
                draws.limit,
            )
        self._ready = draws

    def signs(self) -> Singles:
        """Draw the signs of the classes."""
        signs: Any = self._draws.draw_signs()
        while signs is None:
            self._feed(1)
            signs = self._draws.draw_signs()
        drawn: Singles = signs
        return drawn

    def _feed(self, n_rounds: int) -> None:
        """Get random bits for at least so many rounds."""
        n_words = max(_WORDS_AT_ONCE, n_rounds * self._words_a_round)
        self._draws.feed(np.asarray(self._random_words(n_words)))
