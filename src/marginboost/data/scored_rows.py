"""Read rows to predict in the form that an encoding takes, for classifiers and for compiled models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginboost.data.columns import as_frame, is_frame, is_missing, read_array, read_frame
from marginboost.data.encoding import Encoding, all_none
from marginboost.data.masked import without_mask

__all__ = ["NUMBERS", "read_rows", "text_error", "without_gaps"]

# Maximum number of columns that an error lists.
_MOST_LISTED = 10

# Options of scikit-learn's checks: NaN is a missing value, and infinities are large numbers.
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
        Numbers (NaN, None or null if missing), and categories where the encoding has them.
    encoding : Encoding
        The encoding that will be applied to the rows.
    reader : str
        Name of the class that reads them, for messages.
    order : sequence of int, optional
        The positions of the encoding's columns in a data frame; by default the columns are in order.
    sparse_formats : tuple of str, or bool
        As for scikit-learn's `accept_sparse`.
    least_rows : int
        Minimum number of rows.

    Returns
    -------
    array or sparse matrix of shape (n, n_features)
        Input for `Encoding.apply`.
    """
    kinds = encoding.categories
    X = without_mask(X) if isinstance(X, np.ma.MaskedArray) else as_frame(X)
    checks = {"estimator": reader, "ensure_min_samples": least_rows}
    if is_frame(X):
        _check_width(X.shape[1] if order is None else len(order), encoding, reader)
        # Text in a column of numbers is read too, so that the error can name both.
        columns = read_frame(X, lambda n, by_type: by_type or kinds[n] is not None, order)
        matrix = columns.recoded(kinds, encoding.lost).matrix
        if matrix.shape[0] >= least_rows and matrix.shape[1]:
            return matrix  # of numbers, as it was made here: there is nothing else to check
        return _checked(matrix, **checks, **NUMBERS)
    if all_none(kinds):
        X = without_gaps(X)
        try:
            X = _checked(X, accept_sparse=sparse_formats, **checks, **NUMBERS)
        except ValueError as error:
            raise text_error(X, "fit") or error from None
        _check_width(X.shape[1], encoding, reader)
        return X
    X = _checked(X, dtype=None, ensure_all_finite=False, **checks)
    _check_width(X.shape[1], encoding, reader)
    return read_array(X, lambda n, _: kinds[n] is not None).recoded(kinds, encoding.lost).matrix


def _checked(X: Any, **options: Any) -> Any:
    """Check an array as scikit-learn does."""
    from sklearn.utils.validation import check_array  # noqa: PLC0415 - slow to import

    return check_array(X, **options)


def without_gaps(X: Any) -> Any:
    """Replace missing values by NaN if X is an array of objects."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    return np.where(np.frompyfunc(is_missing, 1, 1)(X).astype(bool), np.nan, X)


def text_error(X: Any, where: str) -> ValueError | None:
    """Return the error for text in an array of numbers; None if there is no text."""
    if not isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        values = np.asarray(X, dtype=object)
    except ValueError:  # rows of several lengths
        return None
    found = [
        (number, sample)
        for number, column in enumerate(values.T if values.ndim == 2 else ())
        for sample in [next((v for v in column if isinstance(v, str) and not _reads(v)), None)]
        if sample is not None
    ]
    if not found:
        return None
    column, sample = found[0]
    if where == "fit":
        return ValueError(
            f"Column {column} of X must hold numbers, as in fit; got text such as {sample!r}."
        )
    numbers = [number for number, _ in found]
    listed = ", ".join(map(str, numbers[:_MOST_LISTED])) + (
        ", ..." if len(numbers) > _MOST_LISTED else ""
    )
    return ValueError(
        "The columns of an array must hold numbers unless categorical_features lists them; got "
        f"text such as {sample!r} in column {column}. Pass categorical_features=[{listed}], or a data "
        "frame, whose columns of text are categories automatically."
    )


def _reads(text: str) -> bool:
    """Check whether text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_width(n_columns: int, encoding: Encoding, reader: str) -> None:
    if n_columns != encoding.n_features:
        raise ValueError(
            f"X has {n_columns} features, but {reader} is expecting {encoding.n_features} features "
            "as input."
        )
