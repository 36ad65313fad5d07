"""The cover of leaves: how many rows reach each leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginboost import _native
from marginboost.model.ensemble import DTYPES, Ensemble

__all__ = ["compact_blocks", "compact_features", "flat_arrays", "leaf_cover"]

# Number of values per dense block of rows.
_VALUES_AT_ONCE = 1 << 21

Floats = NDArray[np.float64]


def leaf_cover(ensemble: Ensemble, X: Any, weight: Floats, *, n_threads: int = 1) -> Floats:
    """Sum the weights of the rows that reach each leaf.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    X : array or SciPy sparse matrix of shape (n, n_features)
        Ordered columns, as for `Ensemble.decision_function`.
    weight : float64 array of n
        Weights of the rows.
    n_threads : int
        Threads to use. The result does not depend on it.

    Returns
    -------
    float64 array of n_leaves
    """
    used, feature = compact_features(ensemble)
    arrays = flat_arrays(ensemble, feature, len(used))
    cover = np.zeros(len(ensemble.leaf_value))
    for rows, block in compact_blocks(X, used, "F"):
        of_rows = np.ascontiguousarray(weight[rows])
        _native.leaf_cover(**arrays, X=block, weights=of_rows, cover=cover, n_threads=n_threads)
    return cover


def compact_features(ensemble: Ensemble) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the features that some tree splits, and the index of each node's feature among them."""
    is_used = np.zeros(ensemble.n_features, dtype=bool)
    is_used[ensemble.feature] = True
    place = np.cumsum(is_used, dtype=np.int32) - 1  # faster than to sort the nodes
    return np.flatnonzero(is_used).astype(np.int32), place[ensemble.feature]


def flat_arrays(ensemble: Ensemble, feature: NDArray[np.int32], n_features: int) -> dict[str, Any]:
    """Return the arguments of compiled code for an ensemble, with these features in its nodes."""
    arrays = {name: getattr(ensemble, name) for name in DTYPES}
    return {**arrays, "feature": feature, "n_features": n_features}


def compact_blocks(
    X: Any, used: NDArray[np.int32], order: Literal["C", "F"] = "C"
) -> Iterator[tuple[slice, Floats]]:
    """Yield dense blocks of rows, with only the used columns; in memory by row ("C") or by column."""
    if sparse.issparse(X):
        X = X.tocsr()
    n_rows = X.shape[0]
    step = max(1, _VALUES_AT_ONCE // max(1, len(used)))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        block = X[rows][:, used]
        dense = block.toarray() if sparse.issparse(block) else block
        yield rows, np.asarray(dense, dtype=np.float64, order=order)
