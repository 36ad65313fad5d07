"""The rows of a fit, ready for an engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost import _native
from marginboost.data.binning import BinnedMatrix, bin_matrix
from marginboost.data.category_codes import CategoryCodes, LearnedOrders
from marginboost.data.category_shares import N_FOLDS
from marginboost.data.copies import HeldOutCopies, count_copies
from marginboost.data.copy_hashes import CopyHashes
from marginboost.data.grouping import class_masses, group_rows, weight_kind
from marginboost.data.hash_bounds import count_rows, hash_bounds
from marginboost.data.integer_weights import weight_unit
from marginboost.data.leaf_weight import LeafWeight
from marginboost.data.row_hashes import row_hashes
from marginboost.data.row_subset import take_rows
from marginboost.data.row_view import HeldOutRows, RowView, SeenRows
from marginboost.data.sampled_rows import SampledRows, values_of
from marginboost.data.sparse_binning import SparseBinnedMatrix, bin_sparse_matrix
from marginboost.data.storage import HOST, Storage

# Seed of the hashes that divide rows into folds.
_FOLD_SEED = 8


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Binned rows, grouped by class, on the host or on a device.

    Attributes
    ----------
    binned : BinnedMatrix or SparseBinnedMatrix
        The features; sparse if X is, and the rows are on the host.
    class_offsets : int64 array of n_classes + 1
        Rows of class a are `class_offsets[a]:class_offsets[a + 1]`; on the host.
    weight : float64 array or None
        Weight of each row; None if all weights are 1.
    multiplicity : int32 array or None
        How often each row counts; None if all count once.
    class_mass : float64 array of n_classes
        Sum of weight * multiplicity over the rows of each class; on the host.
    leaf_weight : LeafWeight or None
        The least weight of a leaf; None if there is no bound.
    storage : Storage
        Where bins, weights and everything else as long as the data are stored.
    n_threads : int
        Threads to hash rows with, on the host; the hashes do not depend on it.
    categories : CategoryCodes or None
        The categories of the rows; None if no column holds categories.
    orders : LearnedOrders or None
        The orders of categories, if they were learned from these rows or some of them; None: those of
        the encoding.
    copies : CopyHashes
        The hashes of the rows' copies.
    n_classes : int
        Number of classes, including those without rows.
    n_rows : int
        Number of rows of positive weight.
    n_counted : int
        Number of rows, each as often as it counts.
    """

    binned: BinnedMatrix | SparseBinnedMatrix
    class_offsets: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    multiplicity: NDArray[np.int32] | None
    class_mass: NDArray[np.float64]
    leaf_weight: LeafWeight | None = None
    storage: Storage = HOST
    n_threads: int = 1
    categories: CategoryCodes | None = None
    orders: LearnedOrders | None = None
    n_classes: int = field(init=False)
    n_rows: int = field(init=False)
    n_counted: int = field(init=False)
    copies: CopyHashes = field(init=False, repr=False)
    # Cache: the held-out rows of some views.
    _known: dict[int, tuple[RowView, Any]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        n_rows, times = int(self.class_offsets[-1]), self.multiplicity
        object.__setattr__(self, "n_classes", len(self.class_offsets) - 1)
        object.__setattr__(self, "n_rows", n_rows)
        object.__setattr__(self, "n_counted", n_rows if times is None else int(times.sum()))
        rows = self.binned, self.class_offsets, self.weight, times
        copies = CopyHashes(*rows, self.storage, self.categories, self.n_threads)
        object.__setattr__(self, "copies", copies)

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """Number of rows of each class, each as often as it counts; on the host."""
        return count_rows(self.class_offsets, self.multiplicity, self.storage)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class number of every row, on the host."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.class_offsets))

    def row_weight(self) -> NDArray[np.float64]:
        """Return weight * multiplicity of every row, on the host."""
        fetch = self.storage.fetch
        weight = np.ones(self.n_rows) if self.weight is None else fetch(self.weight)
        return weight if self.multiplicity is None else weight * fetch(self.multiplicity)

    @property
    def largest_weight(self) -> float | None:
        """The largest weight of a row; None if all weights are 1."""
        if self.weight is None:
            return None
        return float(self.weight.max()) if len(self.weight) else 0.0

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound per class, below which the hashes of about a share of its rows lie."""
        hashes, steps = self.copies.dividing(seed)
        return hash_bounds(
            hashes, self.class_offsets, self.multiplicity, share, self.storage, steps=steps
        )

    def class_mass_seen(self, view: RowView) -> NDArray[np.float64]:
        """Sum weight * multiplicity per class, over the copies of rows that are not held out."""
        if self.weight is None and self.multiplicity is None:
            held_out = self._held_out_copies(view).rows
            places = self.storage.xp.searchsorted(held_out, self.storage.put(self.class_offsets))
            return self.class_mass - np.diff(self.storage.fetch(places))
        weight, multiplicity = self.seen_weights(view)
        unit = weight_unit(self.n_rows, weight, self.multiplicity)
        return class_masses(self.class_offsets, weight, multiplicity, unit, self.storage.xp)

    def seen_weights(self, view: RowView) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
        """Return the weight of every row, 0 if no copy is seen, and the number of copies seen."""
        multiplicity, gone = self._left(self._held_out_copies(view))
        weight = self.storage.xp.ones(self.n_rows) if self.weight is None else self.weight.copy()
        weight[gone] = 0.0
        return weight, multiplicity

    def seen(self, view: RowView) -> SeenRows:
        """Return the part of the rows that a fit sees."""
        held_out = self._held_out_copies(view)
        multiplicity, gone = self._left(held_out)
        seen = None
        if self.weight is not None or len(gone):
            weight = self.storage.xp.ones(self.n_rows) if self.weight is None else self.weight
            # A power of two: the product is exact.
            seen = (weight * np.ldexp(1.0, -view.weight_exponent)).astype(np.float32)
            seen[gone] = 0.0
        bounds = view.bounds(self.n_classes)
        if view.hash_bounds is not None and view.seed is not None:
            # Where all copies of a row are held out or none, the weight of the former is 0.
            bounds = np.where(self.copies.independent(view.seed), bounds, np.uint64(0))
        return SeenRows(
            seen,
            multiplicity,
            None if view.seed is None else self.copies.first(view.seed),
            held_out.rows,
            self.multiplicity,
            bounds,
        )

    def describe_held_out(self, view: RowView, e: NDArray[np.float32]) -> HeldOutRows:
        """Describe the rows of which copies are held out; `e` holds their exponentials."""
        known = self._known.get(id(view))
        # A view of an earlier fit may have had that number.
        if known is None or known[0] is not view:
            if len(self._known) > 3:
                self._known.clear()
            known = view, self._described(view, self._held_out_copies(view))
            self._known[id(view)] = known
        return HeldOutRows(self.storage.fetch(e), *known[1])

    def sample_rows(self, view: RowView) -> SampledRows:
        """Copy the rows of which a view holds out copies to the host, as numbers."""
        held_out = self._held_out_copies(view)
        binned = self.binned
        if isinstance(binned, BinnedMatrix):
            bins: Any = binned.bins
            if self.storage.xp is np:
                bins = _native.take_rows(bins, held_out.rows, self.n_threads)
            else:
                bins = self.storage.fetch(bins[:, held_out.rows])
            binned = replace(binned, bins=bins)
        else:
            binned = take_rows(binned, held_out.rows)
        return SampledRows(values_of(binned), *self._described(view, held_out)).in_order()

    def without(self, view: RowView) -> TrainingSet:
        """Return the rows without the copies that a view holds out."""
        xp = self.storage.xp
        multiplicity, gone = self._left(self._held_out_copies(view))
        kept = xp.ones(self.n_rows, dtype=bool)
        kept[gone] = False
        rows = xp.flatnonzero(kept)
        offsets = xp.searchsorted(rows, self.storage.put(self.class_offsets))
        limit = self.leaf_weight
        if limit is not None:
            limit = replace(limit, rows=limit.rows[rows])
        if limit is not None and self.multiplicity is not None and multiplicity is not None:
            # Integers, of which each copy has the same share.
            limit = replace(limit, rows=limit.rows / self.multiplicity[rows] * multiplicity[rows])
        return TrainingSet(
            take_rows(self.binned, rows, xp),
            self.storage.fetch(offsets).astype(np.int64),
            None if self.weight is None else self.weight[rows],
            None if multiplicity is None else multiplicity[rows],
            self.class_mass_seen(view),
            limit,
            self.storage,
            self.n_threads,
            None if self.categories is None else self.categories.taken(rows),
            self.orders,
        )

    def relearned(self, view: RowView) -> TrainingSet:
        """Return the same rows, with orders of categories from those that a view does not hold out.

        With a least weight of leaves the rows stay as they are: it has chosen among the thresholds.
        """
        if self.categories is None or view.hash_bounds is None or self.leaf_weight is not None:
            return self
        return self.with_orders(self.categories.columns.learn(self.category_counts(view)))

    def cross_fitted(self) -> TrainingSet:
        """Return the same rows; where a column has many categories, without their own labels in it.

        See `marginboost.data.category_shares`.
        """
        if self.categories is None or not any(self.categories.columns.many):
            return self
        counts = self.category_counts(RowView(), many_alone=True)
        return self.with_orders(self.categories.columns.learn(counts))

    def _folds(self) -> Any:
        """Return the fold of every row, which depends on its content; None where none is needed."""
        if self.categories is None or not any(self.categories.columns.many):
            return None
        rows = self.binned, self.class_offsets, _FOLD_SEED, self.storage, self.categories
        hashes = row_hashes(*rows, n_threads=self.n_threads)
        return (hashes % np.uint64(N_FOLDS)).astype(np.int64)

    def category_counts(
        self, view: RowView, *, many_alone: bool = False
    ) -> list[NDArray[np.int64] | None]:
        """Count the rows that a view does not hold out, per category and class; on the host."""
        if self.categories is None:
            return []
        xp = self.storage.xp
        times, gone = self._left(self._held_out_copies(view))
        if times is None:
            times = xp.ones(self.n_rows)
            times[gone] = 0.0
        labels = self.storage.put(self.labels)
        return self.categories.count(
            labels, self.n_classes, times, self.storage, self._folds(), many_alone=many_alone
        )

    def with_orders(self, orders: LearnedOrders) -> TrainingSet:
        """Return the same rows, binned by other orders of categories; the hashes stay the same."""
        if self.categories is None or not isinstance(self.binned, BinnedMatrix):
            return self
        thresholds = list(self.binned.thresholds)
        for column, cuts in zip(orders.columns, orders.thresholds, strict=True):
            thresholds[column] = cuts
        wide = self.binned.bins.dtype == np.uint16 or max(map(len, thresholds)) > 255
        bins: Any = self.binned.bins.astype(np.uint16 if wide else np.uint8)
        folds = self._folds()
        for column, source, positions, of_fold in zip(*orders[:4], strict=True):
            of_rows = positions if of_fold is None else of_fold
            table = np.searchsorted(thresholds[column], of_rows).astype(bins.dtype)
            codes = self.categories.codes[source]
            cells = self.storage.put(table)
            bins[column] = cells[codes] if of_fold is None else cells[folds, codes]
        binned = replace(self.binned, bins=bins, thresholds=tuple(thresholds))
        data = replace(self, binned=binned, orders=orders)
        data.copies.numbering = self.copies.numbering
        return data

    def _described(
        self, view: RowView, held_out: HeldOutCopies
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.uint64]]:
        """Return class, weight of a copy, number of copies, and hash of the content, on the host."""
        rows, copies = held_out
        fetch = self.storage.fetch
        weight = np.ones(len(rows)) if self.weight is None else fetch(self.weight[rows])
        hashes = np.empty(0, dtype=np.uint64)
        if view.seed is not None:
            hashes = fetch(self.copies.of_content(view.seed, rows))
        labels = np.searchsorted(self.class_offsets[1:], fetch(rows), side="right")
        return labels, weight, fetch(copies), hashes

    def _held_out_copies(self, view: RowView) -> HeldOutCopies:
        xp = self.storage.xp
        if view.hash_bounds is None or view.seed is None:
            return HeldOutCopies(xp.empty(0, dtype=np.int64), xp.empty(0, dtype=np.int64))
        hashes, steps = self.copies.dividing(view.seed)
        if self.storage.rows_below is not None and self.multiplicity is None:
            rows = self.storage.rows_below(hashes, self.class_offsets, view.hash_bounds)
            return HeldOutCopies(rows, xp.ones(len(rows), dtype=np.int64))
        counts = np.diff(self.class_offsets).tolist()
        bounds = xp.repeat(self.storage.put(view.hash_bounds), counts)
        if self.multiplicity is None:
            rows = xp.flatnonzero(hashes < bounds)
            return HeldOutCopies(rows, xp.ones(len(rows), dtype=np.int64))
        copies = count_copies(
            hashes, self.multiplicity, lambda rows, of_copy: of_copy < bounds[rows], xp, steps=steps
        )
        rows = xp.flatnonzero(copies)
        return HeldOutCopies(rows, copies[rows])

    def _left(self, held_out: HeldOutCopies) -> tuple[NDArray[np.int32] | None, NDArray[np.int64]]:
        """Return the number of copies left of each row, and the rows with none left."""
        rows, copies = held_out
        if self.multiplicity is None:
            return None, rows
        if not len(rows):
            return self.multiplicity, rows
        left = self.multiplicity.copy()
        left[rows] -= copies.astype(np.int32)
        return left, rows[left[rows] == 0]


def make_training_set(
    X: Any,
    codes: NDArray[np.integer[Any]],
    n_classes: int,
    *,
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64] | None,
    max_bins: int | None,
    n_threads: int,
    categories: CategoryCodes | None = None,
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
        Non-negative weight of each row; rows of weight zero are ignored.
    class_weight : float64 array of n_classes or None
        Factor on the rows of each class.
    max_bins : int or None
        Maximum number of bins per feature; None for one bin per distinct value.
    n_threads : int
        Threads to bin with.
    categories : CategoryCodes or None
        The categories of the rows.

    Returns
    -------
    TrainingSet
        The rows, ready for an engine.
    """
    kind = weight_kind(sample_weight)
    order, offsets, weight, multiplicity = group_rows(
        codes, n_classes, sample_weight, class_weight, kind, n_threads=n_threads
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
    if categories is not None:
        categories = categories.taken(order)
    del order
    _native.return_free_memory()
    mass = class_masses(offsets, weight, multiplicity)
    return TrainingSet(
        *(binned, offsets, weight, multiplicity, mass), n_threads=n_threads, categories=categories
    )
