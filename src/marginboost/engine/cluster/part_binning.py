"""From parts of the rows to binned shards: functions that run on the workers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix, bin_by_thresholds
from marginboost.data.category_codes import CategoryCodes, CategoryColumns
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.encoding import Encoding
from marginboost.data.grouping import Grouped, WeightKind, counted_times, group_rows
from marginboost.data.integer_weights import integer_weights
from marginboost.data.training_set import TrainingSet
from marginboost.data.value_counts import Cuts
from marginboost.data.value_tables import ValueTables
from marginboost.data.weight_scale import WeightScale
from marginboost.engine.cluster.parts import Part, ReadPart

__all__ = [
    "Labelling",
    "build_shard",
    "count_values",
    "describe_columns",
    "encode_part",
    "merge_counts",
    "sum_weights",
]

Floats = NDArray[np.float64]
Thresholds = Sequence[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """The mapping of labels to class numbers, and the meaning of weights: the same for all parts.

    Attributes
    ----------
    classes : array
        The labels, sorted.
    class_weight : float64 array or None
        Factor on the rows of each class.
    meaning : WeightKind
        What the rows' weights mean.
    scale : WeightScale or None
        Scale of the weights of all parts; None if rows have none.
    unit : float
        Weights are added up in whole multiples of it.
    """

    classes: NDArray[Any]
    class_weight: Floats | None
    meaning: WeightKind
    scale: WeightScale | None
    unit: float

    def group(self, y: NDArray[Any], weight: Floats | None) -> Grouped:
        """Group rows by class."""
        codes = np.searchsorted(self.classes, y)
        return group_rows(
            codes, len(self.classes), weight, self.class_weight, self.meaning, scale=self.scale
        )

    def whole(self, rows: Grouped) -> Floats:
        """Return weight * multiplicity of grouped rows, in whole units."""
        return integer_weights(slice(0, len(rows.order)), rows.weight, rows.multiplicity, self.unit)


def describe_columns(part: ReadPart, classes: NDArray[Any], meaning: WeightKind) -> ColumnFacts:
    """Collect the facts of a part's columns that an encoding needs."""
    codes = np.searchsorted(classes, part.y)
    times = counted_times(part.weight, meaning)
    return ColumnFacts.of(part.columns, codes, len(classes), times)


def encode_part(
    part: ReadPart, encoding: Encoding, categories: CategoryColumns | None = None
) -> Part:
    """Encode a part: return it with ordered columns."""
    X = part.columns.recoded(encoding.categories, encoding.lost).matrix
    codes = None if categories is None else categories.codes(X)
    return Part(encoding.apply(X), part.y, part.weight, codes)


def count_values(part: Part, labelling: Labelling) -> ValueTables:
    """Count the distinct values of every feature of a part."""
    # In the order of the part, in which its values are read fastest.
    rows, times = np.arange(len(part.y)), None
    if part.weight is not None:
        rows = np.flatnonzero(part.weight > 0)
        if labelling.meaning is WeightKind.COUNTS:
            times = part.weight[rows].astype(np.int32)
    return ValueTables.of(part.X, rows, times)


def merge_counts(every: Sequence[ValueTables]) -> ValueTables:
    """Add up the counts of parts."""
    return functools.reduce(ValueTables.merge, every)


def find_cuts(every: Sequence[ValueTables], limit: int) -> list[Cuts]:
    """Find the thresholds of every feature."""
    return merge_counts(every).cuts(limit)


def sum_weights(part: Part, labelling: Labelling) -> Floats:
    """Sum the whole weights of a part by class."""
    rows = labelling.group(part.y, part.weight)
    labels = np.repeat(np.arange(len(labelling.classes)), np.diff(rows.class_offsets))
    sums = np.bincount(labels, weights=labelling.whole(rows), minlength=len(labelling.classes))
    return sums.astype(np.float64)


def sum_by_bin(part: Part, labelling: Labelling, thresholds: Thresholds) -> list[Floats]:
    """Sum the whole weights of a part by feature and bin."""
    rows = labelling.group(part.y, part.weight)
    binned = bin_by_thresholds(part.X, thresholds, order=rows.order)
    whole = labelling.whole(rows)
    return [
        np.bincount(column, weights=whole, minlength=len(cuts) + 1).astype(np.float64)
        for column, cuts in zip(binned.bins, thresholds, strict=True)
    ]


def add_arrays(every: Sequence[Any]) -> Any:
    """Add up arrays, or lists of arrays."""
    if isinstance(every[0], list):
        return [sum(same[1:], start=same[0]) for same in zip(*every, strict=True)]
    return sum(every[1:], start=every[0])


def build_shard(
    parts: Sequence[Part],
    labelling: Labelling,
    thresholds: Thresholds,
    categories: CategoryColumns | None = None,
) -> TrainingSet:
    """Bin the rows of some parts, grouped by class."""
    y = np.concatenate([part.y for part in parts])
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts if part.weight is not None])
    rows = labelling.group(y, weight)
    # Bin each part in its own order, then reorder the bins: values would take eight times the memory.
    bins = np.concatenate(
        [
            bin_by_thresholds(part.X, thresholds, order=np.arange(len(part.X))).bins
            for part in parts
        ],
        axis=1,
    )
    binned = BinnedMatrix(np.take(bins, rows.order, axis=1), tuple(thresholds))
    del bins
    whole = labelling.whole(rows)
    offsets = rows.class_offsets
    mass = np.add.reduceat(np.append(whole, 0.0), offsets[:-1]) * labelling.unit
    mass[np.diff(offsets) == 0] = 0.0
    codes = None
    if categories is not None:
        joined = np.concatenate([part.codes for part in parts if part.codes is not None], axis=1)
        codes = CategoryCodes(categories, np.take(joined, rows.order, axis=1))
    return TrainingSet(binned, offsets, rows.weight, rows.multiplicity, mass, categories=codes)
