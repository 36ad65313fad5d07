"""Labels and their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["UNSEEN", "check_classes", "class_numbers"]

# The number of a label that is not among the classes.
UNSEEN = -1


def check_classes(classes: NDArray[Any]) -> None:
    """Raise unless the distinct labels are those of a classification, not of a regression."""
    # Twice each: if all labels differ, scikit-learn assumes a regression, and warns.
    check_classification_targets(np.repeat(classes, 2))


def class_numbers(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of each label in `classes`; `UNSEEN` if it is not there.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Distinct labels.
    labels : ndarray of shape (n,)
        Labels of any type.
    """
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([numbers.get(label, UNSEEN) for label in labels.tolist()], dtype=np.int64)
