"""Dask collections, told apart without importing Dask."""

from __future__ import annotations

from typing import Any

__all__ = ["is_collection"]


def is_collection(value: Any) -> bool:
    """Tell whether something is a Dask collection."""
    return hasattr(value, "__dask_graph__")
