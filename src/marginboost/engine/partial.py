"""The protocols of engines for a part of the rows, whose sums are added up elsewhere.

`StumpEngine` and `TreeEngine` sum whole numbers over their rows, so the sums of the parts of a data set
add up to those of the whole, in any order. Searches do not add up; for them these engines return the
sums that a search scans. `_native.scan_stump`, `scan_stumps`, `scan_splits` and `scan_nodes` scan the
totals of all parts, with the bits of a search of all rows.

A part may lack some of the classes, and may have no rows at all. The thresholds, and so the numbers of
bins, are those of the whole. `best_splits`, `split` and the like still search a part by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.stumps.base import Floats, Integers, StumpEngine
from marginboost.engine.trees.base import TreeEngine

if TYPE_CHECKING:
    from marginboost.engine.trees.base import RowSample


class PartialStumpEngine(StumpEngine, Protocol):
    """A `StumpEngine` that also returns the sums of its searches."""

    def histograms(self) -> NDArray[np.int32]:
        """Sum the searched direction by feature and bin.

        Returns
        -------
        (total bins, columns) array
            Of the direction, or of its projection's one column. The bins of all features, one feature
            after the other.
        """
        ...

    def tree_histograms(self) -> tuple[Integers, Floats | None]:
        """Sum the masses of the tree's rows by open node, feature and bin, and label.

        Returns
        -------
        masses : (nodes, total bins, labels) array
            Whole numbers.
        weights : (nodes, total bins) array or None
            The sums of the rows' leaf weights, which are whole numbers too; None if leaves have no
            least weight.
        """
        ...

    def move_rows(
        self, features: list[int], bins: list[int], left: list[int], right: list[int]
    ) -> None:
        """Move rows of open node q as `apply_splits` does, by given splits.

        Parameters
        ----------
        features : list of int
            Of every open node; -1: all of its rows go to left[q].
        bins : list of int
            Rows above bins[q] go to right[q], the others to left[q].
        left, right : list of int
            Nodes of the next level, or ~leaf.
        """
        ...


class PartialTreeEngine(TreeEngine, Protocol):
    """A `TreeEngine` that also returns the sums of its searches."""

    def begin_tree(self, features: NDArray[np.int32], sample: RowSample) -> None:
        """Put all rows in node 0, as `start_tree` does, without a search."""
        ...

    def move_rows(self, nodes: list[int], features: list[int], bins: list[int]) -> None:
        """Divide nodes as `split` does, without a search: children get the next two numbers."""
        ...

    def node_histograms(self, nodes: list[int]) -> NDArray[np.int32]:
        """Sum the direction of the sampled rows of some nodes by feature and bin.

        Returns
        -------
        (nodes, bins of the tree's features, lanes that a search sees) array
            The bins one feature after the other. The bins of any one feature add up to the node.
        """
        ...
