"""The engine for vector-leaf trees on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.row_view import HeldOutRows
from marginboost.engine.cluster.requests import Collect
from marginboost.engine.cluster.session import Session
from marginboost.engine.cluster.trees.growing import GrowTree, SearchNodes
from marginboost.engine.cluster.trees.rounds import BoostRounds, SharedRounds
from marginboost.engine.trees.base import NodeSplit, PlannedTree
from marginboost.engine.trees.growth import GrownTree, GrowthRules
from marginboost.engine.trees.native import NativeTreeEngine

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.engine.cluster.training_set import ClusterTrainingSet
    from marginboost.engine.trees.base import Floats, RowSample, Singles
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

# Bytes of a node's sums, times the other workers, up to which every worker gets the sums of all features.
SHARED_BYTES = 1 << 18
# Rounds of a message: a fraction of a second, so that few are found in vain where a fit is interrupted.
MOST_ROUNDS = 8


class ClusterTreeEngine:
    """See `TreeEngine`; the data of `load` are a `ClusterTrainingSet`.

    The workers grow trees together, and boost several rounds in one message. Where a round needs the
    client, a tree costs one message: the client gets it with the sums of its leaves, and where the next
    tree is planned, it comes with the answer to `advance`.

    Parameters
    ----------
    shard_engine : callable
        Makes the engine of a shard, a `PartialTreeEngine`, given the number of its worker's threads.
    """

    name = "cluster"

    _session: Session

    def __init__(self, shard_engine: Callable[[int], Any] = NativeTreeEngine) -> None:
        self._shard_engine = shard_engine

    def load(self, data: ClusterTrainingSet, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows."""
        self.close()
        self._data, self._slots = data, slots
        self._plan: PlannedTree | None = None
        self._grown: GrownTree | None = None  # by the plan
        # The sums of a grown tree's leaves: at a length of the log, and a scale.
        self._sums: tuple[int, int, tuple[Floats, Floats]] | None = None
        self._session = data.open_session(view.seed)
        self._session.command("load", self._shard_engine, loss, slots, view)

    def close(self) -> None:
        """Let the workers forget the fit; the training set stays."""
        if hasattr(self, "_session"):
            self._session.close()

    def plan_tree(self, plan: PlannedTree) -> None:
        """Say which tree is grown next, now or after an advance, and how its leaves are summed."""
        known = self._plan
        if (
            self._grown is None
            or known is None
            or known.exponent != plan.exponent
            or not known.grows_like(plan)
        ):
            self._plan, self._grown = plan, None

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins, then form the new direction."""
        self._session.command("advance", up, down, signs, exponent, mass_exponent)
        self._grown = None
        if self._plan is None:
            wrong, loss = self._session.result()[0]
        else:
            (wrong, loss), self._grown = self._grow(self._plan, wants_result=True)
        return int(wrong), int(loss)

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree."""
        self._session.command("begin_tree", features, sample)
        self._tree = features.copy(), least_count, smoothing
        self._n_nodes = 1
        return self._search([0], None)[0]

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree."""
        asked = PlannedTree(features, sample, rules, interactions, 0)
        plan, grown = self._plan, self._grown
        self._plan = self._grown = None
        if plan is None or not plan.grows_like(asked):
            plan, grown = asked, None
        return self._grow(plan)[1] if grown is None else grown

    def boost_rounds(
        self,
        features: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        limit: int,
        signs: Singles,
        min_samples_leaf: int,
        max_leaf_nodes: int,
        max_depth: int | None,
        *numbers: Any,
    ) -> tuple[Any, ...]:
        """Boost some rounds in one message; see `TreeWeights.boost_rounds`, which asks for them."""
        some = slice(0, MOST_ROUNDS)
        request = BoostRounds(
            *(features[some], seeds[some], limit, signs[some]),
            GrowthRules(min_samples_leaf, 1.0, max_leaf_nodes, max_depth),
            numbers,
            any(map(self._has_owners, features[some])),
        )
        self._plan = self._grown = None
        found: SharedRounds = self._session.send(request)
        for made in found.rounds:
            self._session.record(*made.commands())
        trees = [made.tree for made in found.rounds]
        nothing = GrownTree(*[np.empty(0, dtype=kind) for kind in ("i4",) * 4 + ("f8", "i4", "i8")])
        joined = GrownTree(*map(np.concatenate, zip(nothing, *trees, strict=True)))
        return (
            np.array([len(tree.feature) for tree in trees], dtype=np.int64),
            *joined[:5],
            np.concatenate([np.empty(0), *[made.step.ravel() for made in found.rounds]]),
            np.array([made.gain_unit for made in found.rounds], dtype=np.float64),
            np.array([wrong for wrong, _ in found.moved], dtype=np.int64),
            np.array(request.mean_losses(found), dtype=np.float64),
            found.state,
        )

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
        children = range(self._n_nodes, self._n_nodes + 2 * len(nodes))
        self._n_nodes = children.stop
        masks = None if allowed is None else np.repeat(allowed, 2, axis=0)
        found = self._search(list(children), masks)
        return [
            split if search[j // 2] else NodeSplit(-1, 0, split.n_rows, 0.0)
            for j, split in enumerate(found)
        ]

    def finish_tree(self, leaf_of_node: NDArray[np.int32], exponent: int) -> tuple[Floats, Floats]:
        """End the tree and sum the weights of its leaves."""
        if self._sums is not None:
            length, scale, sums = self._sums
            if length == self._session.length and scale == exponent:
                return sums
        self._session.command("finish_tree", leaf_of_node, exponent)
        found: tuple[Floats, Floats] = self._session.result()[0]
        return found

    def held_out(self) -> HeldOutRows:
        """Return the rows that the fit does not see, in the order of the shards."""
        by_shard: list[Any] = self._session.send(Collect("held_out"))
        return HeldOutRows(*map(np.concatenate, zip(*by_shard, strict=True)))

    def _grow(self, plan: PlannedTree, *, wants_result: bool = False) -> tuple[Any, GrownTree]:
        """Grow and finish a tree; return also the result of the last command, if it is wanted."""
        request = GrowTree(plan, self._has_owners(plan.features))
        if wants_result:
            result, (tree, sums) = self._session.result(request)
        else:
            result, (tree, sums) = None, self._session.send(request)
        self._session.record(*request.commands(tree))
        self._sums = self._session.length, plan.exponent, sums
        return result, tree

    def _search(self, nodes: list[int], allowed: NDArray[np.bool_] | None) -> list[NodeSplit]:
        by_owner = self._has_owners(self._tree[0])
        found: list[NodeSplit] = self._session.send(
            SearchNodes(*self._tree, nodes, allowed, by_owner)
        )
        return found

    def _has_owners(self, features: NDArray[np.int32]) -> bool:
        """Return whether workers should own features; see `NodeSums`."""
        n_bins = int(self._data.binned.n_bins[features].sum())
        others = self._data.placement.n_workers - 1
        return 4 * n_bins * self._slots.lanes * others > SHARED_BYTES
