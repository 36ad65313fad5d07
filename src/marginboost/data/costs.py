"""What mistakes cost, and the order of the classes: what users give, checked and made a matrix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EQUAL",
    "ORDINAL",
    "check_cost_matrix",
    "check_order",
    "order_of_labels",
    "read_costs",
    "read_ranks",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ORDINAL, EQUAL = "ordinal", "equal"
NAMES = (ORDINAL, EQUAL)
# Labels that an error names.
_MOST_NAMED = 5


def check_cost_matrix(cost_matrix: Any) -> None:
    """Raise unless it can be a cost matrix, of whatever classes."""
    if cost_matrix is None:
        return
    if isinstance(cost_matrix, str):
        if cost_matrix not in NAMES:
            raise ValueError(
                f'cost_matrix must be "{ORDINAL}", "{EQUAL}", a matrix, a dictionary or None; got '
                f"{cost_matrix!r}."
            )
    elif isinstance(cost_matrix, Mapping):
        for label, row in cost_matrix.items():
            if not isinstance(row, Mapping):
                raise ValueError(
                    "cost_matrix must have a dictionary {predicted label: cost} for every true label; "
                    f"got {row!r} for {label!r}."
                )
            _checked_numbers(list(row.values()))
    else:
        _square(cost_matrix)


def check_order(classes_order: Any) -> None:
    """Raise unless it can be an order of classes."""
    if classes_order is None:
        return
    listed = isinstance(classes_order, Sequence | np.ndarray) and not isinstance(classes_order, str)
    if not listed or np.ndim(np.asarray(classes_order, dtype=object)) != 1:
        raise ValueError(
            f"classes_order must be a list of labels, the lowest first, or None; got {classes_order!r}."
        )
    labels = np.asarray(classes_order, dtype=object).tolist()
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ValueError(f"classes_order must name every label once; got {twice[0]!r} twice.")


def order_of_labels(y: Any) -> list[Any] | None:
    """Return the categories of an ordered categorical target, the lowest first; None if it is none.

    Ordered are pandas' `Categorical` with `ordered=True`, and polars' `Enum`.
    """
    dtype = getattr(y, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is None or not getattr(dtype, "ordered", type(dtype).__name__ == "Enum"):
        return None
    return list(categories)


def read_ranks(order: Any, classes: NDArray[Any]) -> Integers | None:
    """Return the place of each class in an order, from 0; None where there is no order.

    Parameters
    ----------
    order : list of labels or None
        The lowest first. Labels that are not among the classes keep their places.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    """
    check_order(order)
    if order is None:
        return None
    places = {label: place for place, label in enumerate(np.asarray(order, dtype=object).tolist())}
    missing = [label for label in classes.tolist() if label not in places]
    if missing:
        raise ValueError(f"classes_order must name every class of y; it lacks {_named(missing)}.")
    return np.array([places[label] for label in classes.tolist()], dtype=np.int64)


def read_costs(
    cost_matrix: Any,
    classes: NDArray[Any],
    ranks: Integers | None = None,
    others: Collection[Any] = (),
) -> tuple[Floats | None, Integers | None]:
    """Return what mistakes cost, and the places of the classes in their order.

    Parameters
    ----------
    cost_matrix : array-like, dict, str or None
        See `MarginBoostClassifier`.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    ranks : int64 array of n_classes, or None
        The places of the classes in their order, where they have one.
    others : collection of labels
        What a dictionary may name beside the classes: a part of the rows may lack some.

    Returns
    -------
    costs : float64 array of n_classes x n_classes, or None
        By true and predicted class, in the order of `classes`; None where all mistakes cost the same.
    ranks : int64 array of n_classes, or None
        As given; "ordinal" orders classes that are numbers.
    """
    check_cost_matrix(cost_matrix)
    if isinstance(cost_matrix, str) and cost_matrix == ORDINAL and ranks is None:
        if classes.dtype.kind not in "biuf":
            raise ValueError(
                f'cost_matrix="{ORDINAL}" needs the order of the classes where they are not numbers: '
                "set classes_order, or make y an ordered categorical."
            )
        ranks = np.arange(len(classes))
    if cost_matrix is None or isinstance(cost_matrix, str):
        if ranks is None or cost_matrix == EQUAL:
            return None, ranks
        return np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64), ranks
    if isinstance(cost_matrix, Mapping):
        costs = _from_labels(cost_matrix, classes, others)
    else:
        costs = _square(cost_matrix)
        if len(costs) != len(classes):
            raise ValueError(
                f"cost_matrix must have {len(classes)} rows and columns, one per class in the order of "
                f"classes_; got {len(costs)}."
            )
    _check_diagonal(costs, classes)
    return costs, ranks


def _from_labels(
    given: Mapping[Any, Mapping[Any, Any]], classes: NDArray[Any], others: Collection[Any]
) -> Floats:
    """Return the matrix of a dictionary of dictionaries; a mistake that is not there costs 1."""
    labels = classes.tolist()
    places = {label: place for place, label in enumerate(labels)}
    named = {*given, *(label for row in given.values() for label in row)}
    known = {*labels, *others}
    unknown = sorted((label for label in named if label not in known), key=repr)
    if unknown:
        raise ValueError(
            f"cost_matrix must name classes of y, {_named(labels)}; got {_named(unknown)}."
        )
    costs = 1.0 - np.eye(len(labels))
    for true, row in given.items():
        for predicted, cost in row.items():
            if true in places and predicted in places:
                costs[places[true], places[predicted]] = cost
    return costs


def _square(given: Any) -> Floats:
    """Return a matrix as floats, checked."""
    matrix = _checked_numbers(given)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "cost_matrix must have a row per true class and a column per predicted class; got an array "
            f"of shape {matrix.shape}."
        )
    return matrix


def _checked_numbers(given: Any) -> Floats:
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"cost_matrix must hold numbers; got {given!r}.") from None
    if not (np.isfinite(numbers) & (numbers >= 0.0)).all():
        wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0.0))]
        raise ValueError(f"cost_matrix must hold finite numbers, 0 or more; got {wrong[0]:g}.")
    return numbers


def _check_diagonal(costs: Floats, classes: NDArray[Any]) -> None:
    """Raise where a mistake would cost less than the right answer, or none costs more."""
    right = np.diag(costs)
    wrong = np.argwhere(costs < right[:, None])
    if len(wrong):
        true, predicted = wrong[0]
        label, other = classes.tolist()[true], classes.tolist()[predicted]
        raise ValueError(
            "cost_matrix must have the least cost of each row on the diagonal; where "
            f"{label!r} is true, {label!r} costs {right[true]:g} and {other!r} costs "
            f"{costs[true, predicted]:g}."
        )
    if not (costs > right[:, None]).any():
        raise ValueError(
            "cost_matrix must have some mistake that costs more than the right answer."
        )


def _named(labels: list[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_MOST_NAMED])
    return f"{shown}, ..." if len(labels) > _MOST_NAMED else shown
