"""The thresholds of all features in one array, with access by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["Thresholds"]

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Thresholds(Sequence[Floats]):
    """One ascending float64 array per feature, as a sequence.

    A million features need no more Python objects than one: operations on all features use `values` and
    `offsets`.

    Parameters
    ----------
    values : float64 array
        The thresholds of all features, one feature after the other.
    offsets : int64 array of n_features + 1
        The thresholds of feature f are ``values[offsets[f]:offsets[f + 1]]``.
    """

    values: Floats
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, thresholds: Sequence[Floats]) -> Thresholds:
        """Join the arrays of all features; return `thresholds` if they are joined already."""
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
        """Return the thresholds of one feature, or of several."""
        if isinstance(feature, slice):
            return tuple(self[f] for f in range(*feature.indices(len(self))))
        place = feature + len(self) if feature < 0 else feature
        if not 0 <= place < len(self):
            raise IndexError(f"feature must be from 0 to {len(self) - 1:,}, got {feature}.")
        return self.values[self.offsets[place] : self.offsets[place + 1]]

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each feature: one more than its thresholds."""
        return (np.diff(self.offsets) + 1).astype(np.int32)
