"""Rows to predict, as an encoding takes them: one reading for classifiers and for compiled models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from marginboost.data.columns import is_frame, is_missing, read_array, read_frame
from marginboost.data.encoding import Encoding

__all__ = ["NUMBERS", "read_rows", "without_gaps"]

# How scikit-learn reads numbers for us: NaN is a missing value, and infinities are large numbers.
NUMBERS: dict[str, Any] = {"dtype": "numeric", "order": None, "ensure_all_finite": False}


def read_rows(
    X: Any,
    encoding: Encoding,
    *,
    reader: str,
    order: Sequence[int] | None = None,
    sparse_formats: tuple[str, ...] | bool = ("csr", "csc"),
    least_rows: int = 1,
) -> Any:
    """Check and read rows to predict.

    Parameters
    ----------
    X : data frame, array-like or SciPy sparse matrix of shape (n, n_features)
        Numbers, NaN or None or a null where one is missing, and categories where the encoding has them.
    encoding : Encoding
        What the rows are read for.
    reader : str
        Who reads them, for errors.
    order : sequence of int, optional
        The places of the encoding's columns in a data frame; as they stand by default.
    sparse_formats : tuple of str, or bool
        What scikit-learn's `accept_sparse` takes.
    least_rows : int
        How many rows there must be.

    Returns
    -------
    array or sparse matrix of shape (n, n_features)
        What `Encoding.apply` takes.
    """
    kinds = encoding.categories
    checks = {"estimator": reader, "ensure_min_samples": least_rows}
    if is_frame(X):
        _check_width(X.shape[1] if order is None else len(order), encoding, reader)
        # Text where there were numbers is read too, so that the error can tell of both.
        columns = read_frame(X, lambda n, by_type: by_type or kinds[n] is not None, order)
        return check_array(columns.recoded(kinds).matrix, **checks, **NUMBERS)
    if all(of_column is None for of_column in kinds):
        X = check_array(without_gaps(X), accept_sparse=sparse_formats, **checks, **NUMBERS)
        _check_width(X.shape[1], encoding, reader)
        return X
    X = check_array(X, dtype=None, ensure_all_finite=False, **checks)
    _check_width(X.shape[1], encoding, reader)
    return read_array(X, lambda n, _: kinds[n] is not None).recoded(kinds).matrix


def without_gaps(X: Any) -> Any:
    """Return X with NaN for everything that counts as missing, where it is an array of objects."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    return np.where(np.frompyfunc(is_missing, 1, 1)(X).astype(bool), np.nan, X)


def _check_width(n_columns: int, encoding: Encoding, reader: str) -> None:
    if n_columns != encoding.n_features:
        raise ValueError(
            f"X has {n_columns} features, but {reader} is expecting {encoding.n_features} features "
            "as input."
        )
