"""Rounds that the workers of a fit boost in step, without the client in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.requests import SharedRequest, total
from marginboost.engine.cluster.trees.growing import GrowingTree
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.growth import GrowthRules, grow_in_batches

if TYPE_CHECKING:
    from marginboost.engine.cluster.peers import Peers
    from marginboost.engine.cluster.shard_state import ShardState
    from marginboost.engine.trees.base import Floats, Singles
    from marginboost.engine.trees.growth import GrownTree


class SharedRound(NamedTuple):
    """A round, as all workers know it.

    Attributes
    ----------
    tree : GrownTree
        Its tree.
    features : int32 array
        What the tree was grown from.
    sample : RowSample
        The rows that its search saw.
    exponent : int
        Of the sums of its leaves.
    step : float64 array of leaves x classes
        The coefficients of the round.
    gain_unit : float
        A gain of 1, as a share of all weights.
    advance : tuple
        The arguments of `TreeEngine.advance`.
    """

    tree: GrownTree
    features: NDArray[np.int32]
    sample: RowSample
    exponent: int
    step: Floats
    gain_unit: float
    advance: tuple[Singles, Singles, Singles, int, int]

    def commands(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the commands by which a shard by itself gets to where the round leaves it."""
        return [
            ("divide_rows", (self.tree, self.features, self.sample)),
            ("finish_tree", (self.tree.leaf_of_node, self.exponent)),
            ("advance", self.advance),
        ]


class SharedRounds(NamedTuple):
    """Some rounds.

    Attributes
    ----------
    rounds : list of SharedRound
        The rounds; of one worker alone, since all have the same.
    state : tuple
        Of `_native.RoundNumbers`, after the last of them.
    moved : list of (int, int)
        Rows with a margin of zero or less and the sum of losses after each round, of one worker's rows
        or of all.
    """

    rounds: list[SharedRound]
    state: tuple[int, float, float, float]
    moved: list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class BoostRounds(SharedRequest):
    """Boost some rounds; fewer if one needs a decision, which is then not taken.

    A shard that has got further than the client knows of cannot go back: it is built again.

    Attributes
    ----------
    features : int32 array of rounds x features
        What each tree is grown from.
    seeds : uint64 array
        Of the samples of rows.
    limit : int
        Of the samples.
    signs : float32 array of rounds x classes
        As for `TreeEngine.advance`.
    rules : GrowthRules
        What a tree must keep to; the smoothing is set anew for each.
    numbers : tuple
        The arguments of `_native.RoundNumbers`.
    by_owner : bool
        See `NodeSums`.
    """

    features: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    limit: int
    signs: Singles
    rules: GrowthRules
    numbers: tuple[Any, ...]
    by_owner: bool

    def evaluate(
        self, states: Sequence[ShardState], peers: Peers, bounds: list[int]
    ) -> SharedRounds:
        """Boost in step with all workers; the first one returns the rounds."""
        numbers: Any = _native.RoundNumbers(*self.numbers)
        rounds: list[SharedRound] = []
        moved: list[tuple[int, int]] = []
        for features, seed, signs in zip(self.features, self.seeds, self.signs, strict=True):
            sample = RowSample(int(seed), self.limit)
            rules = self.rules._replace(smoothing=numbers.smoothing)
            growing: Any = GrowingTree(states, peers, self.by_owner)
            tree = grow_in_batches(growing, features, sample, rules)
            if not numbers.gains_anything(tree.gain):
                break
            exponent, *_, gain_unit = numbers.state
            ours = total([s.engine.finish_tree(tree.leaf_of_node, exponent) for s in states])
            found = numbers.step(*total(peers.share(ours)))
            if found is None:
                break
            step, up, down, *scales = found
            made = SharedRound(
                *(tree, features, sample, exponent, step, gain_unit),
                (up, down, signs, *scales),
            )
            moved.append(total([_take(state, made) for state in states]))
            rounds.append(made)
            if numbers.is_spent:
                break
        return SharedRounds([] if peers.rank else rounds, numbers.state, moved)

    def join(self, values: list[SharedRounds], bounds: list[int]) -> SharedRounds:
        """Take the rounds, and add up what is known of the rows."""
        moved = [total(same) for same in zip(*[value.moved for value in values], strict=True)]
        return values[0]._replace(moved=moved)

    def mean_losses(self, found: SharedRounds) -> list[float]:
        """Return the mean loss after each round."""
        numbers: Any = _native.RoundNumbers(*self.numbers)
        return [
            numbers.mean_loss(loss, made.advance[-1])
            for made, (_, loss) in zip(found.rounds, found.moved, strict=True)
        ]


def _take(state: ShardState, made: SharedRound) -> tuple[int, int]:
    """Advance a shard; return the rows with a margin of zero or less, and the sum of losses."""
    wrong, loss = state.engine.advance(*made.advance)
    state.position += len(made.commands())
    return int(wrong), int(loss)
