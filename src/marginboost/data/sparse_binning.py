"""The binned matrix of sparse input: bins only where they differ from the bin of 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginboost import _native
from marginboost.data.binning import (
    as_integers,
    bin_limit,
    is_readable,
    warn_of_capped_columns,
)
from marginboost.data.sparse_input import is_sparse
from marginboost.data.thresholds import Thresholds

__all__ = ["SparseBinnedMatrix", "bin_sparse_matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class SparseBinnedMatrix:
    """Bins of the entries whose bin is not that of 0, and their thresholds.

    Bins and thresholds are related as in a BinnedMatrix.

    Parameters
    ----------
    indptr : int64 ndarray of n_features + 1
        Entries of feature f are ``indptr[f]:indptr[f + 1]``.
    rows : int32 ndarray of n_entries
        Row of each entry, ascending within a feature.
    bins : uint8 or uint16 ndarray of n_entries
        Bin of each entry, never its feature's ``zero_bin``.
    zero_bin : int32 ndarray of n_features
        The bin of the value 0, which is the bin of all other rows.
    thresholds : Thresholds
        One array per feature, ascending, one shorter than the feature's number of bins.
    n_rows : int
        Number of binned rows.
    medians : float64 ndarray of n_features, optional
        The lower median of each feature's finite numbers, inf if it has none.
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    bins: NDArray[np.uint8] | NDArray[np.uint16]
    zero_bin: NDArray[np.int32]
    thresholds: Thresholds
    n_rows: int
    medians: NDArray[np.float64] | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.thresholds)

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return len(self.rows)

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature."""
        return self.thresholds.n_bins

    @property
    def nbytes(self) -> int:
        """Size of entries and thresholds in bytes."""
        arrays = (self.indptr, self.rows, self.bins, self.zero_bin, self.thresholds.values)
        return sum(int(array.nbytes) for array in arrays)


def bin_sparse_matrix(
    X: Any,
    *,
    order: ArrayLike,
    max_bins: int | None,
    multiplicity: ArrayLike | None = None,
    n_threads: int = 1,
) -> SparseBinnedMatrix:
    """Bin the rows of X that ``order`` lists, in that order.

    Bins and thresholds are those of ``bin_matrix`` for ``X.toarray()``; time and memory grow with the
    numbers of stored entries, rows and columns. A CSR matrix with sorted indices is read in place; any
    other matrix is copied to that form.

    Parameters
    ----------
    X : SciPy sparse matrix or array of shape (n, n_features)
        Real numbers, no NaN, in CSR or CSC format. Indices may be unsorted and of 32 or 64 bits;
        entries of the same cell are added up; an explicit zero is a zero.
    order : array-like of int of shape (n_rows,)
        Output row i is row ``order[i]`` of X. Rows of X that it does not list are ignored.
    max_bins : int or None
        The maximum number of bins per feature, from 2 to 65,535. None: one bin per distinct value.
    multiplicity : array-like of int of shape (n_rows,), optional
        How often each row in ``order`` counts, at least once: the thresholds are those of a matrix in
        which each row is repeated that often.
    n_threads : int
        Threads to use. The result does not depend on it.

    Returns
    -------
    SparseBinnedMatrix
        Bins are uint8 if no feature has more than 256 bins, else uint16.

    Warns
    -----
    UserWarning
        If ``max_bins`` is None and a feature has more than 65,535 distinct values: it then gets
        65,535 bins.
    """
    _check_input(X)
    limit = bin_limit(max_bins)
    selected = as_integers(order, np.int64, "order")
    times = None
    if multiplicity is not None:
        times = as_integers(multiplicity, np.int32, "multiplicity")
    by_row = _canonical_rows(X)
    index_type = np.int32 if by_row.indices.dtype.itemsize <= 4 else np.int64
    indptr, rows, bins, zero_bin, values, offsets, n_capped, medians = _native.bin_sparse_rows(
        _readable(by_row.data)[:, None],
        np.require(by_row.indices, index_type, ["C", "A"]),
        np.require(by_row.indptr, np.int64, ["C", "A"]),
        X.shape[1],
        selected,
        times,
        limit,
        n_threads,
    )
    if max_bins is None and n_capped:
        warn_of_capped_columns(n_capped, X.shape[1])
    for array in (indptr, rows, bins, zero_bin, values):  # views of them are then read-only too
        array.flags.writeable = False
    thresholds = Thresholds(values, offsets)
    return SparseBinnedMatrix(indptr, rows, bins, zero_bin, thresholds, len(selected), medians)


def _check_input(X: Any) -> None:
    wanted = (
        "X must be a two-dimensional SciPy matrix or array of real numbers in CSR or CSC format"
    )
    if not is_sparse(X):
        raise ValueError(f"{wanted}, got {type(X).__name__}.")
    if X.format not in ("csr", "csc") or X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"{wanted}, got {X.dtype} of shape {X.shape} in {X.format.upper()}.")


def _canonical_rows(X: Any) -> Any:
    """Return X, or a copy if needed, in CSR with ascending indices and one entry per cell."""
    if X.format == "csr" and X.has_canonical_format:
        return X
    # Converting to columns and back is a stable sort: entries of a cell are added in their stored
    # order and in their own type, as toarray does.
    by_row = X.tocsc().tocsr()
    by_row.sum_duplicates()
    return by_row


def _readable(values: NDArray[Any]) -> NDArray[Any]:
    """Convert numbers to a type that the compiled code reads."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values if is_readable(values) else values.astype(np.float64)
