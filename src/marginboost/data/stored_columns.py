"""Columns of rows in files, gathered from batches: the same numbers as from a frame in memory."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from marginboost.data.columns import Asked, Categories, Columns, column_label, read_series
from marginboost.data.encoding import Category
from marginboost.data.stored_rows import StoredRows

__all__ = ["read_columns", "read_labels", "read_numbers"]


def read_columns(
    rows: StoredRows, names: Sequence[str], places: range, asked: Asked
) -> list[Columns]:
    """Read some columns of all rows; return one `Columns` for each.

    Parameters
    ----------
    rows : StoredRows
        The rows.
    names : sequence of str
        The names of all features.
    places : range
        The features to read.
    asked : callable
        Which columns hold categories, as `read_frame` takes it.
    """
    gathered = [_Gathered(rows.n_rows, partial(asked, n), column_label(n, names)) for n in places]
    taken = [names[n] for n in places]
    for batch in rows.batches(taken):
        for column, name in zip(gathered, taken, strict=True):
            column.add(batch.column(name))
    return [column.finished((name,)) for column, name in zip(gathered, taken, strict=True)]


class _Gathered:
    """A column that grows batch by batch.

    Parameters
    ----------
    n_rows : int
        Number of rows that there will be.
    asked : callable
        Takes whether the type is that of categories; returns whether the column holds some.
    label : str
        Name of the column in messages.
    """

    def __init__(self, n_rows: int, asked: Callable[[bool], bool], label: str) -> None:
        self._n_rows, self._asked, self._label = n_rows, asked, label
        self._place = 0
        self._values: NDArray[Any] | None = None  # numbers
        self._codes: NDArray[np.int32] | None = (
            None  # of categories, in the order of their discovery
        )
        self._found: dict[Category, int] = {}

    def add(self, array: Any) -> None:
        """Add the rows of a batch."""
        says_so = _arrow().types.is_dictionary(array.type)
        array, indices = _distinct(array)
        if says_so:
            array = array.dictionary_encode()  # a category, whatever its values are
        series = nw.from_native(_chunked(array), series_only=True)
        values, categories = read_series(series, self._asked, self._label)
        if indices is not None:
            values = np.append(values, np.nan)[indices]
        here = slice(self._place, self._place + len(values))
        self._place = here.stop
        if categories is None and self._codes is not None:
            return  # text without a value: missing
        if categories is None:
            if self._values is None:
                self._values = np.full(self._n_rows, np.nan, dtype=values.dtype)
            self._values[here] = values
            return
        if self._codes is None:  # batches before this one had no value
            self._values, self._codes = None, np.full(self._n_rows, -1, dtype=np.int32)
        ids = [self._found.setdefault(value, len(self._found)) for value in categories]
        missing = np.isnan(values)
        places = np.where(missing, len(ids), values).astype(np.intp)
        self._codes[here] = np.array([*ids, -1], dtype=np.int32)[places]

    def finished(self, names: tuple[str, ...]) -> Columns:
        """Return the column, as `read_frame` would."""
        if self._codes is None:
            values = np.empty(0) if self._values is None else self._values
            return Columns(values[:, None], (None,), names)
        categories: Categories = tuple(sorted(self._found))
        place = np.empty(len(categories) + 1)
        place[[self._found[value] for value in categories]] = np.arange(len(categories))
        place[-1] = np.nan  # code -1
        return Columns(place[self._codes][:, None], (categories,), names)


def read_labels(rows: StoredRows, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the labels of all rows.

    Returns
    -------
    classes : array
        The labels, sorted.
    codes : array of the narrowest type
        Class number of each row.
    """
    rows.check_name(name, "y")
    codes = np.empty(rows.n_rows, dtype=np.int32)
    found: list[NDArray[Any]] = []
    known: dict[Any, int] = {}
    begin = 0
    for batch in rows.batches([name]):
        values, of_row = _labels_of(batch.column(name), begin)
        ids = [known.setdefault(value, len(known)) for value in values.tolist()]
        found.append(values)
        codes[begin : begin + batch.num_rows] = np.array(ids, dtype=np.int32)[of_row]
        begin += batch.num_rows
    if not known:
        raise ValueError("X must hold at least one row; got none.")
    classes = np.unique(np.concatenate(found))
    number = np.empty(len(known), dtype=np.min_scalar_type(len(classes)))
    number[[known[label] for label in classes.tolist()]] = np.arange(len(classes))
    return classes, number[codes]


def _labels_of(array: Any, begin: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels of a batch, and each row's place among them."""
    array, indices = _distinct(array)
    values = array.to_numpy(zero_copy_only=False)
    of_row = np.arange(len(values)) if indices is None else indices
    missing = of_row == len(values) if indices is not None else _missing(array, values)
    if missing.any():
        at = begin + int(np.argmax(missing))
        raise ValueError(
            f"y must hold a label for every row; got none at row {at}. Leave such rows out."
        )
    if indices is not None:
        return values, indices
    classes, codes = np.unique(values, return_inverse=True)
    return classes, codes


def _missing(array: Any, values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=bool)
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def read_numbers(rows: StoredRows, name: str, what: str) -> NDArray[np.float64]:
    """Read a column of numbers, such as weights."""
    rows.check_name(name, what)
    values = np.empty(rows.n_rows)
    begin = 0
    for batch in rows.batches([name]):
        series = nw.from_native(_chunked(batch.column(name)), series_only=True)
        values[begin : begin + batch.num_rows], _ = read_series(series, lambda _: False, what)
        begin += batch.num_rows
    return values


def _distinct(array: Any) -> tuple[Any, NDArray[np.intp] | None]:
    """Return the distinct values of text, and each row's place among them; numbers as they are.

    The place of a missing value is one after the last.
    """
    types = _arrow().types
    kind = array.type
    if types.is_dictionary(kind):
        array = array.dictionary_decode()
    elif types.is_string_view(kind) if hasattr(types, "is_string_view") else False:
        array = array.cast(_arrow().large_string())
    elif not (types.is_string(kind) or types.is_large_string(kind)):
        return array, None
    coded = array.dictionary_encode()
    places = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
    return coded.dictionary, places.astype(np.intp, copy=False)


def _chunked(array: Any) -> Any:
    return _arrow().chunked_array([array])


def _arrow() -> Any:
    return importlib.import_module("pyarrow")  # which has read the array
