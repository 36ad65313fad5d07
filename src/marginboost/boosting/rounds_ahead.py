"""Rounds of vector-leaf boosting that are found before they are asked for.

Where there are few rows, a round takes less time than the calls between its steps. An engine that can
boost rounds in one call does so: several where they are short, else one. They wait in the method, and are
the same, to the bit, as if each of their steps had been asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.round import share_of_fall

if TYPE_CHECKING:
    from marginboost.data.thresholds import Thresholds

__all__ = ["BoostedRounds", "FoundRound", "most_ahead", "separate_rounds"]

Floats = NDArray[np.float64]

add = np.add.reduce  # as `sum`, in less time

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
    feature, bin, left, right, gain : array
        As in `GrownTree`.
    step : float64 array of leaves x classes
        The coefficients of the round.
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
    step: Floats
    gain_unit: Floats
    wrong: NDArray[np.int64]
    loss: Floats


class FoundRound(NamedTuple):
    """A round that was found ahead.

    Attributes
    ----------
    feature, threshold, left, right : array
        Its tree: see `marginboost.model.ensemble.Ensemble`.
    step : float64 array of leaves x classes
        The coefficients of the round.
    edge : float
        What the tree gains, as a share of all weights.
    error : float
        Share of the training rows with a margin of zero or less after the round.
    gains : float64 array
        By how much the loss fell with each split.
    loss : float
        Mean loss after the round.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    step: Floats
    edge: float
    error: float
    gains: Floats
    loss: float


def separate_rounds(
    found: BoostedRounds, thresholds: Thresholds, n_counted: int, loss: float
) -> list[FoundRound]:
    """Return the rounds that one call found.

    Parameters
    ----------
    found : BoostedRounds
        What the call found.
    thresholds : Thresholds
        Between the bins of the features.
    n_counted : int
        Training rows, with their copies.
    loss : float
        Mean loss before the first of them.
    """
    n_splits, feature, bins, left, right, gain, step = found[:7]
    threshold = thresholds.values[thresholds.offsets[feature] + bins]
    losses = found.loss.tolist()
    ends = n_splits.cumsum().tolist()
    starts = [0, *ends][: len(ends)]
    totals = [float(add(gain[i:j])) for i, j in zip(starts, ends, strict=True)]
    falls = [before - after for before, after in zip([loss, *losses], losses, strict=False)]
    gains = gain * np.repeat(list(map(share_of_fall, falls, totals)), n_splits)
    edges = [total * unit for total, unit in zip(totals, found.gain_unit.tolist(), strict=True)]
    errors = [wrong / n_counted for wrong in found.wrong.tolist()]
    return [
        FoundRound(
            feature[i:j], threshold[i:j], left[i:j], right[i:j], step[i + t : j + t + 1],
            edge, error, gains[i:j], after,
        )
        for t, (i, j, edge, error, after) in enumerate(
            zip(starts, ends, edges, errors, losses, strict=True)
        )
    ]  # fmt: skip
