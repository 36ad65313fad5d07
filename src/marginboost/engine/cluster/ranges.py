"""The ranges of features that each worker adds up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def balanced_bounds(n_bins: NDArray[np.int32], n_owners: int) -> list[int]:
    """Divide the features into ranges with about the same number of bins each.

    Parameters
    ----------
    n_bins : int32 array
        Bins of each feature.
    n_owners : int
        Number of ranges; some are empty if there are fewer features.

    Returns
    -------
    list of int
        n_owners + 1 ascending bounds; range j holds the features from bound j to bound j + 1.
    """
    ends = np.cumsum(n_bins, dtype=np.int64)
    shares = np.arange(1, n_owners) * (int(ends[-1]) / n_owners)
    # A feature belongs to the range that its middle lies in.
    cuts = np.searchsorted(ends - n_bins / 2, shares).tolist()
    return [0, *cuts, len(n_bins)]


def bin_slices(n_bins: NDArray[np.int32], bounds: list[int]) -> list[slice]:
    """Convert ranges of features to ranges of bins."""
    begins = np.concatenate(([0], np.cumsum(n_bins, dtype=np.int64)))[bounds].tolist()
    return [slice(*pair) for pair in pairwise(begins)]
