"""Rounds of vector-leaf boosting that are found before they are asked for.

Where there are few rows, a round takes less time than the calls between its steps. An engine that can
boost rounds in one call does so: several where they are short, else one. They wait in the method, and are
the same, to the bit, as if each of their steps had been asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.growth import Tree

if TYPE_CHECKING:
    from marginboost.data.thresholds import Thresholds

__all__ = ["BoostedRounds", "FoundRound", "most_ahead", "separate_rounds"]

Floats = NDArray[np.float64]

# Rows times features and classes, of the rounds of one call, on one thread: a tenth of a second, so that
# Ctrl-C is heard soon, and few rounds are found in vain.
_WORK_AT_ONCE = 3 << 25
_MOST_AT_ONCE = 32


def most_ahead(n_rows: int, n_features: int, n_classes: int, n_threads: int = 1) -> int:
    """Return how many rounds may be found in one call, at least one."""
    work = max(n_rows, 1) * (n_features + n_classes)
    faster = (1 + n_threads) / 2  # about
    return max(1, min(_MOST_AT_ONCE, int(_WORK_AT_ONCE * faster) // work))


class BoostedRounds(NamedTuple):
    """Rounds that an engine boosted in one call, the arrays of all rounds one after the other.

    Attributes
    ----------
    n_splits : int64 array
        Splits of each round's tree.
    feature, bin, left, right, gain, leaf_of_node, counts : array
        As in `GrownTree`.
    vectors : float64 array of leaves x classes
        The coefficients, before they are shortened.
    gain_unit, wrong, loss : array
        Of each round: a gain of 1 as a share of all weights; rows with a margin of zero or less, and
        the mean loss, after it.
    """

    n_splits: NDArray[np.int64]
    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: Floats
    leaf_of_node: NDArray[np.int32]
    counts: NDArray[np.int64]
    vectors: Floats
    gain_unit: Floats
    wrong: NDArray[np.int64]
    loss: Floats


class FoundRound(NamedTuple):
    """A round that was found ahead.

    Attributes
    ----------
    tree : Tree
        Its tree.
    vectors : float64 array of leaves x classes
        The coefficients, before they are shortened.
    step : float64 array of leaves x classes
        The coefficients of the round.
    gain_unit : float
        A gain of 1, as a share of all weights.
    error : float
        Share of the training rows with a margin of zero or less after the round.
    loss : float
        Mean loss after the round.
    """

    tree: Tree
    vectors: Floats
    step: Floats
    gain_unit: float
    error: float
    loss: float


def separate_rounds(
    found: BoostedRounds,
    thresholds: Thresholds,
    n_counted: int,
    shrink: Callable[[Floats], Floats],
) -> Iterator[FoundRound]:
    """Yield the rounds that one call found.

    Parameters
    ----------
    found : BoostedRounds
        What the call found.
    thresholds : Thresholds
        Between the bins of the features.
    n_counted : int
        Training rows, with their copies.
    shrink : callable
        Shortens coefficients, each by itself.
    """
    place = thresholds.offsets[found.feature] + found.bin
    threshold = thresholds.values[place]
    ones = np.ones(len(found.counts))
    step = shrink(found.vectors)
    splits = leaves = nodes = 0
    each = zip(
        found.n_splits.tolist(),
        found.gain_unit.tolist(),
        found.wrong.tolist(),
        found.loss.tolist(),
        strict=True,
    )
    for n, gain_unit, wrong, loss in each:
        s = slice(splits, splits + n)
        q = slice(leaves, leaves + n + 1)
        tree = Tree(
            found.feature[s],
            found.bin[s],
            found.left[s],
            found.right[s],
            found.gain[s],
            found.leaf_of_node[nodes : nodes + 2 * n + 1],
            found.counts[q],
            threshold[s],
            ones[q],
        )
        error = wrong / n_counted
        yield FoundRound(tree, found.vectors[q], step[q], gain_unit, error, loss)
        splits, leaves, nodes = s.stop, q.stop, nodes + 2 * n + 1
