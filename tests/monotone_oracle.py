"""The steps of monotone trees in NumPy, level by level: what the compiled ones are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.monotone import ClassForest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STEP_BITS = 24
_FREE = 1 << 60  # a bound that binds nothing
_SWEEPS = 3


class PlainMonotoneSteps:
    """What the steps of a tree's leaves must keep to.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Numbers of two classes a and b: the difference is that of a's score less b's.
    signs : int8 array of features x pairs
        +1 where the difference must not fall as the feature rises, -1 where it must not rise, else 0.
    """

    def __init__(self, pairs: Sequence[tuple[int, int]], signs: NDArray[np.int8]) -> None:
        self._pairs, self._signs = list(pairs), signs
        self._forest = ClassForest.of(pairs)

    def steps(
        self,
        tree: Any,
        own: Floats,
        against: Floats,
        vectors: Callable[[Floats, Floats], Floats],
    ) -> Floats:
        """Return the steps of the leaves.

        Parameters
        ----------
        tree : Tree
            The tree.
        own, against : float64 arrays of leaves x classes
            The sums of the leaves.
        vectors : callable
            Takes such sums; returns the steps of leaves without constraints.
        """
        n_nodes = len(tree.feature)
        signs = self._signs[tree.feature]
        if not signs.any():
            return _of_steps(_whole_steps(vectors(own, against)))
        left, right = (np.asarray(side, dtype=np.int64) for side in (tree.left, tree.right))
        # Nodes first, then leaves: ~child is the number of a leaf.
        left = np.where(left < 0, n_nodes + ~left, left)
        right = np.where(right < 0, n_nodes + ~right, right)
        levels = _levels(left, right, n_nodes)
        sums = np.zeros((n_nodes + len(own), 2, own.shape[1]))
        sums[n_nodes:, 0], sums[n_nodes:, 1] = own, against
        for nodes in reversed(levels):
            sums[nodes] = sums[left[nodes]] + sums[right[nodes]]
        wanted = _whole_steps(
            vectors(np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1]))
        )
        most = np.full((len(wanted), len(self._pairs)), _FREE)
        least = -most
        for nodes in levels:
            sides = np.concatenate([left[nodes], right[nodes]])
            rises = signs[nodes]
            low, high = np.tile(least[nodes], (2, 1)), np.tile(most[nodes], (2, 1))
            side_vectors = self._within(wanted[sides], low, high)
            middle = self._differences(self._between(wanted[nodes], side_vectors, rises))
            bound = np.concatenate([middle, middle])
            rises = np.concatenate([rises, -rises])
            most[sides] = high = np.where(rises > 0, np.minimum(high, bound), high)
            least[sides] = low = np.where(rises < 0, np.maximum(low, bound), low)
            wanted[sides] = self._within(side_vectors, low, high)
        return _of_steps(wanted[n_nodes:])

    def _between(self, joint: Integers, sides: Integers, signs: NDArray[np.int8]) -> Integers:
        """Return vectors whose differences become the bounds of the two sides of nodes.

        They keep to the bounds of their nodes. So bounds agree with each other, whatever the pairs. Sides
        that are in the wrong order will both be at the bound: what all of their rows ask for suits them
        better than the middle does, where one side may hold few rows.

        Parameters
        ----------
        joint : int64 array of nodes x classes
            The vectors of the nodes.
        sides : int64 array of 2 nodes x classes
            Those of the left sides, then of the right ones.
        signs : int8 array of nodes x pairs
            Of the split features.
        """
        left, right = sides[: len(joint)], sides[len(joint) :]
        wrong = (signs * self._differences(left - right) > 0).any(axis=1)
        found: Integers = np.where(wrong[:, None], joint, (left + right) // 2)
        return found

    def _differences(self, vectors: Any) -> Any:
        return np.stack([vectors[:, a] - vectors[:, b] for a, b in self._pairs], axis=1)

    def _within(self, vectors: Integers, least: Integers, most: Integers) -> Integers:
        """Move vectors until their differences are within bounds, which some vector keeps to."""
        found = self._differences(vectors)
        kept = np.minimum(np.maximum(found, least), most)
        if np.array_equal(found, kept):
            return vectors
        moved = vectors.copy()
        if not self._forest.has_cycle:  # all differences can be chosen at will
            for p, known, new in self._forest.edges:
                step = kept[:, p] if new == self._pairs[p][0] else -kept[:, p]
                moved[:, new] = moved[:, known] + step
            for classes in self._forest.components:  # so that their mean stays
                missing = (vectors[:, classes] - moved[:, classes]).sum(axis=1)
                moved[:, classes] += (missing // len(classes))[:, None]
            return moved
        return self._lowered(moved, least, most)

    def _lowered(self, vectors: Integers, least: Integers, most: Integers) -> Integers:
        """Move vectors in place, where differences depend on each other."""
        for _ in range(_SWEEPS):
            for p, (a, b) in enumerate(self._pairs):
                found = vectors[:, a] - vectors[:, b]
                excess = found - np.minimum(np.maximum(found, least[:, p]), most[:, p])
                half = excess >> 1
                vectors[:, a] -= excess - half
                vectors[:, b] += half
        # Lower entries until all bounds hold. As bounds agree with each other, that ends: it is the
        # Bellman-Ford algorithm for shortest paths.
        while True:
            before = vectors.copy()
            for p, (a, b) in enumerate(self._pairs):
                vectors[:, a] = np.minimum(vectors[:, a], vectors[:, b] + most[:, p])
                vectors[:, b] = np.minimum(vectors[:, b], vectors[:, a] - least[:, p])
            if np.array_equal(before, vectors):
                return vectors


def _whole_steps(vectors: Floats) -> Integers:
    found: Integers = np.rint(np.ldexp(vectors, STEP_BITS)).astype(np.int64)
    return found


def _of_steps(steps: Integers) -> Floats:
    found: Floats = np.ldexp(steps.astype(np.float64), -STEP_BITS)
    return found


def _levels(left: Integers, right: Integers, n_nodes: int) -> list[Integers]:
    """Return the divided nodes of each depth, the root's first."""
    levels = []
    nodes = np.arange(min(n_nodes, 1))
    while len(nodes):
        levels.append(nodes)
        children = np.concatenate([left[nodes], right[nodes]])
        nodes = children[children < n_nodes]
    return levels
