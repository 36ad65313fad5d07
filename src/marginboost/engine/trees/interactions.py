"""Which features may be split below which: the interactions that a tree may have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.engine.trees.base import NodeSplit, TreeEngine
    from marginboost.engine.trees.growth import AnyBinnedTree

__all__ = ["ConstrainedSplits", "Interactions"]

# Masks that are kept; a fit with more than these computes some of them again.
_MOST_MASKS = 4096


class Interactions:
    """The columns of X that may be split on the same path from a root to a leaf.

    All columns of a path must share a group. So the columns that a node may split are those of all
    groups that hold every column above it, and they become fewer on the way down.

    Parameters
    ----------
    column_of_feature : integer array
        The column of X that each feature of the trees is made from.
    groups : iterable of collections of int, or int
        Groups of columns; together they hold all columns. An integer n stands for all groups of n
        columns: any column may be split, until there are n.
    """

    def __init__(
        self, column_of_feature: NDArray[np.integer], groups: Iterable[Iterable[int]] | int
    ) -> None:
        self._column_of = column_of_feature
        self._n_columns = int(column_of_feature.max(initial=-1)) + 1
        self._groups = groups if isinstance(groups, int) else [frozenset(g) for g in groups]
        self._masks: dict[frozenset[int], NDArray[np.bool_]] = {}

    def below(self, path: frozenset[int], feature: int) -> frozenset[int]:
        """Return the columns above the children of a node that splits a feature."""
        return path | {int(self._column_of[feature])}

    def allowed(self, path: frozenset[int]) -> NDArray[np.bool_]:
        """Return which features a node below some columns may split."""
        found = self._masks.get(path)
        if found is None:
            if len(self._masks) >= _MOST_MASKS:
                self._masks.clear()
            found = self._masks[path] = self._columns_below(path)[self._column_of]
        return found

    def hold(self, tree: AnyBinnedTree) -> bool:
        """Return whether all paths of a tree keep to the groups; children come after their parents."""
        above: dict[int, frozenset[int]] = {0: frozenset()}
        for node, feature in enumerate(tree.feature):
            if not self.allowed(above[node])[feature]:
                return False
            path = self.below(above[node], feature)
            above.update({int(tree.left[node]): path, int(tree.right[node]): path})
        return True

    def _columns_below(self, path: frozenset[int]) -> NDArray[np.bool_]:
        columns = np.zeros(self._n_columns, dtype=bool)
        if isinstance(self._groups, int):
            columns[:] = len(path) < self._groups
            columns[list(path)] = True
        else:
            for group in self._groups:
                if path <= group:
                    columns[list(group)] = True
        return columns


class ConstrainedSplits:
    """The splits of one tree, whose new nodes are searched only for the features they may split.

    Parameters
    ----------
    engine : TreeEngine
        Has just started the tree.
    features : int32 array
        The tree's features.
    interactions : Interactions
        What paths may hold.
    """

    def __init__(
        self, engine: TreeEngine, features: NDArray[np.int32], interactions: Interactions
    ) -> None:
        self._engine, self._features, self._interactions = engine, features, interactions
        self._paths: list[frozenset[int]] = [frozenset()]  # the columns above each node

    def split(
        self,
        nodes: Sequence[int],
        features: Sequence[int],
        bins: Sequence[int],
        search: Sequence[bool],
    ) -> list[NodeSplit]:
        """Divide nodes, as `TreeEngine.split` does."""
        paths = [
            self._interactions.below(self._paths[node], feature)
            for node, feature in zip(nodes, features, strict=True)
        ]
        self._paths += [path for path in paths for _ in range(2)]
        masks = [self._interactions.allowed(path)[self._features] for path in paths]
        return self._engine.split(
            list(nodes), list(features), list(bins), list(search), np.stack(masks)
        )
