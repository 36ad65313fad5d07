"""Sums over rows that need no engine."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.data.hash_bounds import count_digits, find_bounds
from marginboost.data.integer_weights import integer_weights, unit_of
from marginboost.engine.cluster.questions import OfRows, total

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.conversation import Conversation


def find_hash_bounds(
    talk: Conversation, seed: int, limits: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """Find each class's first hash with which more copies than the limit are at or below it.

    Parameters
    ----------
    talk : Conversation
        With the shards.
    seed : int
        Of the hashes.
    limits : float64 array of n_classes
        Numbers of copies.
    """

    def count(prefix: NDArray[np.uint64], shift: int, bits: int) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = total(
            talk.ask(OfRows(_count_hashes, (seed, prefix, shift, bits)))
        )
        return counts

    return find_bounds(count, limits)


def sum_seen_masses(talk: Conversation, view: RowView, n_counted: int) -> NDArray[np.float64]:
    """Sum weight * multiplicity by class, over the copies of rows that a view does not hold out."""
    largest = max(talk.ask(OfRows(_largest_seen, (view,))))
    unit = unit_of(largest, float(n_counted))
    masses: NDArray[np.float64] = total(talk.ask(OfRows(_seen_masses, (view, unit))))
    return masses * unit


def _count_hashes(
    data: TrainingSet, seed: int, prefix: NDArray[np.uint64], shift: int, bits: int
) -> NDArray[np.int64]:
    """Count copies by class and some bits of their hash, where the bits above are the prefix's."""
    counts: NDArray[np.int64] = count_digits(
        data.hashes(seed), data.labels, data.multiplicity, prefix, shift, bits
    )
    return counts


def _largest_seen(data: TrainingSet, view: RowView) -> float:
    return float(data.seen_weights(view)[0].max(initial=1e-300))


def _seen_masses(data: TrainingSet, view: RowView, unit: float) -> NDArray[np.float64]:
    """Sum by class, in whole units."""
    weight, multiplicity = data.seen_weights(view)
    return np.array(
        [
            integer_weights(slice(*rows), weight, multiplicity, unit).sum()
            for rows in pairwise(data.class_offsets.tolist())
        ]
    )
