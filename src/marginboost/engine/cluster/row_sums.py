"""Sums over the rows that need no engine."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.data.hash_bounds import count_digits, find_bounds
from marginboost.data.integer_weights import integer_weights, unit_of
from marginboost.engine.cluster.requests import MapRows, total

if TYPE_CHECKING:
    from marginboost.data.row_view import RowView
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.session import Session


def find_hash_bounds(
    session: Session, seed: int, limits: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """Find, per class, the first hash with more copies at or below it than the limit.

    Parameters
    ----------
    session : Session
        Session with the shards.
    seed : int
        Seed of the hashes.
    limits : float64 array of n_classes
        Numbers of copies.
    """

    def count(prefix: NDArray[np.uint64], shift: int, bits: int) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = total(
            session.send(MapRows(_count_hashes, (seed, prefix, shift, bits)))
        )
        return counts

    return find_bounds(count, limits)


def sum_seen_masses(session: Session, view: RowView, n_counted: int) -> NDArray[np.float64]:
    """Sum weight * multiplicity by class, over the copies of rows that a view does not hold out."""
    largest = max(session.send(MapRows(_largest_seen, (view,))))
    unit = unit_of(largest, float(n_counted))
    masses: NDArray[np.float64] = total(session.send(MapRows(_seen_masses, (view, unit))))
    return masses * unit


def _count_hashes(
    data: TrainingSet, seed: int, prefix: NDArray[np.uint64], shift: int, bits: int
) -> NDArray[np.int64]:
    """Count the copies whose hash begins with the prefix, by class and the next bits."""
    hashes, steps = data.copies.dividing(seed)
    counts: NDArray[np.int64] = count_digits(
        hashes, data.labels, data.multiplicity, prefix, shift, bits, steps=steps
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
