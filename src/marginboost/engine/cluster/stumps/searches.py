"""Searches: workers sum by bin, the owner of a feature adds up and scans, the client compares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.engine.cluster.questions import Question, total

if TYPE_CHECKING:
    from marginboost.engine.cluster.replica import Replica

Arrays = list[Any]  # arrays over bins, and None in the place of one that there is not


class UnkeptError(Exception):
    """Histograms that were to be subtracted from are not there."""


class Kept:
    """The histograms of a tree's nodes that an owner keeps, of its own features."""

    def __init__(self) -> None:
        self._tree: object = None
        self._of_node: dict[int, NDArray[np.int32]] = {}

    def of_tree(self, tree: object) -> dict[int, NDArray[np.int32]]:
        """Return what is kept of a tree; what was kept of another one is gone."""
        if tree != self._tree:
            self._tree, self._of_node = tree, {}
        return self._of_node


class Search(Question):
    """A question about the sums of all rows by feature and bin."""

    axis: int  # of the arrays that goes over the bins

    @abstractmethod
    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the numbers of bins of the features that are searched, of those of all."""

    @abstractmethod
    def fill(self, replicas: Sequence[Replica]) -> Arrays:
        """Sum over a worker's shards."""

    @abstractmethod
    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], kept: Kept) -> Any:
        """Find the best of an owner's features, of which there is at least one."""

    def cut(self, sums: Arrays, bins: slice) -> Arrays:
        """Take the sums of some bins."""
        where = (slice(None),) * self.axis + (bins,)
        return [None if a is None else np.ascontiguousarray(a[where]) for a in sums]


@dataclass(frozen=True)
class StumpSearch(Search):
    """`StumpEngine.best_stump`."""

    criterion: int
    axis = 0

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search all features."""
        return n_bins

    def fill(self, replicas: Sequence[Replica]) -> Arrays:
        """Sum the direction by bin."""
        return [total([replica.engine.histograms() for replica in replicas])]

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], kept: Kept) -> Any:
        """Find the best stump."""
        return _native.scan_stump(sums[0], n_bins, self.criterion)

    def join(self, answers: list[Any], bounds: list[int]) -> tuple[int, int, int, int]:
        """Take the largest; among equals the first feature's."""
        best = (-1, 0, 0, 0)
        for (feature, bin_, column, edge), begin in of_owners(answers, bounds):
            if feature >= 0 and (best[0] < 0 or abs(edge) > abs(best[3])):
                best = (feature + begin, bin_, column, edge)
        return best


@dataclass(frozen=True)
class StumpsSearch(StumpSearch):
    """`StumpEngine.best_stumps`."""

    criterion: int = 0

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], kept: Kept) -> Any:
        """Find the best stump of every column."""
        return _native.scan_stumps(sums[0], n_bins)

    def join(self, answers: list[Any], bounds: list[int]) -> Any:
        """Take the largest edge of every column; among equals the first feature's."""
        best = None
        for answer, begin in of_owners(answers, bounds):
            rows = np.array(answer, dtype=np.int64)
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
    """`StumpEngine.best_splits`; a leaf must hold the least weight, where rows have one for that."""

    least_weight: float
    axis = 1

    def n_bins(self, n_bins: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search all features."""
        return n_bins

    def fill(self, replicas: Sequence[Replica]) -> Arrays:
        """Sum masses by node, bin and label, and the leaf weights by node and bin."""
        return list(total([replica.engine.tree_histograms() for replica in replicas]))

    def scan(self, sums: Arrays, n_bins: NDArray[np.int32], kept: Kept) -> Any:
        """Find the best split of every open node."""
        return _native.scan_splits(sums[0], sums[1], n_bins, self.least_weight)

    def join(self, answers: list[Any], bounds: list[int]) -> Any:
        """Take the largest score of every node; among equals the first feature's."""
        best = scores = None
        for answer, begin in of_owners(answers, bounds):
            rows, here = np.array(answer[0], dtype=np.int64), np.array(answer[1])
            rows[rows[:, 0] >= 0, 0] += begin
            if best is None or scores is None:
                best, scores = rows, here
                continue
            better = here > scores
            best[better], scores[better] = rows[better], here[better]
        return best


def of_owners(answers: list[Any], bounds: list[int]) -> Iterator[tuple[Any, int]]:
    """Leave out owners of nothing; give the others' answers with their first feature."""
    for answer, begin in zip(answers, bounds, strict=False):  # the last bound begins nothing
        if answer is not None:
            yield answer, begin
