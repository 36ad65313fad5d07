"""The engine for vector-leaf trees on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.row_view import HeldOutRows
from marginboost.engine.cluster.requests import Collect
from marginboost.engine.cluster.session import Session
from marginboost.engine.cluster.trees.tree_state import TreeState
from marginboost.engine.trees.growth import grow_in_batches
from marginboost.engine.trees.native import NativeTreeEngine

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.engine.cluster.training_set import ClusterTrainingSet
    from marginboost.engine.trees.base import Floats, NodeSplit, RowSample, Singles
    from marginboost.engine.trees.growth import GrownTree, GrowthRules
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss


class ClusterTreeEngine:
    """See `TreeEngine`; the data of `load` are a `ClusterTrainingSet`.

    A batch of nodes costs one message: workers move their rows and sum the smaller of two siblings,
    and the owner of a feature gets the larger one by subtraction.

    Parameters
    ----------
    shard_engine : callable
        Makes the engine of a shard, a `PartialTreeEngine`, given the number of its worker's threads.
    """

    name = "cluster"

    _session: Session
    _tree: TreeState

    def __init__(self, shard_engine: Callable[[int], Any] = NativeTreeEngine) -> None:
        self._shard_engine = shard_engine
        self._n_trees = 0

    def load(self, data: ClusterTrainingSet, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows."""
        self.close()
        self._data, self._slots = data, slots
        self._session = data.open_session(view.seed)
        self._session.command("load", self._shard_engine, loss, slots, view)

    def close(self) -> None:
        """Let the workers forget the fit; the training set stays."""
        if hasattr(self, "_session"):
            self._session.close()

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins, then form the new direction."""
        self._session.command("advance", up, down, signs, exponent, mass_exponent)
        wrong, loss = self._session.result()[0]
        return int(wrong), int(loss)

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree."""
        self._n_trees += 1
        self._session.command("begin_tree", features, sample)
        n_bins = int(self._data.binned.n_bins[features].sum())
        node_bytes = 4 * n_bins * self._slots.lanes
        self._tree = TreeState(self._n_trees, features.copy(), least_count, smoothing, node_bytes)
        return self._tree.start(self._session)

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree."""
        return grow_in_batches(self, features, sample, rules, interactions)

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes."""
        self._session.command("move_rows", list(nodes), list(features), list(bins))
        return self._tree.divide(self._session, nodes, features, bins, search, allowed)

    def finish_tree(self, leaf_of_node: NDArray[np.int32], exponent: int) -> tuple[Floats, Floats]:
        """End the tree and sum the weights of its leaves."""
        self._session.command("finish_tree", leaf_of_node, exponent)
        sums: tuple[Floats, Floats] = self._session.result()[0]
        return sums

    def held_out(self) -> HeldOutRows:
        """Return the rows that the fit does not see, in the order of the shards."""
        by_shard: list[Any] = self._session.send(Collect("held_out"))
        return HeldOutRows(*map(np.concatenate, zip(*by_shard, strict=True)))
