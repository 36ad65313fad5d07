"""Searches: workers sum by bin, the owner of a feature adds up and scans, the client compares.

Where sums are short and workers few, the client adds up and scans them all: that costs fewer messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.requests import Request

if TYPE_CHECKING:
    from marginboost.engine.cluster.shard_state import ShardState

Arrays = list[Any]  # arrays over bins

# Bytes of all workers' sums, for one search, up to which the client adds them up itself.
CLIENT_BYTES = 1 << 18


class MissingHistogramError(Exception):
    """A histogram to subtract from is not in the cache."""


class HistogramCache:
    """The histograms of a tree's nodes that an owner keeps, for its own features."""

    def __init__(self) -> None:
        self._tree: object = None
        self._of_node: dict[int, NDArray[np.int32]] = {}

    def of_tree(self, tree: object) -> dict[int, NDArray[np.int32]]:
        """Return the histograms of a tree, by node; drop those of another tree."""
        if tree != self._tree:
            self._tree, self._of_node = tree, {}
        return self._of_node


class Search(Request):
    """A request for the best of all features, by the sums of all rows by feature and bin."""

    axis: int  # of the arrays, the one over the bins
    usual_nodes = 1  # nodes that are searched at once, about

    def suits_client(self, n_bins: NDArray[np.int32], n_classes: int, n_owners: int) -> bool:
        """Return whether the client should add up and scan the sums of all workers.

        Parameters
        ----------
        n_bins : int32 array
            Bins of all features.
        n_classes : int
            Number of classes.
        n_owners : int
            Number of workers.
        """
        values = int(self.n_bins(n_bins).sum()) * n_classes * self.usual_nodes
        return n_owners > 1 and 4 * values * n_owners <= CLIENT_BYTES

    @abstractmethod
    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Select the numbers of bins of the searched features from those of all features."""

    @abstractmethod
    def fill(self, states: Sequence[ShardState]) -> Arrays:
        """Sum over a worker's shards."""

    @abstractmethod
    def scan(
        self, sums: Arrays, n_bins: NDArray[np.int32], cache: HistogramCache, begin: int = 0
    ) -> Any:
        """Find the best of an owner's features, of which there is at least one.

        Parameters
        ----------
        sums : list of arrays
            The sums over all rows.
        n_bins : int32 array
            Bins of the owner's features.
        cache : HistogramCache
            The owner's.
        begin : int
            The first of the owner's features, among the searched ones.
        """

    def cut(self, sums: Arrays, bins: slice) -> Arrays:
        """Return the sums of some bins."""
        where = (slice(None),) * self.axis + (bins,)
        return [np.ascontiguousarray(a[where]) for a in sums]


def of_owners(values: list[Any], bounds: list[int]) -> Iterator[tuple[Any, int]]:
    """Yield the value and the first feature of each owner that has features."""
    for value, begin in zip(values, bounds, strict=False):  # the last bound begins nothing
        if value is not None:
            yield value, begin
