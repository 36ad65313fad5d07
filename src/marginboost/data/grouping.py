"""Rows grouped by class, without those of weight zero."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.integer_weights import (
    Multiplicities,
    Weights,
    integer_weights,
    weight_unit,
)
from marginboost.data.weight_scale import (
    FactorParts,
    WeightScale,
    scaled_weights,
    split_factors,
)

__all__ = [
    "Grouped",
    "WeightKind",
    "class_masses",
    "countable",
    "counted_times",
    "group_rows",
    "weight_kind",
]

# Integer weights up to this sum are treated as repetitions of rows, to the bit. Beyond it the
# fixed-point unit of a repeated row would become coarse, and they are treated as real numbers.
MOST_REPETITIONS = 1 << 24


class WeightKind(Enum):
    """How the weights of all rows are interpreted."""

    EQUAL = 0  # all positive weights are equal
    COUNTS = 1  # integers: how often each row counts
    WEIGHTS = 2  # real numbers, of which only the ratios matter

    @classmethod
    def of(cls, *, least: float, largest: float, all_whole: bool, total: float) -> WeightKind:
        """Return the kind of positive weights.

        `total` is the sum of the `countable` weights.
        """
        if least == largest == 1.0:
            return cls.EQUAL
        if all_whole and total <= MOST_REPETITIONS:
            return cls.COUNTS
        return cls.EQUAL if least == largest else cls.WEIGHTS


class Grouped(NamedTuple):
    """Rows in the order of their classes.

    Attributes
    ----------
    order : int64 array
        Index of each row in the input.
    class_offsets : int64 array of n_classes + 1
        Where the rows of each class begin; on the host.
    weight : float64 array or None
        Weight of each row, 1 on average; None if all weights are 1.
    multiplicity : int32 array or None
        How often each row counts; None if all count once.
    """

    order: Any
    class_offsets: NDArray[np.int64]
    weight: Any | None
    multiplicity: Any | None


def weight_kind(weight: Any | None, xp: Any = np) -> WeightKind:
    """Return the kind of weights; None counts as equal weights."""
    if weight is None:
        return WeightKind.EQUAL
    positive = weight[weight > 0]
    return WeightKind.of(
        least=float(positive.min()),
        largest=float(positive.max()),
        all_whole=bool((positive == xp.rint(positive)).all()),
        total=float(countable(positive, xp).sum()),
    )


def countable(weight: Any, xp: Any = np) -> Any:
    """Clip weights at a value that is too large for a count, so that their sum cannot overflow."""
    return xp.minimum(weight, 2.0 * MOST_REPETITIONS)


def counted_times(weight: Any | None, kind: WeightKind) -> Any | None:
    """Return how often each row counts; None if every row counts once."""
    if weight is None or kind is WeightKind.COUNTS:
        return weight
    return weight > 0


def group_rows(
    codes: Any,
    n_classes: int,
    weight: Any | None,
    class_weight: NDArray[np.float64] | None,
    kind: WeightKind,
    *,
    scale: WeightScale | None = None,
    xp: Any = np,
    fetch: Callable[[Any], NDArray[Any]] = np.asarray,
    count: Callable[[Any], NDArray[np.int64]] | None = None,
    n_threads: int = 1,
) -> Grouped:
    """Group rows by class.

    Parameters
    ----------
    codes : integer array
        Class number of each row.
    n_classes : int
        Number of classes.
    weight : float64 array or None
        Weight of each row, zero or more.
    class_weight : float64 array of n_classes or None
        Factor on the rows of each class; on the host.
    kind : WeightKind
        The kind of the weights, of these rows or of the whole data set that they are a part of.
    scale : WeightScale or None
        The scale of the whole data set; None if these are all rows.
    xp : module
        The module of the arrays.
    fetch : callable
        Copies an array to the host.
    count : callable or None
        Counts the rows of each class, given their numbers; None if `xp` does it.
    n_threads : int
        Threads to use on the host. The result does not depend on it.
    """
    # Keep arrays as long as the data few, small and short-lived: they add to the peak memory of a fit.
    narrow = codes.astype(np.min_scalar_type(n_classes), copy=False)
    if xp is np and narrow.dtype == np.uint8:
        order, found = _native.order_by_class(np.ascontiguousarray(narrow), n_threads)
    else:
        found = None
        order = xp.argsort(narrow, kind="stable")
    multiplicity = None
    if weight is not None:
        weight = weight[order]
        if not weight.all():
            order, weight = order[weight > 0], weight[weight > 0]
        if kind is WeightKind.COUNTS:
            multiplicity = weight.astype(np.int32)
        if kind is not WeightKind.WEIGHTS:
            weight = None
    if found is not None and len(order) == len(codes):
        counts = found[:n_classes]
    else:
        rows = codes if len(order) == len(codes) else codes[order]
        counts = fetch(xp.bincount(rows, minlength=n_classes)) if count is None else count(rows)
        del rows
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    factors = None if class_weight is None else split_factors(class_weight)
    if factors is not None:
        of_row = codes[order]
        factors = FactorParts(*(xp.asarray(part)[of_row] for part in factors))
    if weight is not None or factors is not None:
        weight = scaled_weights(weight, factors, multiplicity, scale, xp)
    return Grouped(order, offsets, weight, multiplicity)


def class_masses(
    offsets: NDArray[np.int64],
    weight: Weights,
    multiplicity: Multiplicities,
    unit: float | None = None,
    xp: Any = np,
) -> NDArray[np.float64]:
    """Sum weight * multiplicity per class, independently of the order of rows.

    Weights are rounded to multiples of `unit`, coarse enough that sums of doubles are exact. By default
    the unit is that of all rows.
    """
    if weight is None and multiplicity is None:
        return np.diff(offsets).astype(np.float64)
    if unit is None:
        unit = weight_unit(int(offsets[-1]), weight, multiplicity)
    return np.array(
        [
            # Class by class: rounding all rows at once would raise the peak memory of a fit.
            float(integer_weights(slice(start, stop), weight, multiplicity, unit, xp).sum()) * unit
            for start, stop in pairwise(offsets.tolist())
        ]
    )
