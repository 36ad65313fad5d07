"""The parameter `class_weight`: a factor for the weights of each class's rows."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

__all__ = ["ClassWeights"]

Floats = NDArray[np.float64]


class ClassWeights(NamedTuple):
    """The factors of classes, as the user gave them.

    Attributes
    ----------
    given : dict, "balanced" or None
        As in scikit-learn.
    """

    given: dict[Any, float] | str | None

    def factors(self, classes: NDArray[Any], counts: NDArray[Any]) -> Floats | None:
        """Return a factor for each class, `counts` its rows; None where none were given.

        A class of factor zero gets 1 here: its rows do not count; see `counted`.
        """
        if self.given is None:
            return None
        if isinstance(self.given, str):  # "balanced"
            balanced: Floats = counts.sum() / (len(classes) * counts.astype(np.float64))
            return balanced
        factors: Floats = np.asarray(
            compute_class_weight(self.given, classes=classes, y=classes), dtype=np.float64
        )
        if not (np.isfinite(factors) & (factors >= 0)).all():
            raise ValueError(
                f"class_weight must hold finite numbers, 0 or more; got {self.given!r}."
            )
        return np.where(factors > 0, factors, 1.0)

    @property
    def left_out(self) -> list[Any]:
        """The classes of factor zero."""
        given = self.given if isinstance(self.given, dict) else {}
        return [
            label for label, factor in given.items() if isinstance(factor, Real) and factor == 0
        ]

    def counted(self, classes: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return for each class whether its rows count; None where all do."""
        left_out = self.left_out
        return ~np.isin(classes, left_out) if left_out else None
