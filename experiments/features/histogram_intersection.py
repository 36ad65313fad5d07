"""The histogram intersection kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import manhattan_distances

__all__ = ["histogram_intersection"]


def histogram_intersection(A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
    """Return the sums of the smaller entries of every row of A and every row of B.

    Parameters
    ----------
    A, B : arrays of shapes (m, n_bins) and (n, n_bins)
        Histograms, one per row.

    Returns
    -------
    float64 array of shape (m, n)
        A kernel matrix, for an SVM with `kernel="precomputed"`.
    """
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    # min(a, b) = (a + b - |a - b|) / 2
    apart = manhattan_distances(A, B)
    return np.asarray((A.sum(axis=1)[:, None] + B.sum(axis=1) - apart) / 2)
