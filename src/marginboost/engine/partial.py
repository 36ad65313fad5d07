"""The protocol of an engine for a part of the rows, whose sums are added up elsewhere.

A `TreeEngine` sums whole numbers over its rows, so the sums of the parts of a data set add up to those of
the whole, in any order. Searches do not add up; for them these engines return the sums that a search
scans. `_native.search_parts` scans the totals of all parts, with the bits of a search of all rows.

A part may lack some of the classes, and may have no rows at all. The thresholds, and so the numbers of
bins, are those of the whole. `split` and the like still search a part by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.base import TreeEngine

if TYPE_CHECKING:
    from marginboost.engine.trees.base import RowSample


class PartialTreeEngine(TreeEngine, Protocol):
    """A `TreeEngine` that also returns the sums of its searches."""

    def begin_tree(self, features: NDArray[np.int32], sample: RowSample) -> None:
        """Put all rows in node 0, as `start_tree` does, without a search."""
        ...

    def move_rows(self, nodes: list[int], features: list[int], bins: list[int]) -> None:
        """Divide nodes as `split` does, without a search: children get the next two numbers."""
        ...

    def node_histograms(
        self, nodes: list[int], out: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Sum the direction of the sampled rows of some nodes by feature and bin.

        Parameters
        ----------
        nodes : list of int
            The nodes.
        out : array, optional
            Memory that may be used for what is returned.

        Returns
        -------
        (nodes, bins of the tree's features, lanes that a search sees) array
            The bins one feature after the other. The bins of any one feature add up to the node.
        """
        ...
