"""The partitions of Dask collections: parts with X, y and weights of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from numpy.typing import NDArray

from marginboost.data.collection import is_collection
from marginboost.data.columns import Asked, Columns, is_frame, read_array, read_frame
from marginboost.data.masked import check_unmasked, without_mask

__all__ = ["Part", "ReadPart", "make_parts", "whole_rows"]


class ReadPart(NamedTuple):
    """Some rows, as they were given."""

    columns: Columns
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


class Part(NamedTuple):
    """Some rows in ordered columns, with the codes of their categories, where they have any."""

    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    codes: NDArray[Any] | None = None


def make_parts(
    X: Any, y: Any, sample_weight: Any | None, asked: Asked, left_out: Sequence[Any] = ()
) -> list[Any]:
    """Cut X, y and the weights into parts of the same rows.

    Parameters
    ----------
    X : Dask array or data frame
        The rows, by `whole_rows`.
    y : Dask array or series, or array
        Their labels.
    sample_weight : Dask array or series, array or None
        Their weights.
    asked : callable
        Decides which columns hold categories; sent to the workers.
    left_out : sequence
        Labels whose rows are ignored.

    Returns
    -------
    list of dask.delayed.Delayed
        One `ReadPart` each, for every partition of X.
    """
    ys = _cut_like(X, y, "y")
    weights = (
        [None] * len(ys) if sample_weight is None else _cut_like(X, sample_weight, "sample_weight")
    )
    make = dask.delayed(_make_part, pure=False)
    return [make(*parts, asked, left_out) for parts in zip(_delayed(X), ys, weights, strict=True)]


def whole_rows(X: Any) -> Any:
    """Return X with all of its columns in one block."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(f"X must be a two-dimensional Dask array or a data frame; got {X!r}.")
    chunks = getattr(X, "chunks", None)
    return X if chunks is None or len(chunks[1]) == 1 else X.rechunk({1: -1})


def _delayed(collection: Any) -> list[Any]:
    """Return the partitions; their number is the collection's `npartitions`."""
    parts = np.ravel(collection.to_delayed()).tolist()
    if len(parts) != collection.npartitions:
        # Dask reads several files as one partition if it needs few of their columns. The partitions of
        # y would then not match those of X.
        parts = np.ravel(collection.to_delayed(optimize_graph=False)).tolist()
    return list(parts)


def _row_counts(X: Any) -> Sequence[float]:
    """Return the number of rows of each partition; NaN if Dask does not know it."""
    return X.chunks[0] if hasattr(X, "chunks") else [float("nan")] * X.npartitions


def _cut_like(X: Any, values: Any, name: str) -> list[Any]:
    """Divide one value per row into the partitions of X."""
    counts = _row_counts(X)
    known = not np.isnan(counts).any()
    if not is_collection(values):
        check_unmasked(values, name, "a value")
        return _cut_array(X, np.asarray(values), name, counts if known else None)
    if known and hasattr(values, "chunks") and not np.isnan(values.chunks[0]).any():
        if sum(values.chunks[0]) != sum(counts):
            raise ValueError(
                f"X and {name} must have the same number of rows; got {sum(counts):,} and "
                f"{sum(values.chunks[0]):,}."
            )
        if values.ndim == 2:
            values = values.rechunk({1: -1})
        return _delayed(values.rechunk({0: tuple(counts)}))
    parts = _delayed(values)
    if len(parts) != len(counts):
        raise ValueError(
            f"X and {name} must have the same partitions if Dask does not know their numbers of rows; "
            f"got {len(counts)} and {len(parts)} partitions. Call `compute_chunk_sizes()` on them, or "
            "repartition one like the other."
        )
    return parts


def _cut_array(
    X: Any, values: NDArray[Any], name: str, counts: Sequence[float] | None
) -> list[Any]:
    if counts is None:
        counts = dask.compute(*[dask.delayed(len)(part) for part in _delayed(X)])
    if len(values) != sum(counts):
        raise ValueError(
            f"X and {name} must have the same number of rows; got {int(sum(counts)):,} and "
            f"{len(values):,}."
        )
    return np.split(values, np.cumsum(counts[:-1]).astype(np.int64))


def _make_part(X: Any, y: Any, weight: Any, asked: Asked, left_out: Sequence[Any]) -> ReadPart:
    """Convert a partition to NumPy arrays."""
    for name, given in (("y", y), ("sample_weight", weight)):
        check_unmasked(given, f"every partition of {name}", "a value")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    columns = _read(X, asked)
    n_rows = columns.matrix.shape[0]
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and given.shape != (n_rows,):
            raise ValueError(
                f"{name} must have one value per row in every partition; got shape {given.shape} "
                f"for {n_rows:,} rows of X."
            )
    if left_out:
        counts = (~np.isin(y, left_out)).astype(np.float64)
        weights = counts if weights is None else weights * counts
    return ReadPart(columns, y, weights)


def _read(X: Any, asked: Asked) -> Columns:
    if is_frame(X):
        return read_frame(X, asked)
    values = without_mask(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if values.ndim != 2:
        raise ValueError(f"X must have two dimensions; got shape {values.shape} in a partition.")
    return read_array(values, asked)
