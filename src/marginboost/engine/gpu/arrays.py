"""Users' arrays on a GPU: CuPy's, torch's, and others with the same interface."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["lies_on_gpu", "to_host"]


def lies_on_gpu(X: Any) -> bool:
    """Return whether an array lies on a CUDA device, by the interface that such arrays share."""
    # A tensor with a gradient has the interface only after `detach`.
    return bool(getattr(X, "is_cuda", False)) or hasattr(X, "__cuda_array_interface__")


def to_host(X: Any) -> Any:
    """Copy an array from its GPU to the host; return anything else unchanged."""
    if not lies_on_gpu(X):
        return X
    if hasattr(X, "detach"):  # torch
        return np.asarray(X.detach().cpu().numpy())
    if hasattr(X, "get"):  # CuPy
        return np.asarray(X.get())
    raise TypeError(
        f"X must be an array that can be copied from its GPU, like CuPy's and torch's; got "
        f"{type(X).__name__}. Copy it to a NumPy array first."
    )
