"""Labels and the classes that they name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["UNSEEN", "check_classes", "class_numbers"]

# The number of a label that is none of the classes.
UNSEEN = -1


def check_classes(classes: NDArray[Any]) -> None:
    """Raise unless the distinct labels are those of classes, and not, say, of a regression."""
    # Twice each: scikit-learn takes labels that all differ for those of a regression, and warns.
    check_classification_targets(np.repeat(classes, 2))


def class_numbers(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Find the place of labels in `classes`; `UNSEEN` for one that is not there.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        All different.
    labels : ndarray of shape (n,)
        Of any kind.
    """
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([numbers.get(label, UNSEEN) for label in labels.tolist()], dtype=np.int64)
