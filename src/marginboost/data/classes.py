"""Labels that can be classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["check_classes"]


def check_classes(classes: NDArray[Any]) -> None:
    """Raise unless the distinct labels are those of classes, and not, say, of a regression."""
    # Twice each: scikit-learn takes labels that all differ for those of a regression, and warns.
    check_classification_targets(np.repeat(classes, 2))
