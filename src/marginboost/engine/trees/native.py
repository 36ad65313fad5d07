"""The engine for vector-leaf trees in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.engine.loss_numbers import LOSS_NUMBERS
from marginboost.engine.trees.base import NodeSplit
from marginboost.engine.trees.growth import GrownTree, grow_in_batches

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutRows, RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.trees.base import RowSample, Singles
    from marginboost.engine.trees.growth import GrowthRules
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss


# Methods that are the shard's own.
_OF_SHARD = ("advance", "move_rows", "node_histograms", "finish_tree")


class NativeTreeEngine:
    """See `TreeEngine` and `PartialTreeEngine`.

    Parameters
    ----------
    n_threads : int
        Threads to use; the results do not depend on it.
    """

    name = "native"

    _shard: Any
    advance: Any
    move_rows: Any
    node_histograms: Any
    finish_tree: Any

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads

    def load(self, data: TrainingSet, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows."""
        self.release()  # a second fit must not hold two
        self._data, self._view = data, view
        seen = data.seen(view)
        self._held_out = seen.held_out_rows
        binned = data.binned
        sparse = isinstance(binned, SparseBinnedMatrix)
        names = ("indptr", "rows", "bins", "zero_bin") if sparse else ("bins",)
        make: Any = _native.TreeShard
        self._shard = make(
            *[getattr(binned, name) for name in names],
            binned.n_bins,
            data.class_offsets,
            seen.weight,
            seen.multiplicity,
            seen.hashes,
            seen.copies,
            seen.bounds,
            loss.pair_weights,
            LOSS_NUMBERS[loss.name],
            self.n_threads,
        )
        for name in _OF_SHARD:
            setattr(self, name, getattr(self._shard, name))

    def release(self) -> None:
        """Let go of the rows and all that was kept for them; `load` takes others."""
        for name in ("_shard", "_data", "_held_out", *_OF_SHARD):
            self.__dict__.pop(name, None)

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree."""
        return NodeSplit(*self._shard.start_tree(features, *sample, least_count, smoothing))

    def begin_tree(self, features: NDArray[np.int32], sample: RowSample) -> None:
        """Start a tree with no search."""
        self._shard.begin_tree(features, *sample)

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree."""
        if interactions is not None:
            return grow_in_batches(self, features, sample, rules, interactions)
        return GrownTree(*self._shard.grow_tree(features, *sample, *rules))

    def boost_rounds(self, *arguments: Any) -> tuple[Any, ...]:
        """Boost some rounds in one call; see `TreeWeights.boost_rounds`, which makes it."""
        found: tuple[Any, ...] = self._shard.boost_rounds(*arguments)
        return found

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes."""
        mask = None if allowed is None else np.ascontiguousarray(allowed).view(np.uint8)
        return [NodeSplit(*row) for row in self._shard.split(nodes, features, bins, search, mask)]

    def held_out(self) -> HeldOutRows:
        """Return the margins of the rows that the view holds out."""
        return self._data.describe_held_out(self._view, self._shard.exponentials(self._held_out))

    def state(self) -> tuple[Singles, NDArray[np.int32]]:
        """Return copies of e and the direction, for inspection."""
        e, g = self._shard.state()
        return e, g
