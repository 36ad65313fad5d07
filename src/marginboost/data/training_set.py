"""The rows of a fit, ready for an engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost import _native
from marginboost.data.binning import BinnedMatrix, bin_matrix
from marginboost.data.grouping import group_rows, meaning_of
from marginboost.data.leaf_weight import LeafWeight
from marginboost.data.row_hashes import hash_bounds, row_hashes
from marginboost.data.row_subset import take_rows
from marginboost.data.row_view import HeldOutRows, RowView
from marginboost.data.sampled_rows import SampledRows, values_of
from marginboost.data.sparse_binning import SparseBinnedMatrix, bin_sparse_matrix
from marginboost.data.whole_weights import weight_unit, whole_weights


class SeenRows(NamedTuple):
    """What a `RowView` lets a fit see.

    Attributes
    ----------
    weight : float32 array or None
        Weight of each row; None where all are 1.
    hashes : uint64 array or None
        Hash of each row; None where no rule asks for them.
    held_out : int64 array
        Rows that are held out; their weight is 0.
    """

    weight: NDArray[np.float32] | None
    hashes: NDArray[np.uint64] | None
    held_out: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Binned rows, grouped by class.

    Attributes
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        The features; sparse where X is.
    class_offsets : int64 array of n_classes + 1
        Rows of class a are `class_offsets[a]:class_offsets[a + 1]`.
    weight : float64 array or None
        Weight of each row; None where all are 1.
    multiplicity : int32 array or None
        How often each row counts; None where all count once.
    class_mass : float64 array of n_classes
        Sum of weight * multiplicity over the rows of each class.
    leaf_weight : LeafWeight or None
        What a leaf must hold at least; None where that is nothing.
    """

    binned: BinnedMatrix | SparseBinnedMatrix
    class_offsets: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    multiplicity: NDArray[np.int32] | None
    class_mass: NDArray[np.float64]
    leaf_weight: LeafWeight | None = None
    _hashes: dict[int, NDArray[np.uint64]] = field(default_factory=dict, repr=False, compare=False)

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
    def class_counts(self) -> NDArray[np.float64]:
        """Number of rows of each class, each as often as it counts."""
        if self.multiplicity is None:
            return np.diff(self.class_offsets).astype(np.float64)
        before = np.concatenate(([0], np.cumsum(self.multiplicity, dtype=np.int64)))
        return np.diff(before[self.class_offsets]).astype(np.float64)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class number of every row."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.class_offsets))

    def row_weight(self) -> NDArray[np.float64]:
        """Return weight * multiplicity of every row."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return weight if self.multiplicity is None else weight * self.multiplicity

    @property
    def largest_weight(self) -> float | None:
        """The largest weight of a row; None where all are 1."""
        return None if self.weight is None else float(self.weight.max(initial=0.0))

    def hashes(self, seed: int) -> NDArray[np.uint64]:
        """Hash every row; the hashes of the last seed are kept."""
        if seed not in self._hashes:
            self._hashes.clear()
            self._hashes[seed] = row_hashes(self.binned, self.class_offsets, seed)
        return self._hashes[seed]

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound for each class, below which the hashes of about a share of its rows lie."""
        return hash_bounds(self.hashes(seed), self.class_offsets, self.multiplicity, share)

    def class_mass_seen(self, view: RowView) -> NDArray[np.float64]:
        """Sum weight * multiplicity by class, over the rows that are not held out."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight.copy()
        weight[self._held_out(view)] = 0.0
        return class_masses(self.class_offsets, weight, self.multiplicity)

    def seen(self, view: RowView) -> SeenRows:
        """Return what a fit sees of the rows."""
        hashes = None if view.seed is None else self.hashes(view.seed)
        held_out = self._held_out(view)
        if self.weight is None and not len(held_out):
            return SeenRows(None, hashes, held_out)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        seen = np.ldexp(weight, -view.weight_exponent).astype(np.float32)
        seen[held_out] = 0.0
        return SeenRows(seen, hashes, held_out)

    def held_out(self, view: RowView, e: NDArray[np.float32]) -> HeldOutRows:
        """Describe the rows that are held out, e theirs."""
        rows = self._held_out(view)
        weight = self.row_weight()[rows]
        hashes = np.empty(0, dtype=np.uint64) if view.seed is None else self.hashes(view.seed)[rows]
        return HeldOutRows(e, self.labels[rows], weight, hashes)

    def sample_rows(self, view: RowView) -> SampledRows:
        """Return the rows that a view holds out as numbers."""
        rows = self._held_out(view)
        hashes = np.empty(0, dtype=np.uint64) if view.seed is None else self.hashes(view.seed)[rows]
        values = values_of(self.binned, rows)
        return SampledRows(values, self.labels[rows], self.row_weight()[rows], hashes).in_order()

    def without(self, view: RowView) -> TrainingSet:
        """Return the rows that a view does not hold out."""
        rows = np.setdiff1d(np.arange(self.n_rows), self._held_out(view), assume_unique=True)
        limit = self.leaf_weight
        return TrainingSet(
            take_rows(self.binned, rows),
            np.searchsorted(rows, self.class_offsets).astype(np.int64),
            None if self.weight is None else self.weight[rows],
            None if self.multiplicity is None else self.multiplicity[rows],
            self.class_mass_seen(view),
            None if limit is None else replace(limit, rows=limit.rows[rows]),
        )

    def _held_out(self, view: RowView) -> NDArray[np.int64]:
        if view.held_out is None or view.seed is None:
            return np.empty(0, dtype=np.int64)
        bounds = np.repeat(view.held_out, np.diff(self.class_offsets))
        return np.flatnonzero(self.hashes(view.seed) < bounds)


def make_training_set(
    X: Any,
    codes: NDArray[np.integer[Any]],
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
    X : array or SciPy CSR or CSC matrix of n_rows x n_features
        Checked, finite numbers.
    codes : integer array
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
    meaning = meaning_of(sample_weight)
    order, offsets, weight, multiplicity = group_rows(
        codes, n_classes, sample_weight, class_weight, meaning
    )
    binned: BinnedMatrix | SparseBinnedMatrix
    if sparse.issparse(X):
        binned = bin_sparse_matrix(
            X, order=order, max_bins=max_bins, multiplicity=multiplicity, n_threads=n_threads
        )
    else:
        binned = bin_matrix(
            X, order=order, max_bins=max_bins, multiplicity=multiplicity, n_threads=n_threads
        )
    del order
    _native.return_free_memory()
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
    unit = weight_unit(int(offsets[-1]), weight, multiplicity)
    return np.array(
        [
            # A class at a time: a grid of all rows would count in the peak memory of a fit.
            whole_weights(slice(start, stop), weight, multiplicity, unit).sum() * unit
            for start, stop in pairwise(offsets.tolist())
        ]
    )
