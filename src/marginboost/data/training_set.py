"""The rows of a fit, ready for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix, bin_matrix

# Integer weights up to this sum are treated as repetitions of rows, to the bit. Beyond it the
# fixed-point unit of a repeated row would become coarse, and they are treated as real numbers.
MOST_REPETITIONS = 1 << 24


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Binned rows, grouped by class.

    Attributes
    ----------
    binned : BinnedMatrix
        The features.
    class_offsets : int64 array of n_classes + 1
        Rows of class a are `class_offsets[a]:class_offsets[a + 1]`.
    weight : float64 array or None
        Weight of each row; None where all are 1.
    multiplicity : int32 array or None
        How often each row counts; None where all count once.
    class_mass : float64 array of n_classes
        Sum of weight * multiplicity over the rows of each class.
    """

    binned: BinnedMatrix
    class_offsets: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    multiplicity: NDArray[np.int32] | None
    class_mass: NDArray[np.float64]

    @property
    def n_classes(self) -> int:
        """Number of classes, those without rows included."""
        return len(self.class_offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return int(self.class_offsets[-1])

    @property
    def n_counted(self) -> int:
        """Number of rows, each as often as it counts."""
        return self.n_rows if self.multiplicity is None else int(self.multiplicity.sum())

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class number of every row."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.class_offsets))


def make_training_set(
    X: Any,
    codes: NDArray[np.int64],
    n_classes: int,
    *,
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64] | None,
    max_bins: int | None,
    n_threads: int,
) -> TrainingSet:
    """Bin X with its rows grouped by class.

    Parameters
    ----------
    X : array of n_rows x n_features
        Checked, finite numbers.
    codes : int64 array
        Class number of each row.
    n_classes : int
        Number of classes.
    sample_weight : float64 array or None
        Non-negative weight of each row; rows of weight zero are left out.
    class_weight : float64 array of n_classes or None
        Factor on the rows of each class.
    max_bins : int or None
        Most bins a feature; None for one a distinct value.
    n_threads : int
        Threads to bin with.

    Returns
    -------
    TrainingSet
        The rows, ready for an engine.
    """
    order = np.argsort(codes, kind="stable")
    multiplicity: NDArray[np.int32] | None = None
    weight: NDArray[np.float64] | None = None
    if sample_weight is not None:
        order = order[sample_weight[order] > 0]
        kept = sample_weight[order]
        if np.all(kept == 1.0):
            pass
        elif np.all(kept == np.rint(kept)) and kept.sum() <= MOST_REPETITIONS:
            multiplicity = kept.astype(np.int32)
        else:
            weight = kept
    sorted_codes = codes[order]
    if class_weight is not None and not np.all(class_weight == 1.0):
        factor = class_weight[sorted_codes]
        weight = factor if weight is None else weight * factor
    offsets = np.searchsorted(sorted_codes, np.arange(n_classes + 1)).astype(np.int64)
    binned = bin_matrix(
        X, order=order, max_bins=max_bins, multiplicity=multiplicity, n_threads=n_threads
    )
    return TrainingSet(
        binned, offsets, weight, multiplicity, class_masses(offsets, weight, multiplicity)
    )


def class_masses(
    offsets: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    multiplicity: NDArray[np.int32] | None,
) -> NDArray[np.float64]:
    """Sum weight * multiplicity by class, independently of the order of rows.

    Weights are rounded to a grid fine enough that doubles add them exactly.
    """
    if weight is None and multiplicity is None:
        return np.diff(offsets).astype(np.float64)
    copies = 1.0 if multiplicity is None else multiplicity.astype(np.float64)
    mass = np.ones(int(offsets[-1])) if weight is None else weight
    count = float(offsets[-1]) if multiplicity is None else float(multiplicity.sum())
    unit = np.ldexp(1.0, int(np.frexp(mass.max(initial=1e-300) * count)[1]) - 51)
    grid = np.rint(mass / unit) * copies
    cumulative = np.concatenate(([0.0], np.cumsum(grid)))
    sums: NDArray[np.float64] = np.diff(cumulative[offsets]) * unit
    return sums
