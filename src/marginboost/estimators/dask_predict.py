"""Predictions of Dask collections: collections themselves, computed where the rows are."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from marginboost.data.collection import is_collection

__all__ = ["computed", "lazily"]


def computed(values: Any) -> Any:
    """Return what a collection holds; anything else as it is."""
    return values.compute() if is_collection(values) else values


def lazily(
    function: Callable[[Any], NDArray[Any]], X: Any, like: NDArray[Any], names: NDArray[Any]
) -> Any:
    """Apply a function of rows to all partitions of a collection.

    Parameters
    ----------
    function : callable
        Takes the rows of a partition.
    X : Dask array or data frame
        The rows.
    like : array
        What the function returns for no rows: its type, and its columns.
    names : array
        Names of the columns, where the function returns several and X is a data frame.

    Returns
    -------
    Dask array, series or data frame
        A frame's partitions keep their index.
    """
    # One key of the graph, so that a worker gets the model once, not with every partition.
    model = importlib.import_module("dask").delayed(function, pure=False)
    if hasattr(X, "columns"):
        meta = _framed(like, X._meta.iloc[:0], names)
        return X.map_partitions(_apply_to_frame, model, like, names, meta=meta)
    X = X.rechunk({1: -1})
    shape: dict[str, Any] = {"drop_axis": 1}
    if like.ndim == 2:
        shape = {"chunks": (X.chunks[0], (like.shape[1],))}
    return X.map_blocks(_apply, function=model, like=like, dtype=like.dtype, meta=like, **shape)


def _apply(X: Any, function: Callable[[Any], NDArray[Any]], like: NDArray[Any]) -> NDArray[Any]:
    """Apply the function where there are rows."""
    return function(X) if len(X) else like


def _apply_to_frame(
    frame: Any, function: Callable[[Any], NDArray[Any]], like: NDArray[Any], names: NDArray[Any]
) -> Any:
    return _framed(_apply(frame, function, like), frame, names)


def _framed(values: NDArray[Any], frame: Any, names: NDArray[Any]) -> Any:
    """Return values as a series or a frame with the index of the rows."""
    pandas = importlib.import_module("pandas")  # who has a data frame has it
    if values.ndim == 1:
        return pandas.Series(values, index=frame.index)
    return pandas.DataFrame(values, index=frame.index, columns=names)
