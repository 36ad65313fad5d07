"""The preparation of Dask collections: check, encode and bin them where their partitions lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import bin_limit, warn_of_capped_columns
from marginboost.data.category_codes import CategoryColumns
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.grouping import WeightKind
from marginboost.data.integer_weights import unit_of
from marginboost.data.leaf_weight import heavy_run
from marginboost.data.lost_categories import warn_of_lost_categories
from marginboost.data.weight_scale import WeightScale, mean_of, split_factors
from marginboost.engine.cluster import part_statistics
from marginboost.engine.cluster.part_binning import (
    Labelling,
    add_arrays,
    count_values,
    describe_columns,
    encode_part,
    find_cuts,
    merge_counts,
    sum_by_bin,
    sum_weights,
)
from marginboost.engine.cluster.part_statistics import PartStatistics
from marginboost.engine.cluster.tasks import gather

if TYPE_CHECKING:
    from distributed import Client, Future

    from marginboost.data.encoding import Encoding
    from marginboost.engine.cluster.connection import Connection

__all__ = ["BinnedParts", "assign_parts", "bin_parts", "describe_parts", "encode_parts"]

Floats = NDArray[np.float64]

# Terms of a sum that one task adds up.
_FAN_IN = 8


class BinnedParts(NamedTuple):
    """What shards are built from, and sums over all rows."""

    labelling: Labelling
    thresholds: list[Floats]
    medians: Floats
    class_rows: NDArray[np.int64]
    class_counts: Floats
    class_mass: Floats
    largest_weight: float | None


def describe_parts(connection: Connection, parts: Sequence[Future]) -> PartStatistics:
    """Check all parts and describe them together."""
    numbers = range(len(parts))
    described = connection.client.map(part_statistics.describe, parts, numbers, pure=False)
    return part_statistics.join(gather(connection, described))


def encode_parts(
    connection: Connection,
    parts: Sequence[Future],
    known: PartStatistics,
    names: Sequence[str] | None,
    *,
    by_type: bool,
    max_bins: int | None,
    shares: bool,
) -> tuple[list[Future], Encoding, CategoryColumns | None]:
    """Encode all parts; return them with the encoding and what is known of columns of categories.

    `by_type` as in `warn_of_lost_categories`, `max_bins` as in `bin_parts`, `shares` as in
    `ColumnFacts.many`.
    """
    found = connection.client.map(
        describe_columns, parts, classes=known.classes, meaning=known.meaning, pure=False
    )
    facts = ColumnFacts.join(gather(connection, found), names)
    warn_of_lost_categories(facts, names, by_type=by_type, shares=shares)
    encoding = facts.encoding(shares=shares)
    categories = CategoryColumns.of(encoding, max_bins, facts.many(shares=shares))
    encoded = connection.client.map(
        encode_part, parts, encoding=encoding, categories=categories, pure=False
    )
    return encoded, encoding, categories


def bin_parts(
    connection: Connection,
    parts: Sequence[Future],
    known: PartStatistics,
    *,
    class_weight: Floats | None,
    max_bins: int | None,
    least_leaf_share: float,
) -> BinnedParts:
    """Find the thresholds of all parts together; they do not depend on the partitioning.

    Parameters
    ----------
    connection : Connection
        Connection to the cluster.
    parts : sequence of Future
        Futures of `Part`.
    known : PartStatistics
        Statistics of all parts.
    class_weight : float64 array of n_classes or None
        Factor on the rows of each class.
    max_bins : int or None
        Most bins per feature; None for one per distinct value.
    least_leaf_share : float
        Least share of the weight on either side of a threshold.
    """
    client = connection.client
    meaning = known.meaning
    counts = known.mass if meaning is WeightKind.COUNTS else known.kept.astype(np.float64)
    count = float(counts.sum())
    largest, mass = None, counts
    labelling = Labelling(known.classes, class_weight, meaning, None, unit_of(1.0, count))
    highest = _highest_weight(known, class_weight)
    if highest is not None:
        exponent, most = highest
        first = replace(labelling, scale=WeightScale(exponent, 1.0))
        mean = mean_of(float(_summed(connection, parts, first).sum()), count)
        largest = most / mean
        unit = unit_of(largest, count)
        labelling = replace(labelling, scale=WeightScale(exponent, mean), unit=unit)
        mass = _summed(connection, parts, labelling) * unit
    limit = bin_limit(max_bins)
    tables = client.map(count_values, parts, labelling=labelling, pure=False)
    few = _reduced(client, merge_counts, tables, _FAN_IN)
    cuts = gather(connection, [client.submit(find_cuts, few, limit, pure=False)])[0]
    thresholds = [of_feature.thresholds for of_feature in cuts]
    capped = sum(of_feature.capped for of_feature in cuts)
    if max_bins is None and capped:
        warn_of_capped_columns(capped, len(thresholds))
    if least_leaf_share > 0.0:
        least = least_leaf_share * float(np.rint(mass / labelling.unit).sum())
        sums = client.map(sum_by_bin, parts, labelling=labelling, thresholds=thresholds, pure=False)
        (by_bin,) = gather(connection, _reduced(client, add_arrays, sums))
        runs = [heavy_run(of_feature, least) for of_feature in by_bin]
        thresholds = [cuts[slice(*run)] for cuts, run in zip(thresholds, runs, strict=True)]
    medians = np.array([of_feature.median for of_feature in cuts])
    return BinnedParts(labelling, thresholds, medians, known.kept, counts, mass, largest)


def _highest_weight(known: PartStatistics, class_weight: Floats | None) -> tuple[int, float] | None:
    """Return the `WeightScale.exponent` of all rows, and the largest weight at that exponent.

    None if rows have no weights, or weights that count rows.
    """
    factors = None if class_weight is None else split_factors(class_weight)
    if known.meaning is WeightKind.WEIGHTS:
        fraction, exponent = np.frexp(known.largest)
        if factors is not None:
            fraction, exponent = fraction * factors.fraction, exponent + factors.exponent
    elif factors is not None:
        fraction, exponent = factors
    else:
        return None
    kept = known.kept > 0
    highest = int(exponent[kept].max())
    return highest, float(np.ldexp(fraction[kept], exponent[kept] - highest).max())


def _summed(connection: Connection, parts: Sequence[Future], labelling: Labelling) -> Floats:
    """Sum the whole weights of all parts by class."""
    sums = connection.client.map(sum_weights, parts, labelling=labelling, pure=False)
    (total,) = gather(connection, _reduced(connection.client, add_arrays, sums))
    return np.asarray(total, dtype=np.float64)


def _reduced(
    client: Client,
    function: Callable[[Sequence[Any]], Any],
    terms: Sequence[Future],
    at_most: int = 1,
) -> list[Future]:
    """Reduce terms in a tree, so that no worker receives all of them, until so many are left."""
    terms = list(terms)
    while len(terms) > at_most:
        terms = [
            client.submit(function, terms[first : first + _FAN_IN], pure=False)
            for first in range(0, len(terms), _FAN_IN)
        ]
    return terms


def assign_parts(
    sizes: Sequence[int], places: Sequence[str], workers: Sequence[str]
) -> list[list[int]]:
    """Choose the parts of each worker's shard.

    Parts stay where they are, as long as no worker has more than 1.25 times its share.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each part.
    places : sequence of str
        The worker that holds each part.
    workers : sequence of str
        All workers.

    Returns
    -------
    list of lists of int
        Numbers of the parts, ascending, per worker; empty if it gets none.
    """
    most = 1.25 * sum(sizes) / len(workers)
    held: dict[str, list[int]] = {worker: [] for worker in workers}
    rows = dict.fromkeys(workers, 0)
    moving = []
    for number in sorted(range(len(sizes)), key=lambda part: -sizes[part]):
        place = places[number]
        if place in held and (not held[place] or rows[place] + sizes[number] <= most):
            held[place].append(number)
            rows[place] += sizes[number]
        else:
            moving.append(number)
    for number in moving:
        place = min(workers, key=lambda worker: (rows[worker], worker))
        held[place].append(number)
        rows[place] += sizes[number]
    return [sorted(held[worker]) for worker in workers]
