"""The thresholds of all features in one array, cut into those of a feature when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["Thresholds"]

Floats = NDArray[np.float64]


class Thresholds(Sequence[Floats]):
    """One ascending float64 array a feature, as a sequence.

    A million features are no more objects than one: what is done for all of them is done on `values` and
    `offsets`.

    Parameters
    ----------
    values : float64 array
        The thresholds of all features, one feature after the other.
    offsets : int64 array of n_features + 1
        Those of feature f are ``values[offsets[f]:offsets[f + 1]]``.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: Floats, offsets: NDArray[np.int64]) -> None:
        self.values = values
        self.offsets = offsets

    @classmethod
    def of(cls, thresholds: Sequence[Floats]) -> Thresholds:
        """Put the arrays of all features into one; nothing is done where they are in one already."""
        if isinstance(thresholds, Thresholds):
            return thresholds
        sizes = np.array([len(of_feature) for of_feature in thresholds], dtype=np.int64)
        values = np.concatenate([np.empty(0), *thresholds])
        return cls(values, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, feature: int) -> Floats: ...
    @overload
    def __getitem__(self, feature: slice) -> tuple[Floats, ...]: ...
    def __getitem__(self, feature: int | slice) -> Floats | tuple[Floats, ...]:
        """Return the thresholds of a feature, or of some."""
        if isinstance(feature, slice):
            return tuple(self[f] for f in range(*feature.indices(len(self))))
        place = feature + len(self) if feature < 0 else feature
        if not 0 <= place < len(self):
            raise IndexError(f"There are {len(self):,} features; got number {feature}.")
        return self.values[self.offsets[place] : self.offsets[place + 1]]

    def __reduce__(self) -> tuple[type[Thresholds], tuple[Any, ...]]:
        return Thresholds, (self.values, self.offsets)

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature: one more than thresholds."""
        return (np.diff(self.offsets) + 1).astype(np.int32)
