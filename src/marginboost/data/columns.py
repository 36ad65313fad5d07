"""The columns of X as numbers, read from arrays and, with narwhals, from data frames of any kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Category
from marginboost.data.sparse_input import is_sparse

__all__ = ["Columns", "as_frame", "is_frame", "read_array", "read_frame", "read_series"]

Categories = tuple[Category, ...]

# Takes a column's number and whether its type is that of categories; returns whether it holds categories.
Asked = Callable[[int, bool], bool]

_NONE_LOST: Mapping[int, Category] = MappingProxyType({})

# Advice for dates, which are not numbers yet.
_DATES = (
    "Turn dates into numbers (the days since a fixed date, the month, the weekday), or leave the column "
    "out."
)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of X as numbers.

    Attributes
    ----------
    matrix : array or SciPy sparse matrix of shape (n, n_features)
        NaN for missing values. A column of categories holds the index of each value's category.
    categories : tuple, one entry per column
        The categories of a column, sorted, all text or all numbers; None for a column of numbers.
    names : tuple of str, or None
        The names of the columns, if they have any.
    """

    matrix: Any
    categories: tuple[Categories | None, ...]
    names: tuple[str, ...] | None = None

    def label(self, column: int) -> str:
        """Return a label of a column for messages."""
        return column_label(column, self.names)

    def recoded(
        self,
        categories: Sequence[Categories | None],
        lost: Mapping[int, Category] = _NONE_LOST,
    ) -> Columns:
        """Return the columns with other categories: all other values become missing.

        Parameters
        ----------
        categories : sequence, one entry per column
            As in the attribute, in any order.
        lost : dict from int to category
            For columns that have no category left, one that they had.
        """
        if tuple(categories) == self.categories:
            return self
        matrix = np.array(self.matrix, dtype=np.float64, order="F")
        for column, (old, new) in enumerate(zip(self.categories, categories, strict=True)):
            if old is None and new is None:
                continue
            if old is None or new is None:
                raise ValueError(_other_kind(self.label(column), now=old, then=new))
            then = new or ((lost[column],) if column in lost else ())
            if old and then and isinstance(old[0], str) is not isinstance(then[0], str):
                raise ValueError(_other_kind(self.label(column), now=old, then=then))
            lookup = {value: float(place) for place, value in enumerate(new)}
            places = np.array([*(lookup.get(value, np.nan) for value in old), np.nan])
            codes = np.where(np.isnan(matrix[:, column]), len(old), matrix[:, column])
            matrix[:, column] = places[codes.astype(np.intp)]
        return replace(self, matrix=matrix, categories=tuple(categories))


def as_frame(X: Any) -> Any:
    """Convert an Arrow record batch to a table; return anything else unchanged."""
    return sys.modules["pyarrow"].Table.from_batches([X]) if _is_arrow(X, "RecordBatch") else X


def _is_arrow(X: Any, kind: str) -> bool:
    arrow = sys.modules.get("pyarrow")  # an Arrow object exists only once pyarrow is imported
    return arrow is not None and isinstance(X, getattr(arrow, kind))


def is_frame(X: Any) -> bool:
    """Check whether X is a data frame of pandas, polars, pyarrow or another library narwhals supports."""
    if isinstance(X, np.ndarray | list) or is_sparse(X):
        return False
    if hasattr(X, "iloc"):  # pandas or similar: narwhals rejects frames with repeated names
        return bool(X.ndim == 2)
    if _is_arrow(X, "Table"):  # and such tables too
        return True
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)


def frame_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame; None if they are not text."""
    columns = _column_names(X)
    text = [isinstance(name, str) for name in columns]
    if any(text) and not all(text):
        raise TypeError(
            "Either all column names of X must be text, or none of them; got some of each. Convert "
            "them, for example with `X.columns = X.columns.astype(str)`."
        )
    if not all(text):
        return None
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise ValueError(f"The column names of X must be unique; got {', '.join(twice)} twice.")
    return tuple(columns)


def _column_names(X: Any) -> list[Any]:
    if hasattr(X, "iloc"):
        return list(getattr(X, "columns", ()))
    if _is_arrow(X, "Table"):
        return list(X.column_names)
    return _opened(X).columns


def read_frame(X: Any, asked: Asked, order: Sequence[int] | None = None) -> Columns:
    """Read a data frame.

    Parameters
    ----------
    X : data frame
        Columns of numbers, booleans, text or categories.
    asked : callable
        Which columns hold categories.
    order : sequence of int, optional
        The columns to read, in this order; all of them by default.
    """
    names = frame_names(X)
    if hasattr(X, "iloc") and names is None:  # narwhals needs names, but these may be numbers
        X = X.set_axis([str(n) for n in range(X.shape[1])], axis=1)
    frame = _opened(X)
    every = frame.columns
    taken = [every[n] for n in (range(len(every)) if order is None else order)]
    if names is not None:
        names = tuple(taken)
    found = [
        read_series(frame[name], partial(asked, n), column_label(n, names))
        for n, name in enumerate(taken)
    ]
    narrow = bool(found) and all(values.dtype == np.float32 for values, _ in found)
    matrix = np.empty((len(frame), len(found)), np.float32 if narrow else np.float64, order="F")
    for column, (values, _) in enumerate(found):
        matrix[:, column] = values
    return Columns(matrix, tuple(categories for _, categories in found), names)


def read_array(X: Any, asked: Asked) -> Columns:
    """Read an array, of numbers or of objects, or a sparse matrix.

    Parameters
    ----------
    X : array or SciPy sparse matrix of shape (n, n_features)
        Numbers, if no column holds categories.
    asked : callable
        Which columns hold categories.
    """
    holds = [asked(n, False) for n in range(X.shape[1])]
    if not any(holds):
        return Columns(X, (None,) * X.shape[1])
    if is_sparse(X):
        raise ValueError(
            "X must be dense if it has columns of categories; got a sparse matrix. Pass "
            "X.toarray(), or no categorical_features."
        )
    matrix = np.empty(X.shape, order="F")
    categories: list[Categories | None] = []
    for column, is_held in enumerate(holds):
        values = X[:, column]
        if is_held:
            matrix[:, column], of_column = _coded(values, column_label(column, None))
            categories.append(of_column)
        else:
            matrix[:, column] = _as_numbers(values, column_label(column, None))
            categories.append(None)
    return Columns(matrix, tuple(categories))


def column_label(column: int, names: Sequence[str] | None) -> str:
    """Return a label of a column for messages."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def capitalized(label: str) -> str:
    """Capitalize a label for the beginning of a sentence, but not the name in it."""
    return label[:1].upper() + label[1:]


def _opened(X: Any) -> nw.DataFrame[Any]:
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X must be a data frame in memory; got a lazy one. Pass X.collect().")
    return frame


def read_series(
    series: nw.Series[Any], asked: Callable[[bool], bool], label: str
) -> tuple[NDArray[Any], Categories | None]:
    """Return a column as numbers, and its categories if it has any."""
    dtype = series.dtype
    says_so = isinstance(dtype, nw.Categorical | nw.Enum | nw.String)
    if says_so and series.null_count() == len(series) and not asked(False):
        return np.full(len(series), np.nan), None  # no value is text: the type is pandas' guess
    if isinstance(dtype, nw.Object | nw.Unknown):
        values = series.to_numpy()
        says_so = any(isinstance(value, str) or _is_interval(value) for value in values)
        if asked(says_so):
            return _coded(values, label)
        return _as_numbers(values, label), None
    if says_so and series.implementation.is_polars() and asked(says_so):
        return _coded_text(series.cast(nw.String))
    if asked(says_so):
        return _coded(_objects(series) if says_so else _narrowed(series).to_numpy(), label)
    if says_so:
        raise ValueError(
            f"{capitalized(label)} of X holds text or categories, but categorical_features does not "
            'list it. Add it there, or pass categorical_features="from_dtype".'
        )
    if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
        hint = f" {_DATES}" if dtype.is_temporal() else ""
        raise ValueError(
            f"The columns of X must hold numbers, booleans, text or categories; got {dtype} in "
            f"{label}.{hint}"
        )
    return _numbers_of(_narrowed(series)), None


def _objects(series: nw.Series[Any]) -> NDArray[Any]:
    """Return the values unchanged; NumPy would turn tuples into a table."""
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def _coded_text(series: nw.Series[Any]) -> tuple[NDArray[np.float64], Categories]:
    """Return the index of each text among the texts, and the texts; without a loop over the rows."""
    texts = sorted(series.drop_nulls().unique().to_list())
    if not texts:
        return np.full(len(series), np.nan), ()
    codes = series.replace_strict(texts, list(range(len(texts))), return_dtype=nw.Float64)
    return codes.to_numpy().astype(np.float64), tuple(texts)


def _narrowed(series: nw.Series[Any]) -> nw.Series[Any]:
    """Convert a column to a type that NumPy has: it lacks 128-bit integers."""
    wide = isinstance(series.dtype, nw.Int128 | nw.UInt128)
    return series.cast(nw.Float64) if wide else series


def _numbers_of(series: nw.Series[Any]) -> NDArray[Any]:
    if series.null_count():
        # NaN for null: NumPy integers cannot be missing.
        narrow = isinstance(series.dtype, nw.Float32)
        return (
            series.cast(nw.Float32 if narrow else nw.Float64)
            .to_numpy()
            .astype(np.float32 if narrow else np.float64)
        )
    values = series.to_numpy()
    return values if values.dtype == np.float32 else values.astype(np.float64)


def _as_numbers(values: NDArray[Any], label: str) -> NDArray[Any]:
    """Return objects as numbers."""
    if values.dtype.kind == "c":
        raise ValueError(
            f"The columns of X must hold real numbers; got complex ones in {label}. Pass the real and "
            "the imaginary parts as two columns."
        )
    if values.dtype != object:
        return values.astype(np.float64)
    for value in values:
        if not is_missing(value) and not _is_number(value):
            hint = f" {_DATES}" if hasattr(value, "isoformat") else ""
            raise ValueError(
                "The columns of X must hold numbers, booleans, text or categories; got "
                f"{value!r} in {label}.{hint}"
            )
    return np.array([np.nan if is_missing(v) else v for v in values], dtype=np.float64)


def _coded(values: NDArray[Any], label: str) -> tuple[NDArray[np.float64], Categories]:
    """Return the index of each value's category, and the categories."""
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64) + 0.0  # no negative zero
        _check_finite_categories(numbers, label)
        found = np.unique(numbers[~np.isnan(numbers)])
        codes = np.searchsorted(found, numbers).astype(np.float64)
        codes[np.isnan(numbers)] = np.nan
        return codes, tuple(found.tolist())
    objects = values.tolist()
    try:
        distinct = {value for value in objects if not is_missing(value)}
    except TypeError:  # for example lists, which cannot be keys
        raise ValueError(_odd_categories(objects, label)) from None
    if all(isinstance(value, str) for value in distinct):
        lookup = {value: place for place, value in enumerate(sorted(distinct))}
        codes = np.fromiter(
            (lookup.get(value, np.nan) if isinstance(value, str) else np.nan for value in objects),
            dtype=np.float64,
            count=len(objects),
        )
        return codes, tuple(lookup)
    if all(_is_number(value) for value in distinct):
        numbers = np.array([np.nan if is_missing(v) else float(v) for v in objects])
        return _coded(numbers, label)
    if all(_is_interval(value) for value in distinct):
        names = {value: _interval_text(value) for value in distinct}
        texts = [None if is_missing(value) else names[value] for value in objects]
        return _coded(np.array(texts, dtype=object), label)
    raise ValueError(_odd_categories(objects, label))


def _odd_categories(objects: Sequence[Any], label: str) -> str:
    odd = sorted({type(value).__name__ for value in objects if not is_missing(value)})
    return (
        f"The categories of a column must be all text or all numbers; got {' and '.join(odd)} in "
        f"{label}. Convert them to text, for example with `str(value)`."
    )


def _is_interval(value: Any) -> bool:
    """Check whether a value is a pandas interval, as `pandas.cut` makes."""
    return type(value).__name__ == "Interval" and hasattr(value, "closed_left")


def _interval_text(interval: Any) -> str:
    """Write an interval as pandas shows it, with all digits: for example (0.5, 1.0]."""
    left, right = (
        repr(float(end)) if isinstance(end, Real) else str(end)
        for end in (interval.left, interval.right)
    )
    opening = "[" if interval.closed_left else "("
    return f"{opening}{left}, {right}{']' if interval.closed_right else ')'}"


def _check_finite_categories(numbers: NDArray[np.float64], label: str) -> None:
    if np.isinf(numbers).any():
        raise ValueError(f"The categories of {label} must be finite; got infinity.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)


def is_missing(value: Any) -> bool:
    """Check whether a value is None, NaN, or one of pandas' missing values."""
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to anything
        return type(value).__name__ == "NAType"


def _other_kind(label: str, *, now: Categories | None, then: Categories | None) -> str:
    def kind(categories: Categories | None) -> str:
        if categories is None:
            return "numbers"
        text = not categories or isinstance(categories[0], str)
        return "categories that are text" if text else "categories that are numbers"

    # Numbers are read as categories because the model has some there; for the user they are numbers.
    got = "numbers" if now and not isinstance(now[0], str) else kind(now)
    return f"{capitalized(label)} of X must hold {kind(then)}, as in fit; got {got}."
