"""Whether input is one of SciPy's sparse matrices, without importing SciPy for the question."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["is_sparse"]


def is_sparse(X: Any) -> bool:
    """Check whether X is a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")  # one exists only once this is imported
    return sparse is not None and bool(sparse.issparse(X))
