"""The engine in C++: the same sums, vectorised and threaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.loss_numbers import LOSS_NUMBERS
from marginboost.engine.trees.base import NodeSplit

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.stumps.base import Floats, Weighting


# Rows whose directions stay in the cache while a block of features is summed.
ROW_BLOCK = 2048


class NativeStumpEngine:
    """See `HostStumpEngine`.

    Parameters
    ----------
    n_threads : int
        Threads to use; the results do not depend on it.
    row_block : int
        Rows per block; the results do not depend on it.
    """

    name = "native"

    _shard: Any

    def __init__(self, n_threads: int = 1, row_block: int = ROW_BLOCK) -> None:
        self._n_threads = n_threads
        self._row_block = row_block

    def load(self, data: TrainingSet, weighting: Weighting) -> None:
        """Take the rows."""
        shard = _native.StumpShard(
            data.binned.bins,
            data.binned.n_bins,
            data.class_offsets,
            data.weight,
            data.multiplicity,
            weighting.code,
            None if data.leaf_weight is None else data.leaf_weight.rows,
            0.0 if data.leaf_weight is None else data.leaf_weight.least,
            LOSS_NUMBERS[weighting.loss.name],
            self._n_threads,
            self._row_block,
        )
        self._shard = shard
        # Bound once: a round on a small data set is shorter than a few attribute look-ups.
        self.advance_output = shard.advance_output
        self.set_exponentials = shard.set_exponentials
        self.project = shard.project
        self.best_stump = shard.best_stump
        self.best_stumps = shard.best_stumps
        self.place_stump = shard.place_stump
        self.place_tree = shard.place_tree
        self.edges = shard.edges
        self.sums = shard.sums
        self.sums_and_curvature = shard.sums_and_curvature
        self.histograms = shard.histograms
        self.finish_tree = shard.finish_tree

    def advance(
        self, up: Floats, down: Floats, exponent: int, next_search: int | None = None
    ) -> int:
        """Move the margins, then form the new direction."""
        return int(self._shard.advance(up, down, exponent))

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Do the same with a factor for every side, class and output."""
        return int(self._shard.advance_table(table, exponent))

    def start_tree(self, output: int) -> NodeSplit:
        """Start a tree."""
        return NodeSplit(*self._shard.start_tree(output))

    def split(
        self, nodes: list[int], features: list[int], bins: list[int], search: list[bool]
    ) -> list[NodeSplit]:
        """Divide nodes."""
        return [NodeSplit(*row) for row in self._shard.split(nodes, features, bins, search)]

    def state(self) -> tuple[Floats, NDArray[np.int32]]:
        """Return copies of e and the fixed-point direction, for inspection."""
        e, g = self._shard.state()
        return e, g
