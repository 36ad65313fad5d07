"""From what a user gives as X to columns of numbers: names, kinds and sizes checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_X_y, validate_data

from marginboost.data.columns import (
    Columns,
    as_frame,
    frame_names,
    is_frame,
    is_missing,
    read_array,
    read_frame,
)
from marginboost.data.encoding import Encoding
from marginboost.data.masked import check_unmasked, without_mask
from marginboost.data.scored_rows import NUMBERS, read_rows, text_error, without_gaps
from marginboost.data.user_warning import warn_user

__all__ = [
    "FROM_DTYPE",
    "AskedColumns",
    "asked_columns",
    "check_array_width",
    "checked_labels",
    "keep_names",
    "number_columns",
    "ordered_columns",
    "take_columns",
]

FROM_DTYPE = "from_dtype"


@dataclass(frozen=True, slots=True)
class AskedColumns:
    """Which columns hold categories.

    Attributes
    ----------
    places : frozenset of int, or None
        The numbers of the columns; None where their types say it.
    """

    places: frozenset[int] | None

    def __call__(self, column: int, by_type: bool) -> bool:
        """Record a column; `by_type` is what its type says."""
        return by_type if self.places is None else column in self.places


def asked_columns(
    categorical_features: Any, n_features: int, names: Sequence[str] | None
) -> AskedColumns:
    """Turn the parameter `categorical_features` into the numbers of columns."""
    if categorical_features is None:
        return AskedColumns(frozenset())
    if isinstance(categorical_features, str):
        if categorical_features == FROM_DTYPE:
            return AskedColumns(None)
        raise ValueError(
            f'categorical_features must be "{FROM_DTYPE}", None, or a list of columns; got '
            f"{categorical_features!r}. Put the name of one column in a list."
        )
    given = np.asarray(categorical_features)
    if given.ndim != 1:
        raise ValueError(
            "categorical_features must be a list of names or numbers of columns, or a truth value a "
            f"column; got an array of shape {given.shape}."
        )
    if given.dtype == bool:
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features must have a truth value for each of the {n_features} columns; "
                f"got {len(given)}."
            )
        return AskedColumns(frozenset(np.flatnonzero(given).tolist()))
    return AskedColumns(frozenset(_place(one, n_features, names) for one in given.tolist()))


def _place(column: Any, n_features: int, names: Sequence[str] | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"categorical_features must hold numbers of columns where X has no names; got "
                f"{column!r}."
            )
        if column not in names:
            raise ValueError(
                f"categorical_features must name columns of X; got {column!r}, which is none."
            )
        return list(names).index(column)
    if isinstance(column, int) and 0 <= column < n_features:
        return column
    raise ValueError(
        f"categorical_features must hold names of columns or numbers from 0 to {n_features - 1}; got "
        f"{column!r}."
    )


def take_columns(
    classifier: Any, X: Any, y: Any, sparse_formats: tuple[str, ...] | bool
) -> tuple[Columns, NDArray[Any]]:
    """Check and read what `fit` was given; the classifier keeps number and names of the columns."""
    y = checked_labels(y)
    if isinstance(X, np.ma.MaskedArray):
        X = without_mask(X)
    wanted = classifier.categorical_features
    if not isinstance(X, np.ndarray):
        X = as_frame(X)
        if is_frame(X):
            return _take_frame(classifier, X, y)
    if wanted is None or isinstance(wanted, str) or (sparse_formats and hasattr(X, "tocsr")):
        if not isinstance(X, np.ndarray) or X.dtype == object:
            X = without_gaps(X)
        try:
            X, y = validate_data(classifier, X, y, accept_sparse=sparse_formats, **NUMBERS)
        except ValueError as error:
            raise text_error(X, "categories") or error from None
        asked = asked_columns(wanted, X.shape[1], None)
        if not asked.places:  # the type of an array says nothing of its columns
            return Columns(X, (None,) * X.shape[1]), y
        return read_array(X, asked), y
    X = check_array(X, dtype=None, ensure_all_finite=False, estimator=classifier)
    columns = read_array(X, asked_columns(wanted, X.shape[1], None))
    matrix, y = validate_data(classifier, columns.matrix, y, **NUMBERS)
    return Columns(matrix, columns.categories), y


def _take_frame(classifier: Any, X: Any, y: Any) -> tuple[Columns, NDArray[Any]]:
    names = frame_names(X)
    columns = read_frame(X, asked_columns(classifier.categorical_features, X.shape[1], names))
    matrix, y = check_X_y(columns.matrix, y, estimator=classifier, **NUMBERS)
    keep_names(classifier, X.shape[1], names)
    return Columns(matrix, columns.categories, columns.names), y


def checked_labels(y: Any) -> Any:
    """Raise where a label is missing: scikit-learn calls that an unknown type; warn of a column."""
    check_unmasked(y, "y", "a label")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected. Pass y.ravel(), say.",
            DataConversionWarning,
        )
        y = labels = labels[:, 0]
    if labels.dtype == object and labels.ndim == 1:
        gaps = np.flatnonzero([is_missing(label) for label in labels])
        if len(gaps):
            raise ValueError(
                f"y must hold a label for every row; got {labels[gaps[0]]!r} (or NaN) at row {gaps[0]} "
                f"and {len(gaps) - 1:,} more. Leave those rows out."
            )
    return y


def keep_names(classifier: Any, n_features: int, names: Sequence[str] | None) -> None:
    """Let a classifier know of the columns that it is fitted to."""
    classifier.n_features_in_ = n_features
    if names is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(classifier, "feature_names_in_"):
        del classifier.feature_names_in_


def ordered_columns(
    classifier: Any, X: Any, encoding: Encoding, sparse_formats: tuple[str, ...] | bool
) -> Any:
    """Check and read rows to predict: the ordered columns, by the names of a frame's columns."""
    return encoding.apply(number_columns(classifier, X, encoding, sparse_formats))


def number_columns(
    classifier: Any, X: Any, encoding: Encoding, sparse_formats: tuple[str, ...] | bool
) -> Any:
    """Check and read rows to predict: the columns of X as numbers, as an encoding takes them."""
    reader = type(classifier).__name__
    X = as_frame(X)
    if is_frame(X):
        order = _matching_order(classifier, frame_names(X), X.shape[1])
        return read_rows(X, encoding, reader=reader, order=order)
    rows = read_rows(X, encoding, reader=reader, sparse_formats=sparse_formats)
    _matching_order(classifier, None, rows.shape[1])
    return rows


def check_array_width(classifier: Any, n_columns: int) -> None:
    """Check the number of columns of an array to predict; warn if the classifier knows names."""
    _matching_order(classifier, None, n_columns)


def _matching_order(
    classifier: Any, names: tuple[str, ...] | None, n_columns: int
) -> list[int] | None:
    """Return where a frame has the columns of the fit, whatever their order in the frame."""
    fitted = getattr(classifier, "feature_names_in_", None)
    what = type(classifier).__name__
    if names is None or fitted is None:
        if n_columns != classifier.n_features_in_:
            raise ValueError(
                f"X has {n_columns} features, but {what} is expecting {classifier.n_features_in_} "
                "features as input."
            )
        if (names is None) != (fitted is None):
            text = (
                f"X has feature names, but {what} was fitted without feature names"
                if fitted is None
                else f"X does not have valid feature names, but {what} was fitted with feature names"
            )
            warn_user(text)
        return None
    unseen = sorted(set(names) - set(fitted))
    gone = sorted(set(fitted) - set(names))
    if unseen or gone:
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            + _listed("Feature names unseen at fit time:", unseen)
            + _listed("Feature names seen at fit time, yet now missing:", gone)
        )
    places = {name: place for place, name in enumerate(names)}
    return [places[name] for name in fitted]


def _listed(title: str, names: Sequence[str], most: int = 5) -> str:
    if not names:
        return ""
    more = ["- ..."] if len(names) > most else []
    return "\n".join([title, *(f"- {name}" for name in names[:most]), *more]) + "\n"
