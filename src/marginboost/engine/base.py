"""The protocol of an engine: what a boosting method may ask of the data.

Big arrays stay inside; only small values come out. All sums are of integers (fixed point), so they
do not depend on the order, the threads or the machines that made them; everything else is one IEEE
operation an element. So all engines give the same bits, and a contract test holds them to it.

Notation as in the paper: `e[i, r] = exp(-(F[i, y_i] - F[i, r]))`; u is the weight of the pair (i, r);
g the direction, `g[i, r] = -u[i, r]` and `g[i, y_i] = sum of u[i, :]`; h(x_i) in {-1, +1} the weak
classifier, held as a side: 0 for h = -1, 1 for h = +1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.loss import Loss

Floats = NDArray[np.float64]

# e is kept inside these bounds: a weight that underflows to zero would never come back.
SMALLEST_EXPONENTIAL = 2.0**-960
LARGEST_EXPONENTIAL = 2.0**500


class Engine(Protocol):
    """The rows of one fit, their margins, and the sums over them."""

    @property
    def name(self) -> str:
        """The word users choose it by."""
        ...

    def load(self, data: TrainingSet, loss: Loss) -> None:
        """Take the rows, with all margins zero and all rows on side 0."""
        ...

    def advance(self, up: Floats, down: Floats, exponent: int) -> int:
        """Move the margins, then form the direction anew.

        Parameters
        ----------
        up, down : (2, k) arrays
            `e[i, r]` is multiplied by `up[s, r] * down[s, y_i]`, s the row's side.
        exponent : int
            The direction is rounded to multiples of 2**-exponent, and must then fit in int32 with
            its sum of absolute values over the rows.

        Returns
        -------
        int
            Number of rows, with their multiplicity, that have a margin of zero or less.
        """
        ...

    def best_stump(self) -> tuple[int, int, int, int]:
        """Find the largest |edge| over features, bins and classes.

        Returns
        -------
        feature, bin, column, edge : int
            `edge` is the fixed-point sum of g[:, column] * h with h = +1 where the feature's bin is
            above `bin`. Among equals the first feature, then the first bin, then a positive edge,
            then the first class wins. Feature -1: no feature has two bins.
        """
        ...

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        ...

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and class.

        Weights are rounded to multiples of 2**-exponent; their sum must stay below 2**51 of those.

        Returns
        -------
        (2, k, k) array
            Exact sums; the entries [s, a, a] are zero.
        """
        ...

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) likewise, at the margins that `up` and `down` would move to."""
        ...

    def start_tree(self, column: int) -> None:
        """Start a tree for one class's direction, with all rows in node 0."""
        ...

    def best_splits(self) -> NDArray[np.int64]:
        """Find the best split of every open node, by weighted Gini impurity.

        Returns
        -------
        (nodes, 6) array
            feature (-1: none), bin, positive and negative mass of the node, and of its left part.
            Among equals the first feature, then the first bin wins.
        """
        ...

    def apply_splits(self, left: list[int], right: list[int]) -> None:
        """Move rows of node q to left[q] or right[q]: nodes of the next level, or ~leaf."""
        ...

    def finish_tree(self, leaf_side: list[int]) -> None:
        """Put the rows of each leaf on its side."""
        ...
