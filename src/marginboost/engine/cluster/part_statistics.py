"""Statistics of all rows that binning needs: small values per part, joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.classes import check_classes, counted_codes
from marginboost.data.grouping import WeightKind, countable
from marginboost.engine.cluster.parts import ReadPart

__all__ = ["PartStatistics", "describe", "join"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartStatistics:
    """Statistics of some rows.

    Attributes
    ----------
    part_rows : list of int
        Number of rows of each part.
    n_features : int
        Number of columns of X.
    classes : array
        The labels that occur, sorted.
    counts : int64 array
        Number of rows of each class.
    weighted : bool
        Whether rows have weights. Without, the following values are those of weights of 1.
    kept : int64 array
        Number of rows of each class with a positive weight.
    mass : float64 array
        Sum of each class's weights, if they may count rows; exact for whole numbers.
    largest : float64 array
        Largest weight of each class.
    least : float
        Least weight above 0; infinity if there is none.
    all_whole : bool
        Whether all positive weights are whole numbers.
    """

    part_rows: list[int]
    n_features: int
    classes: NDArray[Any]
    counts: NDArray[np.int64]
    weighted: bool
    kept: NDArray[np.int64]
    mass: Floats
    largest: Floats
    least: float
    all_whole: bool

    @property
    def meaning(self) -> WeightKind:
        """Whether weights count rows or weigh them."""
        return WeightKind.of(
            least=self.least,
            largest=float(self.largest.max()),
            all_whole=self.all_whole,
            total=float(self.mass.sum()),
        )


def describe(part: ReadPart, number: int) -> PartStatistics:
    """Check a part and describe it; error messages contain its `number`."""
    columns, y, weight = part
    X = columns.matrix
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers in two dimensions; got {X.dtype} of shape {X.shape} in "
            f"partition {number}."
        )
    classes, codes = counted_codes(y) or np.unique(y, return_inverse=True)
    if len(classes):
        check_classes(classes)
    weights = np.ones(len(y)) if weight is None else weight
    if not np.isfinite(weights).all():
        raise ValueError(
            f"sample_weight must hold finite numbers; partition {number} has NaN or infinity."
        )
    if len(weights) and weights.min() < 0:
        raise ValueError(
            f"sample_weight must hold no negative number; got {weights.min():g} in partition "
            f"{number}."
        )
    positive = weights[weights > 0]
    largest = np.zeros(len(classes))
    np.maximum.at(largest, codes, weights)
    return PartStatistics(
        [len(X)],
        X.shape[1],
        classes,
        np.bincount(codes, minlength=len(classes)),
        weight is not None,
        np.bincount(codes[weights > 0], minlength=len(classes)),
        np.bincount(codes, weights=countable(weights), minlength=len(classes)).astype(np.float64),
        largest,
        float(positive.min(initial=np.inf)),
        bool((positive == np.rint(positive)).all()),
    )


def join(every: Sequence[PartStatistics]) -> PartStatistics:
    """Describe all parts together."""
    columns = sorted({part.n_features for part in every if len(part.classes)})
    if len(columns) > 1:
        raise ValueError(
            "X must have the same number of columns in every partition; got from "
            f"{columns[0]} to {columns[-1]}."
        )
    filled = [part for part in every if len(part.classes)]
    if not filled:
        raise ValueError("X must hold at least one row; all partitions are empty.")
    kinds = {"text" if part.classes.dtype.kind in "OUST" else "numbers" for part in filled}
    if len(kinds) > 1:
        raise ValueError(
            "y must hold labels of one kind; got text in some partitions and numbers in others."
        )
    classes = np.unique(np.concatenate([part.classes for part in filled]))
    k = len(classes)
    counts, kept = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    mass, largest = np.zeros(k), np.zeros(k)
    for part in filled:
        where = np.searchsorted(classes, part.classes)
        counts[where] += part.counts
        kept[where] += part.kept
        mass[where] += part.mass
        largest[where] = np.maximum(largest[where], part.largest)
    return PartStatistics(
        [rows for part in every for rows in part.part_rows],
        columns[0],
        classes,
        counts,
        every[0].weighted,
        kept,
        mass,
        largest,
        min(part.least for part in every),
        all(part.all_whole for part in every),
    )
