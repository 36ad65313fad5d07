"""Rounds of vector-leaf boosting that are found before they are asked for.

Where there are few rows, a round takes less time than the calls between its steps. An engine that can
boost rounds in one call does so: several where they are short, else one. They wait here, and are the
same, to the bit, as if each of their steps had been asked for.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.growth import Tree

if TYPE_CHECKING:
    from marginboost.boosting.tree_weights import BoostedRounds
    from marginboost.data.thresholds import Thresholds

__all__ = ["FoundRound", "RoundsAhead", "most_ahead"]

Floats = NDArray[np.float64]

# Rows times features and classes, of the rounds of one call: a tenth of a second on one thread, so that
# Ctrl-C is heard soon, and few rounds are found in vain.
_WORK_AT_ONCE = 3 << 25
_MOST_AT_ONCE = 32


def most_ahead(n_rows: int, n_features: int, n_classes: int) -> int:
    """Return how many rounds may be found in one call, at least one."""
    work = max(n_rows, 1) * (n_features + n_classes)
    return max(1, min(_MOST_AT_ONCE, _WORK_AT_ONCE // work))


class FoundRound(NamedTuple):
    """A round that was found ahead.

    Attributes
    ----------
    tree : Tree
        Its tree.
    vectors : float64 array of leaves x classes
        The coefficients, before they are shortened.
    gain_unit : float
        A gain of 1, as a share of all weights.
    error : float
        Share of the training rows with a margin of zero or less after the round.
    loss : float
        Mean loss after the round.
    """

    tree: Tree
    vectors: Floats
    gain_unit: float
    error: float
    loss: float


class RoundsAhead:
    """The rounds that wait.

    Parameters
    ----------
    thresholds : Thresholds
        Between the bins of the features.
    n_counted : int
        Training rows, with their copies.
    """

    def __init__(self, thresholds: Thresholds, n_counted: int) -> None:
        self._thresholds = thresholds
        self._n_counted = n_counted
        self._rounds: deque[FoundRound] = deque()

    def __len__(self) -> int:
        return len(self._rounds)

    def next_round(self) -> FoundRound:
        """Return the next round."""
        return self._rounds.popleft()

    def add(self, found: BoostedRounds) -> None:
        """Divide what a call found into rounds."""
        place = self._thresholds.offsets[found.feature] + found.bin
        threshold = self._thresholds.values[place]
        ones = np.ones(len(found.counts))
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
            error = wrong / self._n_counted
            self._rounds.append(FoundRound(tree, found.vectors[q], gain_unit, error, loss))
            splits, leaves, nodes = s.stop, q.stop, nodes + 2 * n + 1
