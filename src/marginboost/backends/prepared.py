"""What becomes of X and y, wherever they are prepared."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from marginboost.backends.requirements import (
    Requirements,
    check_least_weight,
    check_weighted_classes,
)
from marginboost.data.encoding import Encoding
from marginboost.data.masked import check_unmasked
from marginboost.data.rows import Rows

__all__ = ["Prepared", "checked_weight", "row_weights"]

Floats = NDArray[np.float64]
RowsT_co = TypeVar("RowsT_co", bound=Rows, covariant=True)


class Prepared(NamedTuple, Generic[RowsT_co]):
    """What becomes of X and y.

    Attributes
    ----------
    rows : Rows
        The rows, ready for an engine.
    classes : array
        The labels, sorted.
    encoding : Encoding
        How the columns of X became the ordered columns of the rows.
    """

    rows: RowsT_co
    classes: NDArray[Any]
    encoding: Encoding


def checked_weight(sample_weight: ArrayLike, codes: NDArray[Any]) -> Floats:
    """Return the weights that a user gives, one per row; raise where they are none."""
    check_unmasked(sample_weight, "sample_weight", "a number")
    weight: Floats = _check_sample_weight(sample_weight, codes, dtype=np.float64)
    at = int(np.argmin(weight))
    check_least_weight(float(weight[at]), at)
    return weight


def row_weights(
    requirements: Requirements,
    sample_weight: ArrayLike | None,
    classes: NDArray[Any],
    codes: NDArray[Any],
) -> Floats | None:
    """Check the rows' weights; 0 for classes of weight 0, None where every row counts once."""
    weight: Floats | None = None
    if sample_weight is not None:
        weight = checked_weight(sample_weight, codes)
    counts = requirements.class_weight.counted(classes)
    if counts is not None:
        weight = counts[codes].astype(np.float64) if weight is None else weight * counts[codes]
    if weight is not None:
        check_weighted_classes(len(np.unique(codes[weight > 0])))
    return weight
