"""The rows of a data set, in a form and an order, and with a checksum, that do not depend on the source.

Files of the same set differ: in the order of their rows, in how numbers are written, in what the
classes are called. This module gives all of them one form. Tables are sorted by their features,
so that a seed draws the same rows wherever they came from; images and counts of words keep the
order of their publication. The checksum is computed from the rows in that form and order, so any
source must give exactly the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse


class Rows(NamedTuple):
    """The rows of a set: `test` marks the official test part; `part` is a group of rows."""

    X: Any  # an array, or a CSR matrix
    y: NDArray[Any]
    test: NDArray[np.bool_] | None = None
    part: NDArray[np.int64] | None = None


def settled(rows: Rows, dtype: str) -> Rows:
    """Return rows in the common form and order.

    Parameters
    ----------
    rows : Rows
        The rows of a file.
    dtype : str
        The type to which the features are rounded. Tables, whose type is a float, become float64
        and are sorted: by the first feature, then by the second and so on, then by label, official
        part and group. Other types and their order of rows stay the same.

    Returns
    -------
    Rows
        The same rows, with labels as int64 or text.
    """
    lengths = {rows.X.shape[0]} | {len(part) for part in rows[1:] if part is not None}
    if len(lengths) != 1:
        raise ValueError(
            f"All columns of a set must have the same length; got {sorted(lengths)} rows."
        )
    test = None if rows.test is None else np.asarray(rows.test, dtype=bool)
    part = None if rows.part is None else np.asarray(rows.part, dtype=np.int64)
    y = _labels(rows.y)
    if issparse(rows.X):
        return Rows(_counts(rows.X, dtype), y, test, part)
    X = np.asarray(rows.X, dtype=dtype)
    if X.dtype.kind != "f":
        return Rows(np.ascontiguousarray(X), y, test, part)
    X = X.astype(np.float64) + 0.0  # and -0.0 becomes 0.0
    rank = np.unique(y, return_inverse=True)[1]
    last = [key for key in (part, test) if key is not None]
    order = np.lexsort((*last, rank, *X.T[::-1]))  # the last key counts most
    return taken(Rows(X, y, test, part), order)


def checksum(rows: Rows) -> str:
    """Return a checksum of rows and of their order, in hexadecimal digits."""
    found = hashlib.sha256(f"{rows.X.dtype.name} {rows.X.shape}".encode())
    arrays = [rows.X]
    if issparse(rows.X):
        arrays = [rows.X.indptr.astype(np.int64), rows.X.indices.astype(np.int64), rows.X.data]
    for array in (*arrays, rows.test, rows.part):
        if array is None:
            found.update(b"none")
        else:
            found.update(array.astype(array.dtype.newbyteorder("<"), order="C", copy=False).data)
    found.update("\n".join(map(str, rows.y.tolist())).encode())
    return found.hexdigest()


def taken(rows: Rows, chosen: NDArray[np.intp]) -> Rows:
    """Return some of the rows."""
    test = None if rows.test is None else rows.test[chosen]
    part = None if rows.part is None else rows.part[chosen]
    return Rows(rows.X[chosen], rows.y[chosen], test, part)


def stacked(pieces: Sequence[Rows]) -> Rows:
    """Return the rows of several pieces, one piece below the other."""
    tests = [piece.test for piece in pieces if piece.test is not None]
    parts = [piece.part for piece in pieces if piece.part is not None]
    return Rows(
        np.concatenate([piece.X for piece in pieces]),
        np.concatenate([piece.y for piece in pieces]),
        np.concatenate(tests) if tests else None,
        np.concatenate(parts) if parts else None,
    )


def _counts(X: Any, dtype: str) -> csr_matrix:
    counts = csr_matrix(X, dtype=dtype, copy=True)
    counts.sum_duplicates()  # and sorts the columns within a row
    counts.eliminate_zeros()
    return counts


def _labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as integers if all of them are numbers, else as text."""
    if y.dtype.kind in "iu":
        return y.astype(np.int64)
    if y.dtype.kind == "U":
        try:
            numbers = y.astype(np.float64)
        except ValueError:
            return y
    else:
        numbers = np.asarray(y, dtype=np.float64)
    if not np.array_equal(numbers, np.rint(numbers)):
        raise ValueError("Labels that are numbers must be integers; some are not.")
    return numbers.astype(np.int64)
