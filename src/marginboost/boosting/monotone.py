"""Steps of a tree's leaves under which differences of two classes' scores rise, or fall, with a feature.

Two rows that differ in one feature take the same way down a tree until a node splits that feature: the
row of the lower value then goes to the left. So a tree is monotone if, at every such node, no leaf on the
left has a larger difference than any leaf on the right. To that end the two sides get a bound in common,
which lies in the middle of what their own sums ask for, or is what their joint sums ask for where the two
are in the wrong order. All leaves below keep to it. The bounds are found in C++, once for every engine.

The steps are whole numbers of a grid, and are added up without rounding. So the sum of all trees is
monotone too, and not only up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

if TYPE_CHECKING:
    from marginboost.engine.trees.growth import AnyBinnedTree, Tree

__all__ = ["ClassForest", "MonotoneSteps", "exact_factors"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Steps are multiples of 2**-24. Those of a fit are multiplied by its scale, a multiple of 2**-10, and its
# share, one of 1/16, and by a quarter where it is the mean of four fits: the product is on the grid of
# `marginboost.coefficients.grid`.
STEP_BITS, FACTOR_BITS = 24, 10


class ClassForest(NamedTuple):
    """The pairs as edges of a graph of classes.

    Attributes
    ----------
    edges : list of (int, int, int)
        A pair, a class that is reached before, and one that is reached by the pair.
    components : list of lists of int
        The classes that pairs connect.
    has_cycle : bool
        Whether some pairs are not among the edges, as their classes were reached before.
    """

    edges: list[tuple[int, int, int]]
    components: list[list[int]]
    has_cycle: bool

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> ClassForest:
        """Search the graph from class to class."""
        edges: list[tuple[int, int, int]] = []
        components: list[list[int]] = []
        reached: set[int] = set()
        for first in sorted({r for pair in pairs for r in pair}):
            if first in reached:
                continue
            component = [first]
            reached.add(first)
            for known in component:  # grows on the way
                for p, pair in enumerate(pairs):
                    new = pair[1] if pair[0] == known else pair[0]
                    if known in pair and new not in reached:
                        edges.append((p, known, new))
                        component.append(new)
                        reached.add(new)
            components.append(component)
        return cls(edges, components, len(edges) < len(pairs))


class MonotoneSteps:
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
        forest = ClassForest.of(pairs)
        sizes = [len(classes) for classes in forest.components]
        self._rules = (
            np.array(self._pairs, dtype=np.int64).reshape(-1, 2),
            np.array(forest.edges, dtype=np.int64).reshape(-1, 3),
            np.array([r for classes in forest.components for r in classes], dtype=np.int64),
            np.cumsum([0, *sizes], dtype=np.int64),
            forest.has_cycle,
        )

    def steps(
        self,
        tree: Tree,
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
        # Nodes first, then leaves: ~child is the number of a leaf.
        left, right = (
            np.where(side < 0, n_nodes + ~side, side)
            for side in (np.asarray(tree.left, np.int64), np.asarray(tree.right, np.int64))
        )
        n_classes = own.shape[1]
        sums = np.empty((n_nodes + len(own), 2 * n_classes))
        sums[n_nodes:, :n_classes], sums[n_nodes:, n_classes:] = own, against
        _native.sum_nodes(left, right, sums)
        wanted = _whole_steps(
            vectors(
                np.ascontiguousarray(sums[:, :n_classes]), np.ascontiguousarray(sums[:, n_classes:])
            )
        )
        _native.keep_monotone(left, right, signs, *self._rules, wanted)
        return _of_steps(wanted[n_nodes:])

    def hold(self, tree: AnyBinnedTree, steps: Floats) -> bool:
        """Return whether a tree with these steps of its leaves is monotone."""
        n_nodes = len(tree.feature)
        ends = self._differences(steps)
        lowest = np.concatenate([np.zeros((n_nodes, ends.shape[1])), ends])
        highest = lowest.copy()
        for node in range(n_nodes - 1, -1, -1):
            sides = [tree.left[node], tree.right[node]]
            left, right = (n_nodes + ~side if side < 0 else side for side in sides)
            signs = self._signs[tree.feature[node]]
            falls = (signs > 0) & (highest[left] > lowest[right])
            rises = (signs < 0) & (lowest[left] < highest[right])
            if (falls | rises).any():
                return False
            lowest[node] = np.minimum(lowest[left], lowest[right])
            highest[node] = np.maximum(highest[left], highest[right])
        return True

    def _differences(self, vectors: Any) -> Any:
        return np.stack([vectors[:, a] - vectors[:, b] for a, b in self._pairs], axis=1)


def _whole_steps(vectors: Floats) -> Integers:
    found: Integers = np.rint(np.ldexp(vectors, STEP_BITS)).astype(np.int64)
    return found


def _of_steps(steps: Integers) -> Floats:
    found: Floats = np.ldexp(steps.astype(np.float64), -STEP_BITS)
    return found


def exact_factors(factors: Floats, bits: int = FACTOR_BITS) -> Floats:
    """Round factors of whole fits to multiples of 2**-bits above zero: products with steps are exact."""
    rounded: Floats = np.ldexp(np.maximum(np.rint(np.ldexp(factors, bits)), 1.0), -bits)
    return rounded
