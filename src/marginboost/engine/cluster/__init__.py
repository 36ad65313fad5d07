"""Engines on a Dask cluster. Only this package imports Dask."""

from __future__ import annotations

try:
    import distributed  # noqa: F401
except ImportError as failure:
    raise ImportError(
        "A fit on a cluster needs Dask. Install it with `pip install 'marginboost[dask]'`."
    ) from failure

from marginboost.engine.cluster.errors import ClusterError
from marginboost.engine.cluster.placement import Recipe
from marginboost.engine.cluster.stumps.engine import ClusterStumpEngine
from marginboost.engine.cluster.training_set import ClusterTrainingSet
from marginboost.engine.cluster.trees.engine import ClusterTreeEngine

__all__ = [
    "ClusterError",
    "ClusterStumpEngine",
    "ClusterTrainingSet",
    "ClusterTreeEngine",
    "Recipe",
]
