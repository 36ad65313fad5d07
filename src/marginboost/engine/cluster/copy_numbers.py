"""The numbering of copies of rows that lie in several shards.

A shard numbers its own copies. The client shifts these numbers by the copies of the same cell in other
shards: see `marginboost.data.copies`. If no cell has copies in two shards, nothing is shifted.

Few cells have, as a rule: see `marginboost.engine.cluster.hash_ranges`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.copies import Numbering
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

__all__ = ["Shift", "find_shifts", "shift_copies"]


class Groups(NamedTuple):
    """The copies of a shard, grouped by content and weight, in order of both.

    Attributes
    ----------
    hashes : uint64 array
        Hash of the content.
    weight : float64 array or None
        None if copies have no weights of their own.
    copies : int64 array
        Number of copies.
    numbers : int64 array
        Number of each among the shard's groups of the same range, including those that are not listed.
    n_groups : int
        How many of these there are.
    """

    hashes: Hashes
    weight: NDArray[np.float64] | None
    copies: NDArray[np.int64]
    numbers: NDArray[np.int64]
    n_groups: int


class Shift(NamedTuple):
    """The shift of the numbers of a shard's copies.

    Attributes
    ----------
    name : str
        Name of the training set, whose shards are shifted once.
    seed : int
        Seed of the hashes that order the groups.
    groups : int64 array
        Numbers of the groups to shift, ascending.
    steps : int64 array
        The shift of each.
    """

    name: str
    seed: int
    groups: NDArray[np.int64]
    steps: NDArray[np.int64]


def find_shifts(
    session: Session, name: str, seed: int, n_rows: int
) -> dict[int, Shift | None] | None:
    """Rank the copies of all shards: by content, weight, then shard.

    Parameters
    ----------
    session : Session
        Session with the shards.
    name : str
        Name of the training set.
    seed : int
        Seed of the hashes.
    n_rows : int
        Number of rows in all shards: an upper bound of the number of groups.

    Returns
    -------
    dict or None
        By shard; None for a shard whose numbers are right. None if all of them are.
    """
    ranges = hash_ranges(n_rows)
    found: list[list[NDArray[np.int64]]] = []
    begins: NDArray[np.int64] | None = None
    for part in ranges:
        halves: list[NDArray[np.uint32]] = session.send(MapRows(_halves, (seed, part)))
        repeated = repeated_values(np.concatenate(halves))
        if not len(repeated) and len(ranges) == 1:
            return None
        every: list[Groups] = session.send(MapRows(_groups, (seed, part, repeated)))
        if begins is None:
            begins = np.zeros(len(every), dtype=np.int64)
            found = [[] for _ in every]
        for shard, (groups, steps) in enumerate(zip(every, _steps(every), strict=True)):
            moved = np.flatnonzero(steps)
            if len(moved):
                found[shard].append(np.stack([begins[shard] + groups.numbers[moved], steps[moved]]))
            begins[shard] += groups.n_groups
    if not any(found):
        return None
    return {
        shard: Shift(name, seed, *np.concatenate(parts, axis=1)) if parts else None
        for shard, parts in enumerate(found)
    }


def shift_copies(data: TrainingSet, shift: Shift | None) -> None:
    """Shift the numbers of a shard's copies, unless they are shifted already."""
    if shift is None:
        return
    hashes, known = data.copies.of_content(shift.seed), data.copies.numbering
    if known is None or known.name == shift.name:
        return
    order, starts = _grouped(hashes, _own_weight(data))
    of_group = np.zeros(len(starts), dtype=np.int64)
    of_group[shift.groups] = shift.steps
    numbers = np.zeros(data.n_rows, dtype=np.int64)
    if known.numbers is not None:
        numbers += known.numbers
    numbers[order] += np.repeat(of_group, np.diff(np.append(starts, len(order))))
    data.copies.numbering = Numbering(shift.name, numbers, None)


def _halves(data: TrainingSet, seed: int, part: HashRange) -> NDArray[np.uint32]:
    return part.halves(data.copies.of_content(seed))


def _groups(data: TrainingSet, seed: int, part: HashRange, halves: NDArray[np.uint32]) -> Groups:
    """Group a shard's copies whose hashes are in a range, and list the groups with given halves."""
    hashes, rows = part.of(data.copies.of_content(seed))
    weight = _own_weight(data)
    weight = None if weight is None else weight[rows]
    order, starts = _grouped(hashes, weight)
    copies = np.diff(np.append(starts, len(order)))
    if data.multiplicity is not None and len(starts):
        copies = np.add.reduceat(data.multiplicity[rows][order].astype(np.int64), starts)
    firsts = order[starts]
    numbers = np.flatnonzero(occurs_in(lower_half(hashes[firsts]), halves))
    firsts = firsts[numbers]
    own = None if weight is None else weight[firsts]
    return Groups(hashes[firsts], own, copies[numbers], numbers, len(starts))


def _own_weight(data: TrainingSet) -> NDArray[np.float64] | None:
    """Return the weights of rows; None if all copies have that of their class."""
    return None if data.multiplicity is not None else data.weight


def _grouped(
    hashes: Hashes, weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of the rows, and the positions where a content or weight begins."""
    keys = (hashes,) if weight is None else (weight, hashes)
    # Within a group rows are alike, so their order does not matter.
    order = np.argsort(hashes) if weight is None else np.lexsort(keys)
    is_new = np.zeros(len(order), dtype=bool)
    is_new[:1] = True
    for key in keys:
        is_new[1:] |= key[order[1:]] != key[order[:-1]]
    return order, np.flatnonzero(is_new)


def _steps(every: list[Groups]) -> list[NDArray[np.int64]]:
    """Return, per shard and group, by how much the number in the shard is too low."""
    sizes = [len(groups.copies) for groups in every]
    shard = np.repeat(np.arange(len(every)), sizes)
    hashes, copies = (np.concatenate([groups[j] for groups in every]) for j in (0, 2))
    weight = np.concatenate(
        [np.ones(len(g.copies)) if g.weight is None else g.weight for g in every]
    )
    everywhere = _numbers(np.lexsort((shard, weight, hashes)), hashes, copies)
    here = _numbers(np.lexsort((weight, hashes, shard)), hashes, copies, shard)
    return np.split(everywhere - here, np.cumsum(sizes)[:-1])


def _numbers(
    order: NDArray[np.int64],
    hashes: Hashes,
    copies: NDArray[np.int64],
    shard: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Give numbers to the copies of each content, in an order in which they are adjacent."""
    ordered = hashes[order]
    is_new = np.zeros(len(order), dtype=bool)
    is_new[:1] = True
    is_new[1:] = ordered[1:] != ordered[:-1]
    if shard is not None:
        is_new[1:] |= shard[order[1:]] != shard[order[:-1]]
    before = np.cumsum(copies[order]) - copies[order]
    starts = np.flatnonzero(is_new)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = before - np.repeat(before[starts], np.diff(np.append(starts, len(order))))
    return numbers
