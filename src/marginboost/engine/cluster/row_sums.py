"""Sums over rows that need no engine."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.data.whole_weights import unit_of, whole_weights
from marginboost.engine.cluster.questions import OfRows, total

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.conversation import Conversation

# Counters of a message with the hashes' next bits.
_MOST_COUNTERS = 1 << 20


def find_hash_bounds(
    talk: Conversation, seed: int, limits: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """Find each class's first hash with which more rows than the limit are at or below it.

    Some bits in each step, from the highest: the shards count their rows by the next bits.

    Parameters
    ----------
    talk : Conversation
        With the shards.
    seed : int
        Of the hashes.
    limits : float64 array of n_classes
        Numbers of rows, with their multiplicity.
    """
    bits = 16 if len(limits) << 16 <= _MOST_COUNTERS else 8
    bounds = np.zeros(len(limits), dtype=np.uint64)
    below = np.zeros(len(limits), dtype=np.int64)
    for shift in range(64 - bits, -1, -bits):
        counts = total(talk.ask(OfRows(_count_hashes, (seed, bounds, shift, bits))))
        upto = below[:, None] + np.cumsum(counts, axis=1)
        some = upto[:, -1] > limits
        digit = np.where(some, (upto > limits[:, None]).argmax(axis=1), 0)
        here = np.arange(len(limits))
        below = upto[here, digit] - counts[here, digit]
        bounds |= digit.astype(np.uint64) << np.uint64(shift)
    return bounds


def sum_seen_masses(talk: Conversation, view: RowView, n_counted: int) -> NDArray[np.float64]:
    """Sum weight * multiplicity by class, over the rows that a view does not hold out."""
    largest = max(talk.ask(OfRows(_largest_seen, (view,))))
    unit = unit_of(largest, float(n_counted))
    masses: NDArray[np.float64] = total(talk.ask(OfRows(_seen_masses, (view, unit))))
    return masses * unit


def _count_hashes(
    data: TrainingSet, seed: int, prefix: NDArray[np.uint64], shift: int, bits: int
) -> NDArray[np.int64]:
    """Count rows by class and some bits of their hash, where the bits above are the prefix's."""
    hashes = data.hashes(seed)
    same = np.ones(data.n_rows, dtype=bool)
    if shift + bits < 64:
        above = np.uint64(shift + bits)
        same = (hashes >> above) == (prefix >> above)[data.labels]
    digit = (hashes >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
    counts = np.zeros((data.n_classes, 1 << bits), dtype=np.int64)
    copies = 1 if data.multiplicity is None else data.multiplicity[same]
    np.add.at(counts, (data.labels[same], digit[same].astype(np.int64)), copies)
    return counts


def _seen_weight(data: TrainingSet, view: RowView) -> NDArray[np.float64]:
    weight = np.ones(data.n_rows) if data.weight is None else data.weight.copy()
    weight[data.seen(view).held_out] = 0.0
    return weight


def _largest_seen(data: TrainingSet, view: RowView) -> float:
    return float(_seen_weight(data, view).max(initial=1e-300))


def _seen_masses(data: TrainingSet, view: RowView, unit: float) -> NDArray[np.float64]:
    """Sum by class, in whole units."""
    weight = _seen_weight(data, view)
    return np.array(
        [
            whole_weights(slice(*rows), weight, data.multiplicity, unit).sum()
            for rows in pairwise(data.class_offsets.tolist())
        ]
    )
