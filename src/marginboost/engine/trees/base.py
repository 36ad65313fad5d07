"""The protocol of an engine for vector-leaf trees: the operations on the rows that boosting needs.

As in `marginboost.engine.stumps.base`, big arrays stay inside and all engines give the same bits: sums
over rows are of whole numbers, and sums of floats (over the classes of a row, or of a node) have a fixed
order. Margins are kept in float32: ``e[i, r] = exp(-(F[i, y_i] - F[i, r]))``.

A tree grows a batch of nodes at a time, so that a distant engine needs few messages. Nodes are numbered
in the order of their creation: the root is 0, and a left child comes before its sibling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.data.row_view import HeldOutRows, RowView
    from marginboost.engine.trees.growth import GrownTree, GrowthRules
    from marginboost.engine.trees.interactions import Interactions
    from marginboost.engine.trees.slots import Slots
    from marginboost.loss import Loss

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

# e is kept inside these bounds: a weight that underflows to zero would never come back.
SMALLEST_RATIO = 2.0**-60
LARGEST_RATIO = 2.0**60
# Losses are summed in units of 2**-(mass_exponent + LOSS_BITS): finer than the masses that a search
# sees, so that rounding hides no row. Not above 42 times the mass, they fit in 64 bits.
LOSS_BITS = 20


class NodeSplit(NamedTuple):
    """A node and its best split.

    Attributes
    ----------
    feature : int
        -1: no split gains anything, or there was no search.
    bin : int
        Rows at or below it go to the left.
    n_rows : int
        Rows of the node that the search sees, with their multiplicity.
    gain : float
        What the split adds to the score, in the units of the direction and the mass.
    """

    feature: int
    bin: int
    n_rows: int
    gain: float


class RowSample(NamedTuple):
    """Copies of rows whose hash, mixed with a seed, is at most a limit: the same wherever they are.

    See `marginboost.data.copies`. A search sees a row as often as copies of it are in the sample.

    Attributes
    ----------
    seed : int
        Below 2**64.
    limit : int
        2**64 - 1: all rows.
    """

    seed: int = 0
    limit: int = 2**64 - 1

    def holds(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which of some copies are in the sample."""
        z = hashes ^ np.uint64(self.seed)
        # The finaliser of splitmix64: every bit of the number depends on every other.
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
        return mixed <= np.uint64(self.limit)


class PlannedTree(NamedTuple):
    """A tree that will be grown, and then finished.

    An engine whose calls take long may have `plan_tree`, which gets one before the `advance` or the
    `grow_tree` that follows, and do all of it at once.

    Attributes
    ----------
    features, sample, rules, interactions
        As for `TreeEngine.grow_tree`.
    exponent : int
        As for `TreeEngine.finish_tree`.
    """

    features: NDArray[np.int32]
    sample: RowSample
    rules: GrowthRules
    interactions: Interactions | None
    exponent: int

    def grows_like(self, other: PlannedTree) -> bool:
        """Return whether both have the same tree, whatever its leaves are summed in."""
        return (
            self.sample == other.sample
            and self.rules == other.rules
            and self.interactions is other.interactions
            and np.array_equal(self.features, other.features)
        )


class TreeEngine(Protocol):
    """The rows of one fit, their exponentials, and the tree that grows over them."""

    @property
    def name(self) -> str:
        """The name that users choose it by."""
        ...

    def load(self, data: Any, loss: Loss, slots: Slots, view: RowView) -> None:
        """Take the rows, with all e = 1 (a row's own class: almost 0) and all rows in leaf 0.

        Parameters
        ----------
        data : Rows
            The rows, of the kind that the engine takes.
        loss : Loss
            Loss of the margins. Where it has `pair_weights`, a row's weights u are multiplied by those
            of its class, and so are its pairs' losses, in float32.
        slots : Slots
            Positions of the classes in the direction.
        view : RowView
            The copies of rows that the fit sees; with a seed if searches see samples of them.
        """
        ...

    def advance(
        self, up: Singles, down: Singles, signs: Singles, exponent: int, mass_exponent: int
    ) -> tuple[int, int]:
        """Move the margins by the last tree, then form the direction anew.

        Parameters
        ----------
        up, down : (leaves, k) arrays
            `e[i, r]` is multiplied by `up[q, r] * down[q, y_i]`, q the row's leaf.
        signs : array of k
            -1 or +1: the factor of each class before it is added to its lane.
        exponent : int
            Lanes are rounded to multiples of 2**-exponent.
        mass_exponent : int
            Masses (a row's sum of weights) to multiples of 2**-mass_exponent.

        Returns
        -------
        wrong : int
            Number of rows, with their multiplicity, that have a margin of zero or less.
        loss : int
            Sum over the rows of the pairs' losses, in units of 2**-(mass_exponent + LOSS_BITS). The
            loss of a row is a float32 (see `marginboost.engine.trees.row_loss`), rounded to those units.
        """
        ...

    def start_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        least_count: int,
        smoothing: float,
    ) -> NodeSplit:
        """Start a tree with all rows in node 0, and find that node's best split.

        A side of a split scores ``sum over lanes of G**2 / (mass + smoothing)``, G the lane's sum.
        Among equals the first feature, then the first bin wins.

        Parameters
        ----------
        features : int32 array
            The features to search, ascending.
        sample : RowSample
            The rows that the search sees. It never sees rows of no weight, nor copies that the view
            holds out.
        least_count : int
            Rows that either side of a split must hold.
        smoothing : float
            Above 0, in units of the mass.
        """
        ...

    def split(
        self,
        nodes: list[int],
        features: list[int],
        bins: list[int],
        search: list[bool],
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[NodeSplit]:
        """Divide nodes; return the two new nodes of each, with their best splits if `search`.

        Parameters
        ----------
        nodes, features, bins : list of int
            The nodes, and where to divide them.
        search : list of bool
            Whether to search the new nodes of each.
        allowed : (nodes, features of the tree) array, optional
            The features that the new nodes of each may split; never one that was not allowed above.
            None: all features of the tree.
        """
        ...

    def grow_tree(
        self,
        features: NDArray[np.int32],
        sample: RowSample,
        rules: GrowthRules,
        interactions: Interactions | None = None,
    ) -> GrownTree:
        """Grow a whole tree: the same one as `grow_in_batches`."""
        ...

    def finish_tree(self, leaf_of_node: NDArray[np.int32], exponent: int) -> tuple[Floats, Floats]:
        """End the tree and sum the weights of its leaves.

        Parameters
        ----------
        leaf_of_node : int32 array
            The leaf of each node, or -1 if it was divided.
        exponent : int
            Weights are rounded to multiples of 2**-exponent.

        Returns
        -------
        own, against : (leaves, k) arrays of whole numbers
            By leaf and class: the masses of the class's own rows, and the other rows' weights for the
            class, in those units. Of all rows, whether the search saw them or not.
        """
        ...

    def held_out(self) -> HeldOutRows:
        """Return the margins of rows of which the view holds out copies: a sample, not the data."""
        ...
