"""Searches: workers sum by bin, the owner of a feature adds up and scans, the client compares.

Where sums are short and workers few, the client adds up and scans them all: that costs fewer messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.cluster.ranges import bin_slices
from marginboost.engine.cluster.requests import SharedRequest, total

if TYPE_CHECKING:
    from marginboost.engine.cluster.peers import Peers
    from marginboost.engine.cluster.shard_state import ShardState

# Bytes of all workers' sums, for one search, up to which the client adds them up itself.
CLIENT_BYTES = 1 << 18


class Search(SharedRequest):
    """A request for the best of all features, by the sums of all rows by feature and bin."""

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
        values = int(n_bins.sum()) * n_classes
        return n_owners > 1 and 4 * values * n_owners <= CLIENT_BYTES

    @abstractmethod
    def fill(self, states: Sequence[ShardState]) -> NDArray[np.int32]:
        """Sum over a worker's shards, by bin."""

    @abstractmethod
    def scan(self, sums: NDArray[np.int32], n_bins: NDArray[np.int32]) -> Any:
        """Find the best of some features, of which there is at least one.

        Parameters
        ----------
        sums : array
            The sums over all rows.
        n_bins : int32 array
            Bins of the features.
        """

    def evaluate(self, states: Sequence[ShardState], peers: Peers, bounds: list[int]) -> Any:
        """Sum, and scan the features that we own; only sum where the client scans."""
        sums = self.fill(states)
        if not bounds:
            return sums
        n_bins = states[0].data.binned.n_bins
        slices = bin_slices(n_bins, bounds)
        ours = total(peers.exchange([np.ascontiguousarray(sums[bins]) for bins in slices]))
        begin, end = bounds[peers.rank : peers.rank + 2]
        return self.scan(ours, n_bins[begin:end]) if end > begin else None


def of_owners(values: list[Any], bounds: list[int]) -> Iterator[tuple[Any, int]]:
    """Yield the value and the first feature of each owner that has features."""
    for value, begin in zip(values, bounds, strict=False):  # the last bound begins nothing
        if value is not None:
            yield value, begin
