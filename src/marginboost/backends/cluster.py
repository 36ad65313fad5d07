"""A backend of Dask workers: they hold the rows of a fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
from distributed import Client, get_client
from numpy.typing import ArrayLike

from marginboost.backends.host import Prepared
from marginboost.backends.input_columns import asked_columns, keep_names
from marginboost.backends.requirements import (
    Requirements,
    check_weighted_classes,
)
from marginboost.data.classes import check_two_classes
from marginboost.data.columns import frame_names
from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
    ReferenceTreeEngine,
    StumpEngine,
    TreeEngine,
)
from marginboost.engine.cluster import (
    ClusterStumpEngine,
    ClusterTrainingSet,
    ClusterTreeEngine,
    Recipe,
)
from marginboost.engine.cluster.connection import Connection
from marginboost.engine.cluster.part_binning import build_shard, encode_part
from marginboost.engine.cluster.parts import make_parts, whole_rows
from marginboost.engine.cluster.prepare import assign_parts, bin_parts, describe_parts, encode_parts
from marginboost.engine.cluster.tasks import present_workers
from marginboost.engine.cluster.training_set import DEADLINE
from marginboost.engine.gpu.device import cuda_device
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine

__all__ = ["Cluster"]


def _reference(_: int) -> ReferenceStumpEngine:
    return ReferenceStumpEngine()


def _reference_trees(_: int) -> ReferenceTreeEngine:
    return ReferenceTreeEngine()


def _cuda(_: int) -> GpuStumpEngine:
    return GpuStumpEngine(cuda_device())


def _cuda_trees(_: int) -> GpuTreeEngine:
    return GpuTreeEngine(cuda_device())


# What a worker runs on its shard; made there, with the number of its threads.
_ENGINES: dict[str, Callable[[int], Any]] = {
    "native": NativeStumpEngine,
    "reference": _reference,
    "cuda": _cuda,
}
_TREE_ENGINES: dict[str, Callable[[int], Any]] = {
    "native": NativeTreeEngine,
    "reference": _reference_trees,
    "cuda": _cuda_trees,
}


class Cluster:
    """The cluster of the current Dask client; see `Backend`.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where each worker makes its sums.
    engine : str
        One of `marginboost.engine.ENGINES`: what the workers run.
    """

    # Both fits would wait for the same workers.
    n_threads = 1

    def __init__(self, device: str, engine: str) -> None:
        self._client = _current_client()
        self._kind = engine if device == "cpu" else device
        self._data: ClusterTrainingSet | None = None

    def prepare(
        self, requirements: Requirements, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> Prepared[ClusterTrainingSet]:
        """Check, encode and bin, all on the workers."""
        requirements.check_not_host_only("a Dask collection", "Pass X.compute()")
        client = self._client
        connection = Connection(client, float(dask.config.get("marginboost.deadline", DEADLINE)))
        X = whole_rows(X)
        # The columns' names, where X is a frame, and their number.
        names = frame_names(X._meta) if hasattr(X, "columns") else None
        keep_names(requirements.classifier, X.shape[1], names)
        wanted = requirements.classifier.categorical_features
        asked = asked_columns(wanted, X.shape[1], names)
        read = make_parts(X, y, sample_weight, asked, requirements.class_weight.left_out)
        given = client.compute(read)
        known = describe_parts(connection, given)
        check_two_classes(known.classes)
        check_weighted_classes(int((known.kept > 0).sum()))
        futures, encoding, categories = encode_parts(
            connection,
            given,
            known,
            names,
            by_type=requirements.by_type,
            max_bins=requirements.max_bins,
            shares=requirements.cross_fits,
        )
        encode = dask.delayed(encode_part, pure=False)
        parts = [encode(part, encoding, categories) for part in read]
        del given
        binned = bin_parts(
            connection,
            futures,
            known,
            class_weight=requirements.class_weight.factors(known.classes, known.counts),
            max_bins=requirements.max_bins,
            least_leaf_share=requirements.least_leaf_share,
        )
        workers = present_workers(connection)
        holders = client.who_has(futures)
        places = [next(iter(holders[future.key]), workers[0]) for future in futures]
        spread_parts = assign_parts(known.part_rows, places, workers)

        def recipes(parts: list[Any]) -> list[Recipe]:
            rest = binned.labelling, binned.thresholds, categories
            return [
                Recipe(build_shard, ([parts[n] for n in numbers], *rest), worker)
                for worker, numbers in zip(workers, spread_parts, strict=True)
                if numbers
            ]

        self._data = ClusterTrainingSet(
            client,
            recipes(futures),
            thresholds=binned.thresholds,
            class_mass=binned.class_mass,
            class_counts=binned.class_counts,
            n_rows=int(binned.class_rows.sum()),
            largest_weight=binned.largest_weight,
            deadline=connection.deadline,
            categories=categories if requirements.cross_fits else None,
        )
        # Of the parts that are there, which are in nobody's way after that; a shard that is lost in
        # mid-fit is made from the collections themselves.
        self._data.build_shards(recipes(parts))
        self._data = self._data.cross_fitted()
        return Prepared(self._data, known.classes, encoding.with_medians(binned.medians))

    def make_stump_engine(self) -> StumpEngine:
        """Make an engine."""
        return ClusterStumpEngine(_ENGINES[self._kind])

    def make_tree_engine(self, n_threads: int) -> TreeEngine:
        """Make an engine."""
        return ClusterTreeEngine(_TREE_ENGINES[self._kind])

    def close(self) -> None:
        """Free the shards on the workers."""
        if self._data is not None:
            self._data.close()
            self._data = None


def _current_client() -> Client:
    try:
        client = get_client()
    except ValueError as missing:
        raise ValueError(
            "X is a Dask collection, which is fitted by the workers of a cluster, and there is no "
            "client of one. Make one first, `from distributed import Client; client = Client()`, or "
            "pass X.compute()."
        ) from missing
    return client
