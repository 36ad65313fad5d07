"""The binned matrix: a small integer per value of X, and the thresholds between the bins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native
from marginboost.data.user_warning import warn_user

__all__ = ["BinnedMatrix", "FoundThresholds", "bin_matrix", "find_thresholds"]

# Types that the compiled code reads in place.
READABLE_TYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")

# Columns that the compiled code cannot read are converted this many at a time, or as many as take this
# many bytes.
_COLUMNS_AT_ONCE = 8
_BYTES_AT_ONCE = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class BinnedMatrix:
    """Bins and their thresholds.

    The bin of a value x is the number of its feature's thresholds below x. So
    ``x <= thresholds[f][b]`` exactly when ``bin <= b``, which is scikit-learn's convention.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_rows), uint8 or uint16
        C-contiguous; each row holds one feature.
    thresholds : sequence of float64 ndarrays
        One array per feature, ascending, one shorter than the feature's number of bins.
    medians : float64 ndarray of shape (n_features,), optional
        The lower median of each feature's finite numbers, inf if it has none.

    Attributes
    ----------
    n_features : int
        Number of features.
    n_bins : int32 ndarray of shape (n_features,)
        Number of bins of each feature.
    """

    bins: NDArray[np.uint8] | NDArray[np.uint16]
    thresholds: Sequence[NDArray[np.float64]]
    medians: NDArray[np.float64] | None = None
    n_features: int = field(init=False)
    n_bins: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        n_bins = np.array([len(t) + 1 for t in self.thresholds], dtype=np.int32)
        object.__setattr__(self, "n_features", len(self.bins))
        object.__setattr__(self, "n_bins", n_bins)

    @property
    def n_rows(self) -> int:
        """Number of binned rows."""
        return int(self.bins.shape[1])

    @property
    def nbytes(self) -> int:
        """Size of bins and thresholds in bytes."""
        return int(self.bins.nbytes) + sum(int(t.nbytes) for t in self.thresholds)


def bin_matrix(
    X: NDArray[Any],
    *,
    order: ArrayLike,
    max_bins: int | None,
    multiplicity: ArrayLike | None = None,
    n_threads: int = 1,
) -> BinnedMatrix:
    """Bin the rows of X that ``order`` lists, in that order.

    A feature with at most ``max_bins`` distinct values gets one bin per value: a search over its bins
    is a search over all of its thresholds. A feature with more values gets exactly ``max_bins`` bins
    with numbers of rows as equal as its ties allow. Infinite values (which may stand for missing ones)
    have a bin of their own, the lowest or the highest; the thresholds stay finite. In all cases the
    thresholds depend only on how often each value occurs among the rows in ``order``. If there are more
    than 2**20 distinct values, neighbours are merged, see `ValueCounts`. X is read in place, never copied
    as a whole.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Real numbers of any type and memory layout, no NaN. They are compared as float64.
    order : array-like of int of shape (n_rows,)
        Output row i is ``X[order[i]]``. Rows of X that it does not list are ignored.
    max_bins : int or None
        The maximum number of bins per feature, from 2 to 65,535. None: one bin per distinct value.
    multiplicity : array-like of int of shape (n_rows,), optional
        How often each row in ``order`` counts, at least once: the thresholds are those of a matrix in
        which each row is repeated that often.
    n_threads : int
        Threads to use. The result does not depend on it.

    Returns
    -------
    BinnedMatrix
        uint8 if no feature has more than 256 bins, else uint16.

    Warns
    -----
    UserWarning
        If ``max_bins`` is None and a feature has more than 65,535 distinct values: it then gets
        65,535 bins.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        got = f"{X.dtype} of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
        raise ValueError(f"X must be a two-dimensional NumPy array of real numbers, got {got}.")
    rows = as_integers(order, np.int64, "order")
    found = find_thresholds(X, rows, max_bins, multiplicity, n_threads)
    if max_bins is None and found.n_capped:
        warn_of_capped_columns(found.n_capped, X.shape[1])
    # The type of the bins is known only now, so this is a second walk over X.
    binned = bin_by_thresholds(X, found.thresholds, order=rows, n_threads=n_threads)
    return replace(binned, medians=found.medians)


class FoundThresholds(NamedTuple):
    """What the values of some columns say.

    Attributes
    ----------
    thresholds : list of float64 arrays
        As in `BinnedMatrix`.
    n_capped : int
        Number of columns with more distinct values than bins.
    medians : float64 array
        As in `BinnedMatrix`.
    """

    thresholds: list[NDArray[np.float64]]
    n_capped: int
    medians: NDArray[np.float64]


def find_thresholds(
    X: NDArray[Any],
    order: NDArray[np.int64],
    max_bins: int | None,
    multiplicity: ArrayLike | None,
    n_threads: int,
) -> FoundThresholds:
    """Find the thresholds of the columns of X; see `bin_matrix`. Each column has its own."""
    limit = bin_limit(max_bins)
    times = None
    if multiplicity is not None:
        times = as_integers(multiplicity, np.int32, "multiplicity")
    found = [
        _native.bin_thresholds(block, order, times, limit, n_threads)
        for _, block in readable_blocks(X)
    ]
    return FoundThresholds(
        [values[a:b] for values, offsets, *_ in found for a, b in pairwise(offsets)],
        sum(capped for *_, capped, _ in found),
        np.concatenate([np.empty(0), *(of_block for *_, of_block in found)]),
    )


def bin_by_thresholds(
    X: NDArray[Any],
    thresholds: Sequence[NDArray[np.float64]],
    *,
    order: NDArray[np.int64],
    n_threads: int = 1,
) -> BinnedMatrix:
    """Bin the rows of X that ``order`` lists, in that order, with given thresholds.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Real numbers of any type and memory layout, no NaN.
    thresholds : sequence of float64 ndarrays
        One ascending array per feature.
    order : int64 ndarray of shape (n_rows,)
        Output row i is ``X[order[i]]``.
    n_threads : int
        Threads to use. The result does not depend on it.
    """
    wide = any(len(t) > 255 for t in thresholds)
    bins = np.empty((X.shape[1], len(order)), dtype=np.uint16 if wide else np.uint8)
    for columns, block in readable_blocks(X):
        of_block = thresholds[columns]
        offsets = np.concatenate(([0], np.cumsum([len(t) for t in of_block], dtype=np.int64)))
        values = np.concatenate([np.empty(0), *of_block])
        _native.bin_rows(block, order, values, offsets, bins[columns], n_threads)
    for array in (bins, *thresholds):
        array.flags.writeable = False
    return BinnedMatrix(bins, tuple(thresholds))


def bin_limit(max_bins: int | None) -> int:
    """Return the maximum number of bins per feature; None stands for the largest possible number."""
    if max_bins is None:
        return int(_native.MAX_BINS)
    if not isinstance(max_bins, Integral) or not 2 <= max_bins <= _native.MAX_BINS:
        raise ValueError(
            f"max_bins must be None or an integer from 2 to {_native.MAX_BINS}, got {max_bins!r}."
        )
    return int(max_bins)


def warn_of_capped_columns(n_capped: int, n_columns: int) -> None:
    """Warn that columns have fewer bins than distinct values."""
    limit = _native.MAX_BINS
    warn_user(
        f"{n_capped} of {n_columns} columns have more than {limit} distinct values and were "
        f"divided into {limit} bins with nearly equal numbers of rows. Pass max_bins, for example "
        "255, to choose the number of bins."
    )


def as_integers(values: ArrayLike, dtype: type[np.integer[Any]], name: str) -> NDArray[Any]:
    """Convert integers to the type that the compiled code takes."""
    array = np.asarray(values)
    if array.ndim != 1 or not (array.dtype.kind in "iu" or array.size == 0):
        raise ValueError(
            f"{name} must be one-dimensional and hold integers, got {array.dtype} of shape "
            f"{array.shape}."
        )
    limits = np.iinfo(dtype)
    if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
        raise ValueError(f"{name} must fit {limits.dtype}, got up to {array.max()}.")
    return np.require(array, dtype, ["C", "A"])


def readable_blocks(X: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield blocks of columns of X, in types and layouts that the compiled code reads."""
    if X.dtype.kind == "b":
        X = X.view(np.uint8)
    if is_readable(X):
        yield slice(0, X.shape[1]), X
        return
    # Dask may hand over rows in memory that is not aligned: those keep their type.
    known = X.dtype.str[1:] in READABLE_TYPES
    dtype = X.dtype.newbyteorder("=") if known else np.dtype(np.float64)
    at_once = max(_COLUMNS_AT_ONCE, _BYTES_AT_ONCE // max(1, len(X) * dtype.itemsize))
    for start in range(0, X.shape[1], at_once):
        columns = slice(start, min(start + at_once, X.shape[1]))
        yield columns, X[:, columns].astype(dtype)


def is_readable(X: NDArray[Any]) -> bool:
    """Check whether compiled code can read X in place."""
    whole_steps = all(step % X.itemsize == 0 for step in X.strides)
    return (
        X.dtype.str[1:] in READABLE_TYPES and X.dtype.isnative and X.flags.aligned and whole_steps
    )
