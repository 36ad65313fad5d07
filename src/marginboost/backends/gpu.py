"""A backend on a GPU: it holds the rows of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from marginboost.backends.host import Host, Prepared
from marginboost.backends.input_columns import asked_columns, checked_labels
from marginboost.backends.requirements import (
    Requirements,
    Sized,
    check_least_weight,
    check_weighted_classes,
)
from marginboost.data.classes import check_classes, check_two_classes
from marginboost.data.column_facts import ColumnFacts
from marginboost.data.grouping import group_rows, weight_kind
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.masked import check_unmasked
from marginboost.data.training_set import TrainingSet
from marginboost.engine import StumpEngine, TreeEngine
from marginboost.engine.gpu.arrays import lies_on_gpu, to_host
from marginboost.engine.gpu.binning import bin_on_device
from marginboost.engine.gpu.device import Device
from marginboost.engine.gpu.device_matrix import DeviceColumns, DeviceMatrix
from marginboost.engine.gpu.row_steps import FILE as ROW_STEPS
from marginboost.engine.gpu.row_steps import label_counts, label_ends, label_numbers
from marginboost.engine.gpu.rows import rows_on_device, to_device
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine

# Labels that are integers within so wide a range are numbered by a table, without a sort.
_MOST_CODES = 1 << 16


class Gpu:
    """A CUDA device; see `Backend`.

    Rows that lie on the device are checked and binned there; others are binned on the host, so that a
    byte or two a value has to cross.

    Parameters
    ----------
    device : Device
        The device.
    n_jobs : int or None
        Threads of the host that bin what lies there.
    """

    # Two fits side by side would share one device, and one interpreter that feeds it.
    n_threads = 1

    def __init__(self, device: Device, n_jobs: int | None) -> None:
        self._device = device
        self._host = Host("native", n_jobs)

    def prepare(
        self, requirements: Requirements, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> Prepared[TrainingSet]:
        """Check, encode and bin."""
        requirements.check_not_host_only('device="cuda"', 'Pass device="cpu"')
        if lies_on_gpu(X):
            return self._take_in_there(requirements, X, y, sample_weight)
        on_host = replace(requirements, needed_bytes=lambda X, _: X.shape[0] * X.shape[1])
        data, classes, encoding = self._host.prepare(on_host, X, to_host(y), to_host(sample_weight))
        size = Sized((data.n_rows, encoding.n_ordered))
        requirements.check_memory(size, len(classes), self._device.free_bytes(), "GPU memory")
        return Prepared(to_device(self._device, data), classes, encoding)

    def _take_in_there(
        self, requirements: Requirements, X: Any, y: Any, sample_weight: Any | None
    ) -> Prepared[TrainingSet]:
        device, xp = self._device, self._device.xp
        X = self._checked(requirements, X)
        for file in (ROW_STEPS, "column_cuts"):
            device.compile_ahead(file)
        matrix = DeviceMatrix(device, X)
        matrix.compile_ahead()
        n_rows = len(X)
        classes, codes = self._encoded(y, n_rows)
        weight = None if sample_weight is None else self._weights(sample_weight, n_rows)
        counted = requirements.class_weight.counted(classes)
        if counted is not None:
            counted_rows = device.put(counted.astype(np.float64))[codes]
            weight = counted_rows if weight is None else weight * counted_rows
        if weight is not None:
            check_weighted_classes(len(xp.unique(codes[weight > 0])))
        del X
        missing = matrix.missing(weight)
        nothing = (None,) * len(missing)
        encoding = ColumnFacts(missing, nothing, nothing).encoding()
        size = Sized((n_rows, encoding.n_ordered))
        requirements.check_memory(size, len(classes), self._device.free_bytes(), "GPU memory")
        factors = None

        def count(of_rows: Any) -> NDArray[np.int64]:
            return label_counts(device, of_rows, 0, len(classes))

        if requirements.class_weight.given is not None:
            factors = requirements.class_weight.factors(classes, count(codes))
        order, offsets, weight, multiplicity = group_rows(
            codes,
            len(classes),
            weight,
            factors,
            weight_kind(weight, xp),
            xp=xp,
            fetch=device.fetch,
            count=count,
        )
        binned = bin_on_device(
            DeviceColumns(device, matrix, encoding.source, encoding.fill),
            order=order,
            max_bins=requirements.max_bins,
            multiplicity=multiplicity,
        )
        if binned.medians is not None:
            encoding = encoding.with_medians(binned.medians)
        rows = rows_on_device(device, binned, offsets, weight, multiplicity)
        rows = with_least_leaf_weight(rows, requirements.least_leaf_share)
        return Prepared(rows, classes, encoding)

    def _checked(self, requirements: Requirements, X: Any) -> Any:
        """Return X as an array of the device's module: two-dimensional, real."""
        X = self._device.xp.asarray(X.detach() if hasattr(X, "detach") else X)
        if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
            raise ValueError(
                "X must be a two-dimensional array of real numbers with at least one row and one "
                f"column; got {X.dtype} of shape {X.shape}."
            )
        # Keeps the number of columns.
        validate_data(requirements.classifier, X=X, skip_check_array=True)
        wanted = requirements.classifier.categorical_features
        if asked_columns(wanted, X.shape[1], None).places:
            raise ValueError(
                "X must be on the host where it has columns of categories; got an array on a GPU."
            )
        return X

    def _encoded(self, y: Any, n_rows: int) -> tuple[NDArray[Any], Any]:
        """Return the classes, and every row's class number on the device."""
        xp = self._device.xp
        if lies_on_gpu(y):
            on_device = xp.asarray(y.detach() if hasattr(y, "detach") else y)
            classes, codes = self._numbered(on_device.ravel())
            check_classes(classes)
        else:
            y = column_or_1d(np.asarray(checked_labels(y)))
            check_classification_targets(y)
            classes, on_host = np.unique(y, return_inverse=True)
            codes = self._device.put(on_host)
        if len(codes) != n_rows:
            raise ValueError(
                f"X and y must have the same number of rows; got {n_rows:,} and {len(codes):,}."
            )
        check_two_classes(classes)
        return classes, codes

    def _numbered(self, labels: Any) -> tuple[NDArray[Any], Any]:
        """Return the distinct labels on the host, and the number of each row's label."""
        device = self._device
        if labels.dtype.kind in "biu" and len(labels):
            labels = device.xp.ascontiguousarray(labels)
            least, most = label_ends(device, labels)
            # A number from 2**63 on reads as one below 0, so that a label of that size is the least.
            if most - least < _MOST_CODES and (least >= 0 or labels.dtype.kind != "u"):
                counts = label_counts(device, labels, least, most - least + 1)
                found = np.flatnonzero(counts)
                numbers = np.zeros(len(counts), dtype=np.uint32)
                numbers[found] = np.arange(len(found))
                codes = label_numbers(device, labels, least, numbers)
                return (found + least).astype(labels.dtype), codes
        found, codes = device.xp.unique(labels, return_inverse=True)
        return device.fetch(found), codes

    def _weights(self, sample_weight: Any, n_rows: int) -> Any:
        xp = self._device.xp
        check_unmasked(sample_weight, "sample_weight", "a number")
        if hasattr(sample_weight, "detach"):
            sample_weight = sample_weight.detach()
        weight = xp.asarray(sample_weight, dtype=np.float64)
        if weight.shape != (n_rows,):
            raise ValueError(
                f"sample_weight must have one number per row, {n_rows:,}; got shape {weight.shape}."
            )
        if not bool(xp.isfinite(weight).all()):
            raise ValueError("sample_weight must hold finite numbers; got NaN or infinity.")
        at = int(weight.argmin())
        check_least_weight(float(weight[at]), at)
        return weight

    def make_stump_engine(self) -> StumpEngine:
        """Make an engine."""
        return GpuStumpEngine(self._device)

    def make_tree_engine(self, n_threads: int) -> TreeEngine:
        """Make an engine."""
        return GpuTreeEngine(self._device)

    def close(self) -> None:
        """Nothing to let go of: the arrays go with the rows."""
