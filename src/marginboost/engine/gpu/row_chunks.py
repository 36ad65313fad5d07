"""Chunks of rows of one class, which kernels sum."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from marginboost.engine.stumps.base import Integers


def row_chunks(class_offsets: Integers, most_rows: int) -> tuple[Integers, NDArray[np.int32]]:
    """Divide the rows into chunks of one class each.

    Parameters
    ----------
    class_offsets : int64 array of n_classes + 1
        Rows of class a are ``class_offsets[a]:class_offsets[a + 1]``.
    most_rows : int
        Most rows per chunk.

    Returns
    -------
    begins : int64 array of n_chunks + 1
        First row of each, and the number of rows.
    labels : int32 array of n_chunks
        Their classes. There is at least one chunk, which may have no rows.
    """
    begins = [np.arange(start, stop, most_rows) for start, stop in pairwise(class_offsets.tolist())]
    labels = np.repeat(np.arange(len(begins)), [len(begin) for begin in begins])
    if not len(labels):  # no rows at all
        return np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int32)
    bounds = np.concatenate([*begins, class_offsets[-1:]])
    return bounds.astype(np.int64), labels.astype(np.int32)
