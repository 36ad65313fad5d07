"""The rows that a fit is judged by: given with it, or taken from its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from marginboost.boosting.validation import ValidationRows
from marginboost.data.classes import UNSEEN, class_numbers
from marginboost.data.grouping import WeightKind, weight_kind
from marginboost.data.masked import check_unmasked
from marginboost.data.user_warning import warn_user
from marginboost.engine.gpu.arrays import to_host
from marginboost.estimators.dask_predict import computed

__all__ = ["given_rows"]

# Labels that a warning names.
_MOST_NAMED = 5


def given_rows(
    X: Any, y_val: Any, classes: NDArray[Any], sample_weight_val: Any = None
) -> ValidationRows:
    """Encode validation rows that came with the fit.

    Parameters
    ----------
    X : array or SciPy sparse matrix
        The rows' ordered columns.
    y_val : array-like
        Their labels, of any kind that `fit` takes.
    classes : array
        The labels that the fit knows, sorted.
    sample_weight_val : array-like, optional
        Weights of the rows. Those of weight 0 take no part.
    """
    y = computed(y_val)
    check_unmasked(y, "y_val", "a label")
    labels = column_or_1d(np.asarray(to_host(y)))
    if len(labels) != X.shape[0]:
        raise ValueError(
            f"X_val and y_val must have the same number of rows; got {X.shape[0]:,} and {len(labels):,}."
        )
    if not len(labels):
        raise ValueError("X_val must hold at least one row; got none.")
    weight, n_counted = np.ones(len(labels)), float(len(labels))
    if sample_weight_val is not None:
        weight, n_counted = _checked_weight(sample_weight_val, len(labels))
        X, labels, weight = X[weight > 0], labels[weight > 0], weight[weight > 0]
    _check_kind(labels, classes)
    codes = class_numbers(classes, labels)
    _warn_of_unseen(labels[codes == UNSEEN])
    if (codes == UNSEEN).all():
        raise ValueError("y_val must hold some class of y; got none that y has.")
    return ValidationRows(X, codes, weight, n_counted)


def _checked_weight(sample_weight_val: Any, n_rows: int) -> tuple[NDArray[np.float64], float]:
    """Return the weights of validation rows, the largest near 1, and how many rows count."""
    name = "sample_weight_val"
    given = computed(sample_weight_val)
    check_unmasked(given, name, "a number")
    weight = np.asarray(to_host(given), dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one number per row, {n_rows:,}; got shape {weight.shape}."
        )
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise ValueError(f"{name} must hold finite numbers, 0 or more; got others.")
    if not weight.any():
        raise ValueError(f"{name} must be positive for some row; all are 0.")
    counted = weight if weight_kind(weight) is WeightKind.COUNTS else weight > 0
    # A power of two changes no bit of a share, and keeps sums from overflowing.
    return np.ldexp(weight, -int(np.frexp(weight.max())[1])), float(counted.sum())


def _check_kind(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise where some are text and the others numbers: then none could be right."""
    texts = [values.dtype.kind in "OUST" for values in (labels, classes)]
    if texts[0] != texts[1]:
        got, has = ("text" if text else "numbers" for text in texts)
        raise ValueError(f"y_val must hold labels of the kind of y, {has}; got {got}.")


def _warn_of_unseen(labels: NDArray[Any]) -> None:
    if not len(labels):
        return
    unseen = np.unique(labels)
    named = ", ".join(repr(label) for label in unseen[:_MOST_NAMED].tolist())
    more = ", ..." if len(unseen) > _MOST_NAMED else ""
    warn_user(
        f"y_val has {len(labels):,} row(s) of {len(unseen):,} class(es) that y lacks ({named}{more}): "
        "they count as errors."
    )
