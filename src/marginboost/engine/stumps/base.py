"""The protocol of an engine for stumps: the operations on the rows that a boosting method needs.

Big arrays stay inside; only small values come out. All sums are of integers (fixed point), so they
do not depend on the order, the threads or the machines; everything else is one IEEE operation per
element. So all engines give the same bits, which a contract test checks.

Notation as in the paper: u is the weight of the pair (row i, output c), made by the loss from the
exponential e; g the direction; h(x_i) in {-1, +1} the weak classifier, held as a side: 0 for h = -1, 1
for h = +1. An output is a class (`Weighting.code` is None), with `e[i, r] = exp(-(F[i, y_i] - F[i, r]))`,
`g[i, r] = -u[i, r]` and `g[i, y_i] = sum of u[i, :]`; or a column of a code, with
`g[i, c] = code[y_i, c] * u[i, c]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from marginboost.loss import Loss

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# e is kept inside these bounds: a weight that underflows to zero would never come back.
SMALLEST_EXPONENTIAL = 2.0**-960
LARGEST_EXPONENTIAL = 2.0**500


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """How to compute the weights and the direction from the exponentials.

    Attributes
    ----------
    loss : Loss
        Computes u from e.
    code : int8 array of n_classes x n_outputs, or None
        The target of each class in each output: -1, +1, or 0 for none. None: the outputs are the classes
        and the direction is that of the margins.
    """

    loss: Loss
    code: NDArray[np.int8] | None = None


class StumpEngine(Protocol):
    """The rows of one fit, their exponentials, and the sums over them, on any device.

    The rows may be a part of a data set, without some of the classes, or without any rows. See
    `HostStumpEngine` for what only the engines on the host do.
    """

    @property
    def name(self) -> str:
        """The name that users choose it by."""
        ...

    def load(self, data: Any, weighting: Weighting) -> None:
        """Take the rows (`Rows` of the kind that the engine takes), all e = 1, all on side 0.

        A row's own class (or an output whose code is 0) has no weight: e is almost 0 there.
        """
        ...

    def advance(
        self, up: Floats, down: Floats, exponent: int, next_search: int | None = None
    ) -> int:
        """Move the margins, then form the new direction.

        Parameters
        ----------
        up, down : (2, k) arrays
            `e[i, r]` is multiplied by `up[s, r] * down[s, y_i]`, s the row's side.
        exponent : int
            The direction is rounded to multiples of 2**-exponent, and must then fit in int32 with
            its sum of absolute values over the rows.
        next_search : Criterion or None
            The criterion of the `best_stump` that the caller will ask for next, if it knows. A distant
            engine then searches at once and saves a message; the results do not depend on it.

        Returns
        -------
        int
            Number of rows, with their multiplicity, that have a margin of zero or less.
        """
        ...

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Do the same with `e[i, c]` multiplied by `table[s, y_i, c]`, a (2, k, outputs) array."""
        ...

    def project(self, signs: NDArray[np.int8]) -> None:
        """Let searches see one output, the direction's outputs times `signs`, until the next advance."""
        ...

    def best_stump(self, criterion: int = Criterion.LARGEST) -> tuple[int, int, int, int]:
        """Find the best stump over features, bins and outputs.

        Returns
        -------
        feature, bin, output, edge : int
            `edge` is the fixed-point sum of g[:, output] * h with h = +1 where the feature's bin is
            above `bin`. Among equals the first feature, then the first bin, then a positive edge,
            then the first output wins. By another criterion `edge` is the score and `output` 0.
            Feature -1: no feature has two bins.
        """
        ...

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        ...

    def place_tree(
        self,
        feature: list[int],
        bin_: list[int],
        left: list[int],
        right: list[int],
        leaf_side: list[int],
    ) -> None:
        """Put rows on the sides of a tree's leaves."""
        ...

    def edges(self) -> Integers:
        """Sum g * h for every output, h by the rows' sides."""
        ...

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and output.

        Weights are rounded to multiples of 2**-exponent; their sum must stay below 2**51 of those.

        Returns
        -------
        (2, k, outputs) array
            Exact sums; the entries of outputs without weight are zero.
        """
        ...

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) likewise, at the margins that `up` and `down` would move to."""
        ...

    def histograms(self) -> NDArray[np.int32]:
        """Sum what searches see by feature and bin.

        The sums of the parts of a data set add up to those of the whole. `_native.scan_stump` finds the
        best stump in the total, with the bits of `best_stump` on all rows.

        Returns
        -------
        (total bins, outputs) array
            Of the direction, or of its projection's one output. The bins of all features, one feature
            after the other.
        """
        ...
