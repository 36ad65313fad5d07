"""Whether copies of rows that lie in several shards are observations of their own.

See `marginboost.data.agreement`. A shard compares the classes of rows whose features no other shard has.
The client does so for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.agreement import Agreement, agreement
from marginboost.engine.cluster.hash_ranges import (
    Hashes,
    HashRange,
    hash_ranges,
    lower_half,
    occurs_in,
    repeated_values,
)
from marginboost.engine.cluster.requests import MapRows

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.cluster.session import Session

__all__ = ["find_independence", "set_independence"]


class _Compared(NamedTuple):
    """What a shard finds out.

    Attributes
    ----------
    alone : Agreement
        Of rows whose features no other shard has.
    features, labels, times : arrays
        Hash of the features, class and number of copies of the other rows.
    """

    alone: Agreement
    features: Hashes
    labels: NDArray[np.int64]
    times: NDArray[np.int64]


def find_independence(
    session: Session, seed: int, n_rows: int, class_counts: NDArray[np.float64]
) -> NDArray[np.bool_] | None:
    """Return whether copies in all shards are observations of their own, per class; None without copies.

    Parameters
    ----------
    session : Session
        Session with the shards, whose copies are numbered.
    seed : int
        Seed of the hashes.
    n_rows : int
        Number of rows in all shards.
    class_counts : float64 array of n_classes
        Number of rows of each class in all shards, each as often as it counts.
    """
    if not any(session.send(MapRows(_has_copies, (seed,)))):
        return None
    n_classes = len(class_counts)
    none = np.zeros(n_classes, dtype=np.int64)
    found = Agreement(0, 0, none, none)
    for part in hash_ranges(n_rows):
        halves: list[NDArray[np.uint32]] = session.send(MapRows(_halves, (seed, part)))
        shared = repeated_values(np.concatenate(halves))
        every: list[_Compared] = session.send(MapRows(_compare, (seed, part, shared)))
        features, labels, times = (np.concatenate([one[j] for one in every]) for j in (1, 2, 3))
        by_class = np.argsort(labels, kind="stable")
        rows = features[by_class], labels[by_class], times[by_class]
        for some in (agreement(*rows, n_classes), *(one.alone for one in every)):
            found = found.plus(some)
    return found.independent(class_counts)


def set_independence(data: TrainingSet, seed: int, independent: NDArray[np.bool_]) -> None:
    """Set whether a shard's copies are observations of their own."""
    data.copies.first(seed)
    known = data.copies.numbering
    if known is not None:
        data.copies.numbering = known._replace(independent=independent)


def _has_copies(data: TrainingSet, seed: int) -> bool:
    return data.copies.exist(seed)


def _halves(data: TrainingSet, seed: int, part: HashRange) -> NDArray[np.uint32]:
    return part.halves(data.copies.of_features(seed))


def _compare(
    data: TrainingSet, seed: int, part: HashRange, shared: NDArray[np.uint32]
) -> _Compared:
    """Compare the classes of a shard's rows in a range whose features are not shared; list the others."""
    hashes, rows = part.of(data.copies.of_features(seed))
    labels = data.labels[rows]
    times = np.ones(len(hashes), dtype=np.int64)
    if data.multiplicity is not None:
        times = data.multiplicity[rows].astype(np.int64)
    listed = occurs_in(lower_half(hashes), shared)
    alone = agreement(hashes[~listed], labels[~listed], times[~listed], data.n_classes)
    return _Compared(alone, hashes[listed], labels[listed], times[listed])
