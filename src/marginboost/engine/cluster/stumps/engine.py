"""The engine for stumps on a cluster: any engine on every worker's shard, and their sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.requests import Sum
from marginboost.engine.cluster.session import Session
from marginboost.engine.cluster.stumps.stump_search import StumpSearch
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.stumps.native import NativeStumpEngine

if TYPE_CHECKING:
    from marginboost.engine.cluster.training_set import ClusterTrainingSet
    from marginboost.engine.stumps.base import Floats, Integers, Weighting


class ClusterStumpEngine:
    """See `StumpEngine`; the data of `load` are a `ClusterTrainingSet`.

    The client adds up sums. Searches are divided among the workers by feature: each adds up and scans
    its share. A call that only changes the shards' state costs no message. A round with a stump costs
    two: one to place the rows and sum their weights, and one to advance and search again.

    Parameters
    ----------
    shard_engine : callable
        Makes the engine of a shard, a `StumpEngine`, given the number of its worker's threads.
    """

    name = "cluster"

    _session: Session

    def __init__(self, shard_engine: Callable[[int], Any] = NativeStumpEngine) -> None:
        self._shard_engine = shard_engine

    def load(self, data: ClusterTrainingSet, weighting: Weighting) -> None:
        """Take the rows."""
        self.close()
        # What is known already, at a length of this fit's log.
        self._found: tuple[int, StumpSearch, Any] | None = None
        self._session = data.open_session()
        self._session.command("load", self._shard_engine, weighting)

    def close(self) -> None:
        """Let the workers forget the fit; the training set stays."""
        if hasattr(self, "_session"):
            self._session.close()

    def advance(
        self, up: Floats, down: Floats, exponent: int, next_search: int | None = None
    ) -> int:
        """Move the margins, then form the new direction."""
        return self._advance(next_search, "advance", up, down, exponent)

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Do the same with a factor for every side, class and output."""
        return self._advance(next_search, "advance_table", table, exponent)

    def project(self, signs: NDArray[np.int8]) -> None:
        """Let searches see one output."""
        self._session.command("project", signs)

    def best_stump(self, criterion: int = Criterion.LARGEST) -> tuple[int, int, int, int]:
        """Find the best stump over features, bins and outputs."""
        search = StumpSearch(int(criterion))
        if self._found is not None and self._found[:2] == (self._session.length, search):
            found: tuple[int, int, int, int] = self._found[2]
            return found
        best: tuple[int, int, int, int] = self._session.send(search)
        return best

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        self._session.command("place_stump", feature, bin_, above_is_one)

    def place_tree(
        self,
        feature: list[int],
        bin_: list[int],
        left: list[int],
        right: list[int],
        leaf_side: list[int],
    ) -> None:
        """Put rows on the sides of a tree's leaves."""
        self._session.command("place_tree", feature, bin_, left, right, leaf_side)

    def edges(self) -> Integers:
        """Sum g * h for every output."""
        edges: Integers = self._session.send(Sum("edges"))
        return edges

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and output."""
        sums: Floats = self._session.send(Sum("sums", (exponent,)))
        return sums

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) at the margins that `up` and `down` would move to."""
        sums: tuple[Floats, Floats] = self._session.send(
            Sum("sums_and_curvature", (exponent, up, down))
        )
        return sums

    def histograms(self) -> NDArray[np.int32]:
        """Sum what searches see by feature and bin."""
        histograms: NDArray[np.int32] = self._session.send(Sum("histograms"))
        return histograms

    def _advance(self, next_search: int | None, name: str, *args: Any) -> int:
        """Advance, with the next search in the same message."""
        self._session.command(name, *args)
        search = None if next_search is None else StumpSearch(int(next_search))
        count, value = self._session.result(search)
        self._found = None if search is None else (self._session.length, search, value)
        return int(count)
