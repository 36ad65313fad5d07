"""Hashes of rows by their values, before any binning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["value_hashes"]

Hashes = NDArray[np.uint64]

# Any odd numbers without a pattern in their bits.
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SEED = 9


def value_hashes(X: Any) -> Hashes:
    """Return a number per row, which is equal if the values are; all missing values count as equal.

    Parameters
    ----------
    X : array or SciPy sparse matrix of n_rows x n_features
        Numbers; missing ones are NaN.
    """
    n_rows, n_features = X.shape
    factors = np.random.default_rng(_SEED).integers(2**63, size=n_features, dtype=np.uint64)
    factors = factors * np.uint64(2) + np.uint64(1)
    hashes = np.zeros(n_rows, dtype=np.uint64)
    if sparse.issparse(X):
        entries = X.tocoo()
        # A stored zero adds 0, as one that is not stored.
        np.add.at(hashes, entries.row, _mixed(entries.data) * factors[entries.col])
        return hashes
    for column in range(n_features):
        hashes += _mixed(np.asarray(X[:, column])) * factors[column]
    return hashes


def _mixed(values: NDArray[Any]) -> Hashes:
    """Mix the bits of numbers; those of 0 stay 0."""
    numbers = values.astype(np.float64) + 0.0  # no negative zero
    numbers[np.isnan(numbers)] = np.nan
    bits = numbers.view(np.uint64)
    bits ^= bits >> np.uint64(33)
    bits *= _FIRST
    bits ^= bits >> np.uint64(29)
    bits *= _SECOND
    bits ^= bits >> np.uint64(32)
    return bits
