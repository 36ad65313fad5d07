"""The rows of a fit on a device: all arrays as long as the data stay there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.binning import BinnedMatrix
from marginboost.data.copies import STEP, HeldOutCopies, copy_numbers, count_copies
from marginboost.data.hash_bounds import count_digits, find_bounds
from marginboost.data.integer_weights import weight_unit
from marginboost.data.leaf_weight import LeafWeight, heavy_run
from marginboost.data.row_hashes import hash_tables
from marginboost.data.row_view import HeldOutRows, RowView
from marginboost.data.sampled_rows import SampledRows, values_of
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.training_set import SeenRows, TrainingSet

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device

__all__ = ["GpuRows"]

Floats = NDArray[np.float64]

MOST_ROWS = 2**31 - 1  # kernels number them by int32


@dataclass(frozen=True, slots=True, eq=False)
class GpuRows:
    """Binned rows on a device, grouped by class; see `Rows`.

    Attributes
    ----------
    device : Device
        Device of the rows.
    binned : BinnedMatrix
        Its bins, features x rows, are on the device.
    class_offsets : int64 array of n_classes + 1
        Rows of class a are `class_offsets[a]:class_offsets[a + 1]`; on the host.
    weight : float64 device array or None
        Weight of each row; None if all are 1.
    multiplicity : int32 device array or None
        Multiplicity of each row; None if all are 1.
    class_mass : float64 array of n_classes
        Sum of weight * multiplicity over the rows of each class; on the host.
    leaf_weight : LeafWeight or None
        Its rows are on the device.
    """

    device: Device
    binned: BinnedMatrix
    class_offsets: NDArray[np.int64]
    weight: Any | None
    multiplicity: Any | None
    class_mass: Floats
    leaf_weight: LeafWeight | None = None
    # What is kept: the hashes of a seed, and the copies' numbers.
    _hashes: dict[int, Any] = field(default_factory=dict, init=False, repr=False)
    _numbers: list[Any] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.n_rows > MOST_ROWS:
            raise ValueError(
                f"A GPU takes up to {MOST_ROWS:,} rows; got {self.n_rows:,}. Fit on the CPU, or on a "
                "cluster with one GPU per worker."
            )

    @classmethod
    def of(cls, device: Device, data: TrainingSet) -> GpuRows:
        """Make rows from those of the host."""
        xp, limit = device.xp, data.leaf_weight
        rows = cls(
            device,
            BinnedMatrix(_dense_bins(device, data), data.binned.thresholds),
            data.class_offsets,
            None if data.weight is None else xp.asarray(data.weight),
            None if data.multiplicity is None else xp.asarray(data.multiplicity),
            data.class_mass,
            None if limit is None else LeafWeight(xp.asarray(limit.rows), limit.least),
        )
        # If the rows are a part of a whole, their copies are already numbered.
        if data.numbering:
            rows._numbers.append(None if data.numbers is None else xp.asarray(data.numbers))
        return rows

    @classmethod
    def of_binned(
        cls,
        device: Device,
        binned: BinnedMatrix,
        class_offsets: NDArray[np.int64],
        weight: Any | None,
        multiplicity: Any | None,
    ) -> GpuRows:
        """Make rows from arrays on the device."""
        unsummed = cls(device, binned, class_offsets, weight, multiplicity, np.empty(0))
        mass = unsummed._by_class(unsummed._whole_weights()) * unsummed._unit()
        return cls(device, binned, class_offsets, weight, multiplicity, mass)

    @property
    def n_classes(self) -> int:
        """Number of classes, including those without rows."""
        return len(self.class_offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return int(self.class_offsets[-1])

    @property
    def n_counted(self) -> int:
        """Number of rows, with their multiplicity."""
        return int(self.class_counts.sum())

    @property
    def class_counts(self) -> Floats:
        """Number of rows of each class, with their multiplicity."""
        if self.multiplicity is None:
            return np.diff(self.class_offsets).astype(np.float64)
        return self._by_class(self.multiplicity)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class number of every row, on the host."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.class_offsets))

    @property
    def largest_weight(self) -> float | None:
        """The largest weight of a row; None if all are 1."""
        return None if self.weight is None else float(self.weight.max())

    def row_weight(self) -> Floats:
        """Return weight * multiplicity of every row, on the host."""
        weight = np.ones(self.n_rows)
        for factor in (self.weight, self.multiplicity):
            if factor is not None:
                weight = weight * self.device.fetch(factor)
        return weight

    def with_least_leaf_weight(self, share: float) -> GpuRows:
        """Leave out the thresholds of stumps with less than a share of the weight on one side.

        See `marginboost.data.leaf_weight.with_least_leaf_weight`.
        """
        if share == 0.0:
            return self
        xp = self.device.xp
        rows = self._whole_weights()
        least = share * float(rows.sum())
        bins = xp.empty_like(self.binned.bins)
        thresholds = []
        for feature, cuts in enumerate(self.binned.thresholds):
            column = self.binned.bins[feature]
            by_bin = xp.bincount(column, weights=rows, minlength=len(cuts) + 1)
            first, last = heavy_run(self.device.fetch(by_bin), least)
            bins[feature] = xp.clip(column, first, last) - first
            thresholds.append(cuts[first:last])
        return GpuRows(
            self.device,
            BinnedMatrix(bins, tuple(thresholds)),
            self.class_offsets,
            self.weight,
            self.multiplicity,
            self.class_mass,
            LeafWeight(rows, least),
        )

    def hashes(self, seed: int) -> Any:
        """Hash the first copy of every row, on the device; the hashes of the last seed are kept."""
        if seed not in self._hashes:
            self._hashes.clear()
            tables = hash_tables(self.binned.n_bins, self.n_classes, seed)
            hashes = self._of_class(tables.of_class)
            of_bin = self.device.put(tables.of_bin)
            for feature, begin in enumerate(tables.begins[:-1].tolist()):
                hashes += of_bin[begin : tables.begins[feature + 1]][self.binned.bins[feature]]
            if not self._numbers:
                xp = self.device.xp
                self._numbers.append(copy_numbers(hashes, self.weight, self.multiplicity, xp))
            if self._numbers[0] is not None:
                hashes += self._numbers[0].astype(np.uint64) * STEP
            self._hashes[seed] = hashes
        return self._hashes[seed]

    def hash_bounds(self, seed: int, share: float) -> NDArray[np.uint64]:
        """Find a bound per class, below which the hashes of about a share of its rows lie.

        The same bits as `marginboost.data.hash_bounds.hash_bounds`.
        """
        xp, offsets = self.device.xp, self.class_offsets
        hashes = self.hashes(seed)
        labels = self._of_class(np.arange(self.n_classes))
        if self.multiplicity is not None:

            def count(prefix: NDArray[np.uint64], shift: int, bits: int) -> NDArray[np.int64]:
                there = self.device.put(prefix)
                digits = count_digits(hashes, labels, self.multiplicity, there, shift, bits, xp)
                return self.device.fetch(digits)

            return find_bounds(count, share * self.class_counts)
        order = xp.lexsort(xp.stack([hashes, labels.astype(np.uint64)]))
        places = offsets[:-1] + np.floor(share * np.diff(offsets)).astype(np.int64)
        places = np.minimum(places, max(self.n_rows - 1, 0))  # of classes without rows
        bounds = self.device.fetch(hashes[order[self.device.put(places)]])
        return np.where(np.diff(offsets) > 0, bounds, np.uint64(0))

    def class_mass_seen(self, view: RowView) -> Floats:
        """Sum weight * multiplicity by class, over the copies that a view does not hold out."""
        xp = self.device.xp
        multiplicity, gone = self._left(self._held_out(view))
        weight = xp.ones(self.n_rows) if self.weight is None else self.weight.copy()
        weight[gone] = 0.0
        unit = weight_unit(self.n_rows, weight, self.multiplicity)
        whole = xp.rint(weight / unit)
        return self._by_class(whole if multiplicity is None else whole * multiplicity) * unit

    def seen(self, view: RowView) -> SeenRows:
        """Return the rows that a fit sees, on the device; the bounds are on the host."""
        xp = self.device.xp
        held_out = self._held_out(view)
        multiplicity, gone = self._left(held_out)
        seen = None
        if self.weight is not None or len(gone):
            weight = xp.ones(self.n_rows) if self.weight is None else self.weight
            # A power of two: the product is exact.
            seen = (weight * np.ldexp(1.0, -view.weight_exponent)).astype(np.float32)
            seen[gone] = 0.0
        return SeenRows(
            seen,
            multiplicity,
            None if view.seed is None else self.hashes(view.seed),
            held_out.rows,
            self.multiplicity,
            view.bounds(self.n_classes),
        )

    def describe_held_out(self, view: RowView, e: Any) -> HeldOutRows:
        """Describe the rows with held-out copies; `e` (rows x classes) is theirs, on the device."""
        return HeldOutRows(self.device.fetch(e), *self._described(view, self._held_out(view)))

    def sample_rows(self, view: RowView) -> SampledRows:
        """Copy the rows of which a view holds out copies to the host, in numeric form."""
        held_out = self._held_out(view)
        bins = self.device.fetch(self.binned.bins[:, held_out.rows])
        binned = BinnedMatrix(bins, self.binned.thresholds)
        values = values_of(binned, np.arange(bins.shape[1]))
        return SampledRows(values, *self._described(view, held_out)).in_order()

    def without(self, view: RowView) -> GpuRows:
        """Return the rows without the copies that a view holds out, on the device."""
        xp = self.device.xp
        multiplicity, gone = self._left(self._held_out(view))
        kept = xp.ones(self.n_rows, dtype=bool)
        kept[gone] = False
        rows = xp.flatnonzero(kept)
        offsets = self.device.fetch(xp.searchsorted(rows, self.device.put(self.class_offsets)))
        limit = self.leaf_weight
        if limit is not None:
            limit = replace(limit, rows=limit.rows[rows])
            if self.multiplicity is not None and multiplicity is not None:
                # Whole numbers, of which each copy has the same share.
                left = limit.rows / self.multiplicity[rows] * multiplicity[rows]
                limit = replace(limit, rows=left)
        return GpuRows(
            self.device,
            replace(self.binned, bins=xp.ascontiguousarray(self.binned.bins[:, rows])),
            offsets.astype(np.int64),
            None if self.weight is None else self.weight[rows],
            None if multiplicity is None else multiplicity[rows],
            self.class_mass_seen(view),
            limit,
        )

    def _described(
        self, view: RowView, held_out: HeldOutCopies
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64], NDArray[np.uint64]]:
        """Return class, weight of a copy, number of copies and hash of the content, on the host."""
        rows, copies = held_out
        weight = np.ones(len(rows))
        if self.weight is not None:
            weight = self.device.fetch(self.weight[rows])
        hashes = np.empty(0, dtype=np.uint64)
        if view.seed is not None:
            of_content = self.hashes(view.seed)[rows]
            if self._numbers[0] is not None:
                of_content -= self._numbers[0][rows].astype(np.uint64) * STEP
            hashes = self.device.fetch(of_content)
        return self.labels[self.device.fetch(rows)], weight, self.device.fetch(copies), hashes

    def _held_out(self, view: RowView) -> HeldOutCopies:
        xp = self.device.xp
        if view.hash_bounds is None or view.seed is None:
            return HeldOutCopies(xp.empty(0, dtype=np.int64), xp.empty(0, dtype=np.int64))
        hashes, bounds = self.hashes(view.seed), self._of_class(view.hash_bounds)
        if self.multiplicity is None:
            rows = xp.flatnonzero(hashes < bounds)
            return HeldOutCopies(rows, xp.ones(len(rows), dtype=np.int64))
        copies = count_copies(
            hashes, self.multiplicity, lambda rows, of_copy: of_copy < bounds[rows], xp
        )
        rows = xp.flatnonzero(copies)
        return HeldOutCopies(rows, copies[rows])

    def _left(self, held_out: HeldOutCopies) -> tuple[Any | None, Any]:
        """Return the number of copies left of each row, and the rows without any."""
        rows, copies = held_out
        if self.multiplicity is None:
            return None, rows
        left = self.multiplicity.copy()
        left[rows] -= copies.astype(np.int32)
        return left, rows[left[rows] == 0]

    def _of_class(self, values: NDArray[Any]) -> Any:
        """Return the value of every row's class."""
        xp = self.device.xp
        ends = self.device.put(self.class_offsets[1:])
        return self.device.put(values)[xp.searchsorted(ends, xp.arange(self.n_rows), side="right")]

    def _by_class(self, values: Any) -> Floats:
        """Add up whole numbers by class."""
        xp = self.device.xp
        before = xp.concatenate([xp.zeros(1), xp.cumsum(values.astype(np.float64))])
        return np.diff(self.device.fetch(before[self.device.put(self.class_offsets)]))

    def _unit(self) -> float:
        return weight_unit(self.n_rows, self.weight, self.multiplicity)

    def _whole_weights(self) -> Any:
        """Return weight * multiplicity of all rows, the weight rounded to whole units."""
        xp, unit = self.device.xp, self._unit()
        whole = xp.full(self.n_rows, 1.0 / unit)
        if self.weight is not None:
            whole = xp.rint(self.weight / unit)
        return whole if self.multiplicity is None else whole * self.multiplicity


def _dense_bins(device: Device, data: TrainingSet) -> Any:
    """Copy all bins to the device, zeros included."""
    binned, xp = data.binned, device.xp
    if not isinstance(binned, SparseBinnedMatrix):
        return xp.asarray(binned.bins)
    needed = binned.n_features * binned.n_rows * binned.bins.itemsize
    if needed > device.free_bytes():
        raise ValueError(
            f"On a GPU sparse rows are kept with all of their zeros: {needed / 2**30:,.1f} GiB for "
            f"{binned.n_rows:,} rows and {binned.n_features:,} features, and "
            f"{device.free_bytes() / 2**30:,.1f} GiB is free. Fit on the CPU, which keeps them sparse."
        )
    bins = xp.empty((binned.n_features, binned.n_rows), dtype=binned.bins.dtype)
    bins[:] = device.put(binned.zero_bin.astype(binned.bins.dtype))[:, None]
    feature = np.repeat(np.arange(binned.n_features), np.diff(binned.indptr))
    places = device.put(feature), device.put(binned.rows.astype(np.int64))
    bins[places] = device.put(binned.bins)
    return bins
