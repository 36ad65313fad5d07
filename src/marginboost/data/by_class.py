"""Values per class and values per row, for rows that are grouped by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.storage import Storage

__all__ = ["class_counts", "of_rows"]


def of_rows(values: NDArray[Any], class_offsets: NDArray[np.int64], storage: Storage) -> Any:
    """Return the value of every row's class, where the rows are stored; `values` are on the host."""
    return storage.xp.repeat(storage.put(values), np.diff(class_offsets).tolist())


def class_counts(
    class_offsets: NDArray[np.int64], multiplicity: Any | None, storage: Storage
) -> NDArray[np.float64]:
    """Count the rows of each class, each as often as it counts; the counts are on the host."""
    before = class_offsets
    if multiplicity is not None:
        xp = storage.xp
        counts = xp.cumsum(multiplicity, dtype=np.int64)
        counts = xp.concatenate([xp.zeros(1, dtype=np.int64), counts])
        before = storage.fetch(counts[storage.put(class_offsets)])
    return np.diff(before).astype(np.float64)
