"""The encoding: how the columns of X become the ordered columns that trees split.

A tree tests whether x <= t, so a column that it splits must hold numbers, none of them missing. A column
of X with missing values becomes two ordered columns: in one the missing values are -inf, below all finite
numbers, in the other inf, above them. The search for the best split chooses between the two as between
any two features. So the side of the missing values is learned, split by split, and engines need not know
about them. A column of categories becomes one or more ordered columns, each with a position for every
category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.data.sparse_input import is_sparse

__all__ = ["Category", "Encoding"]

Floats = NDArray[np.float64]
Category = str | float


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """From columns of X to ordered columns.

    X is a matrix of numbers, NaN for missing values. A column of categories holds the index of the value
    in `categories`, or NaN if it is not there.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    source : int32 array of n_ordered
        The column of X that each ordered column is made from, ascending.
    fill : float64 array of n_ordered
        The value that replaces missing ones: -inf or inf, below or above all numbers; or a number.
        Never NaN.
    categories : tuple, one entry per column of X
        None for a column of numbers; otherwise its distinct categories, all text or all numbers.
    positions : tuple, one entry per ordered column
        None if it is made from a column of numbers; otherwise a float64 array, the finite position of
        each category.
    lost : dict from int to category
        For each column of X whose categories were all too rare to keep, one of them. It shows whether
        the column held text or numbers.

    Attributes
    ----------
    is_plain : bool
        Whether the ordered columns are the columns of X, except for missing values.
    numbers_alone : bool
        Whether no column of X holds categories.

    Raises
    ------
    ValueError
        If the arguments do not fit together.
    """

    n_features: int
    source: NDArray[np.int32]
    fill: Floats
    categories: tuple[tuple[Category, ...] | None, ...]
    positions: tuple[Floats | None, ...]
    lost: Mapping[int, Category] = field(default_factory=dict)
    is_plain: bool = field(init=False)
    numbers_alone: bool = field(init=False)

    def __post_init__(self) -> None:
        _check_sources(self.n_features, self.source, self.fill)
        if len(self.categories) != self.n_features:
            raise ValueError(
                f"categories must have {self.n_features} entries, got {len(self.categories)}."
            )
        if len(self.positions) != len(self.source):
            raise ValueError(
                f"positions must have {len(self.source)} entries, got {len(self.positions)}."
            )
        numbers_alone = all_none((*self.categories, *self.positions))
        if not numbers_alone:
            _check_categories(self.categories)
            _check_positions(self.source, self.categories, self.positions)
        if self.lost:
            _check_lost(self.categories, self.lost)
        coded = () if numbers_alone else (p for p in self.positions if p is not None)
        for array in (self.source, self.fill, *coded):
            array.flags.writeable = False
        object.__setattr__(self, "numbers_alone", numbers_alone)
        object.__setattr__(self, "is_plain", numbers_alone and len(self.source) == self.n_features)

    @classmethod
    def plain(cls, n_features: int, fill: Floats | None = None) -> Encoding:
        """Make one ordered column from each column of X, for numbers without missing values.

        Parameters
        ----------
        n_features : int
            Number of columns of X.
        fill : float64 array of n_features, optional
            The value that replaces missing ones, should there be any; by default above all numbers.
        """
        return cls(
            n_features,
            np.arange(n_features, dtype=np.int32),
            np.full(n_features, np.inf) if fill is None else np.array(fill, dtype=np.float64),
            (None,) * n_features,
            (None,) * n_features,
        )

    def with_medians(self, medians: Floats) -> Encoding:
        """Fill missing numbers with the column's median if no number was missing in training.

        Parameters
        ----------
        medians : float64 array of n_ordered
            Medians of the ordered columns.
        """
        one_of_numbers = np.ones(len(self.source), dtype=bool)
        if not self.numbers_alone:
            one_of_numbers &= np.array([p is None for p in self.positions], dtype=bool)
        one_of_numbers &= np.bincount(self.source, minlength=self.n_features)[self.source] == 1
        return replace(self, fill=np.where(one_of_numbers, medians, self.fill))

    @property
    def n_ordered(self) -> int:
        """Number of ordered columns."""
        return len(self.source)

    def agrees_with(self, other: Encoding) -> bool:
        """Check whether another encoding has the same ordered columns, except for medians filled in."""
        return (
            self.categories == other.categories
            and self.lost == other.lost
            and np.array_equal(self.source, other.source)
            and np.array_equal(self._all_positions, other._all_positions)
            and np.array_equal(self._ends, other._ends)
        )

    @property
    def _all_positions(self) -> Floats:
        if self.numbers_alone:
            return np.empty(0)
        return np.concatenate([np.empty(0), *(p for p in self.positions if p is not None)])

    @property
    def _ends(self) -> Floats:
        """The infinities that replace missing values; 0 where a number replaces them."""
        return np.where(np.isinf(self.fill), self.fill, 0.0)

    def apply(self, X: Any) -> Any:
        """Make the ordered columns.

        Parameters
        ----------
        X : float array or SciPy sparse matrix of shape (n, n_features)
            As described above; or an array of integers, in which no value can be missing.

        Returns
        -------
        array or sparse matrix of shape (n, n_ordered)
            X itself if there is nothing to do.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got {X.shape[1]}.")
        if is_sparse(X):
            return self._apply_sparse(X)
        if self.is_plain and not has_missing(X):
            return X
        dtype = X.dtype if self._fits(X.dtype) else np.float64
        ordered = np.empty((X.shape[0], self.n_ordered), dtype=dtype, order=_order_of(X))
        for place in range(self.n_ordered):
            self._write_column(X, place, ordered[:, place])
        return ordered

    def _write_column(self, X: NDArray[Any], place: int, out: NDArray[Any]) -> None:
        """Make the ordered column at a place, of a dense X."""
        values = X[:, self.source[place]]
        missing = (
            np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        )
        positions = self.positions[place]
        if positions is None:
            out[:] = values
            out[missing] = self.fill[place]
        else:
            places = np.where(missing, len(positions), values).astype(np.intp)
            out[:] = np.append(positions, self.fill[place])[places]

    def _fits(self, dtype: np.dtype[Any]) -> bool:
        """Check whether a type holds all fill values exactly: rounding could change their side."""
        if dtype.kind != "f" or not self.numbers_alone:
            return False
        with np.errstate(over="ignore"):
            return bool((self.fill.astype(dtype) == self.fill).all())

    def _apply_sparse(self, X: Any) -> Any:
        if not self.numbers_alone:
            raise ValueError(
                "X must be dense if it has columns of categories; got a sparse matrix."
            )
        by_column = X.tocsc() if not self.is_plain else X
        ordered = by_column if self.is_plain else by_column[:, self.source]
        if ordered.dtype.kind != "f" or not np.isnan(ordered.data).any():
            return ordered
        ordered = ordered.astype(X.dtype if self._fits(X.dtype) else np.float64).tocsc(copy=True)
        of_entry = np.repeat(self.fill, np.diff(ordered.indptr))
        missing = np.isnan(ordered.data)
        ordered.data[missing] = of_entry[missing]
        return ordered.asformat(X.format)


def all_none(values: Sequence[Any]) -> bool:
    """Check whether all entries are None, without a Python loop."""
    return set(map(type, values)) <= {type(None)}


def has_missing(X: NDArray[Any], n_threads: int = 1) -> bool:
    """Check whether a dense array holds NaN."""
    if X.dtype.kind != "f":
        return False
    if X.dtype in (np.float32, np.float64) and X.dtype.isnative and X.flags.aligned:
        return _native.any_missing(X, n_threads)
    return bool(np.isnan(X).any())


def _order_of(X: NDArray[Any]) -> Any:
    return "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"


def _check_sources(n_features: int, source: NDArray[np.int32], fill: Floats) -> None:
    if source.dtype != np.int32 or fill.dtype != np.float64 or source.ndim != 1:
        raise ValueError("source must be a vector of int32, and fill a vector of float64.")
    if source.shape != fill.shape or np.isnan(fill).any():
        raise ValueError("fill must hold one number per entry of source, and no NaN.")
    steps = np.diff(source.astype(np.int64), prepend=-1, append=n_features)
    if steps[0] != 1 or steps[-1] != 1 or not ((steps == 0) | (steps == 1)).all():
        raise ValueError(f"source must ascend and contain each of the {n_features} columns of X.")


def _check_categories(categories: Sequence[Sequence[Category] | None]) -> None:
    for of_column in categories:
        if of_column is None:
            continue
        text = [isinstance(value, str) for value in of_column]
        numbers = [type(value) is float and np.isfinite(value) for value in of_column]
        if not all(text) and not all(numbers):
            raise ValueError("The categories of a column must be all text or all finite numbers.")
        if len(set(of_column)) != len(of_column):
            raise ValueError("The categories of a column must differ from each other.")


def _check_lost(
    categories: Sequence[Sequence[Category] | None], lost: Mapping[int, Category]
) -> None:
    for column, category in lost.items():
        if not 0 <= column < len(categories) or categories[column] != ():
            raise ValueError(
                "lost must name only columns of categories that have no category left."
            )
        _check_categories([(category,)])


def _check_positions(
    source: NDArray[np.int32],
    categories: Sequence[Sequence[Category] | None],
    positions: Sequence[Floats | None],
) -> None:
    for column, of_column in zip(source, positions, strict=True):
        of_source = categories[column]
        if (of_column is None) != (of_source is None):
            raise ValueError("Columns of categories must have positions, and other columns none.")
        if of_column is None or of_source is None:
            continue
        if of_column.dtype != np.float64 or of_column.shape != (len(of_source),):
            raise ValueError("positions must hold one float64 per category.")
        if not np.isfinite(of_column).all():
            raise ValueError("positions must hold finite numbers.")
