"""The least weight of a leaf, and the thresholds that respect it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.integer_weights import integer_weights, weight_unit

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LeafWeight:
    """The weight of every row, as an integer of units, and the least weight of a leaf.

    Integers, so that sums do not depend on the order of rows.
    """

    rows: NDArray[np.float64]
    least: float


def with_least_leaf_weight(data: TrainingSet, fraction: float) -> TrainingSet:
    """Drop the thresholds of stumps with less than a share of the weight on one side.

    Parameters
    ----------
    data : TrainingSet
        The rows.
    fraction : float
        The share, from 0 to 0.5.

    Returns
    -------
    TrainingSet
        With fewer thresholds, and with `leaf_weight`, which applies the same bound to trees.
    """
    if fraction == 0.0:
        return data
    unit = weight_unit(data.n_rows, data.weight, data.multiplicity)
    xp = data.storage.xp
    rows = integer_weights(slice(0, data.n_rows), data.weight, data.multiplicity, unit, xp)
    least = fraction * float(rows.sum())
    bins = xp.empty_like(data.binned.bins)
    thresholds = []
    for feature, cuts in enumerate(data.binned.thresholds):
        column = data.binned.bins[feature]
        by_bin = xp.bincount(column, weights=rows, minlength=len(cuts) + 1)
        first, last = heavy_run(data.storage.fetch(by_bin).astype(np.float64, copy=False), least)
        bins[feature] = xp.clip(column, first, last) - first
        thresholds.append(cuts[first:last])
    binned = BinnedMatrix(bins, tuple(thresholds))
    return dataclasses.replace(data, binned=binned, leaf_weight=LeafWeight(rows, least))


def heavy_run(by_bin: NDArray[np.float64], least: float) -> tuple[int, int]:
    """Find the thresholds of a feature with enough weight on both sides: `first` to below `last`.

    Parameters
    ----------
    by_bin : float64 array
        Weight of the rows in each of the feature's bins, as an integer of units.
    least : float
        The least weight of either side.
    """
    below = np.cumsum(by_bin)
    kept = np.flatnonzero((below[:-1] >= least) & (below[-1] - below[:-1] >= least))
    # Weights are not negative, so the remaining thresholds are consecutive.
    return (int(kept[0]), int(kept[-1]) + 1) if kept.size else (0, 0)
