"""Recognise Dask collections without importing Dask."""

from __future__ import annotations

from typing import Any

__all__ = ["is_collection"]


def is_collection(value: Any) -> bool:
    """Check whether a value is a Dask collection."""
    return hasattr(value, "__dask_graph__")
