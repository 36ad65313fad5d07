"""The searches for stumps, and for the splits of trees with -1/+1 leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.requests import total
from marginboost.engine.cluster.search import Arrays, HistogramCache, Search, of_owners

if TYPE_CHECKING:
    from marginboost.engine.cluster.shard_state import ShardState


@dataclass(frozen=True)
class StumpSearch(Search):
    """`StumpEngine.best_stump`."""

    criterion: int
    axis = 0

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search all features."""
        return n_bins

    def fill(self, states: Sequence[ShardState]) -> Arrays:
        """Sum the direction by bin."""
        return [total([state.engine.histograms() for state in states])]

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], cache: HistogramCache) -> Any:
        """Find the best stump."""
        return _native.scan_stump(sums[0], n_bins, self.criterion)

    def join(self, values: list[Any], bounds: list[int]) -> tuple[int, int, int, int]:
        """Take the largest; ties go to the first feature."""
        best = (-1, 0, 0, 0)
        for (feature, bin_, column, edge), begin in of_owners(values, bounds):
            if feature >= 0 and (best[0] < 0 or abs(edge) > abs(best[3])):
                best = (feature + begin, bin_, column, edge)
        return best


@dataclass(frozen=True)
class StumpsSearch(StumpSearch):
    """`StumpEngine.best_stumps`."""

    criterion: int = 0

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], cache: HistogramCache) -> Any:
        """Find the best stump of every column."""
        return _native.scan_stumps(sums[0], n_bins)

    def join(self, values: list[Any], bounds: list[int]) -> Any:
        """Take the largest edge of every column; ties go to the first feature."""
        best = None
        for value, begin in of_owners(values, bounds):
            rows = np.array(value, dtype=np.int64)
            some = rows[:, 0] >= 0
            rows[some, 0] += begin
            if best is None:
                best = rows
                continue
            better = some & ((best[:, 0] < 0) | (np.abs(rows[:, 2]) > np.abs(best[:, 2])))
            best[better] = rows[better]
        return best


@dataclass(frozen=True)
class SplitSearch(Search):
    """`StumpEngine.best_splits`; leaves hold at least `least_weight`, if rows have leaf weights."""

    least_weight: float
    axis = 1

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search all features."""
        return n_bins

    def fill(self, states: Sequence[ShardState]) -> Arrays:
        """Sum masses by node, bin and label, and the leaf weights by node and bin."""
        return list(total([state.engine.tree_histograms() for state in states]))

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], cache: HistogramCache) -> Any:
        """Find the best split of every open node."""
        return _native.scan_splits(sums[0], sums[1], n_bins, self.least_weight)

    def join(self, values: list[Any], bounds: list[int]) -> Any:
        """Take the largest score of every node; ties go to the first feature."""
        best = scores = None
        for value, begin in of_owners(values, bounds):
            rows, here = np.array(value[0], dtype=np.int64), np.array(value[1])
            rows[rows[:, 0] >= 0, 0] += begin
            if best is None or scores is None:
                best, scores = rows, here
                continue
            better = here > scores
            best[better], scores[better] = rows[better], here[better]
        return best
