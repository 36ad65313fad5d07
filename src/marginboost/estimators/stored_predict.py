"""Rows in files, for prediction and validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.stored_columns import read_labels, read_numbers
from marginboost.data.stored_rows import StoredRows, as_stored

__all__ = ["in_batches", "in_memory", "labels_in", "loaded"]


def in_batches(
    function: Callable[[Any], NDArray[Any]], rows: StoredRows, names: Any | None
) -> NDArray[Any]:
    """Apply a function of rows to all rows, some at a time.

    Parameters
    ----------
    function : callable
        Takes a pyarrow record batch.
    rows : StoredRows
        The rows.
    names : sequence of str or None
        The features of the model; other columns are not read. None where they have no names.
    """
    columns = _columns(rows, names)
    found = [function(batch) for batch in rows.batches(columns)]
    return np.concatenate(found) if found else function(rows.table(columns))


def in_memory(X: Any, names: Any | None) -> Any:
    """Read rows into memory, where X is in files; else return X. `names` as for `in_batches`."""
    rows = as_stored(X)
    return X if rows is None else rows.table(_columns(rows, names))


def _columns(rows: StoredRows, names: Any | None) -> list[str]:
    """Return the columns to read: those of the model, if all are there."""
    if names is not None and set(rows.names).issuperset(names):
        return list(names)
    return rows.features()


def labels_in(rows: StoredRows, y: Any) -> Any:
    """Return the labels, where y names their column; else y."""
    if not isinstance(y, str):
        return y
    classes, codes = read_labels(rows, y)
    return classes[codes]


def loaded(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Read rows, labels and weights into memory, where X is in files; else return them."""
    rows = as_stored(X)
    if rows is None:
        return X, y, weight
    names = rows.features(*(name for name in (y, weight) if isinstance(name, str)))
    if isinstance(weight, str):
        weight = read_numbers(rows, weight, "sample_weight_val")
    return rows.table(names), labels_in(rows, y), weight
