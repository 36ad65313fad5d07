"""Choose the backend of a fit, by where X lies and what the user asks for."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from marginboost.backends.host import Backend, Host
from marginboost.data.collection import is_collection
from marginboost.engine.gpu.arrays import lies_on_gpu
from marginboost.engine.gpu.device import cuda_device

__all__ = ["choose_backend"]


def choose_backend(X: Any, *, device: str, engine: str, n_jobs: int | None) -> Backend:
    """Choose where to fit.

    Parameters
    ----------
    X : array, data frame or collection
        What `fit` was given.
    device : {"cpu", "cuda"}
        What the user asks for.
    engine : str
        One of `marginboost.engine.ENGINES`.
    n_jobs : int or None
        As in scikit-learn.
    """
    if device == "cpu" and isinstance(X, np.ndarray):
        return Host(engine, n_jobs)
    if is_collection(X):
        return _cluster(device, engine)
    if device == "cuda":
        if engine != "native":
            raise ValueError(
                f'engine must be "native" where device is "cuda"; got {engine!r}. The reference '
                "engine runs on the CPU alone."
            )
        gpu: Backend = _load("gpu").Gpu(cuda_device(), n_jobs)
        return gpu
    if lies_on_gpu(X):
        raise ValueError(
            'X lies on a GPU, and device is "cpu". Pass device="cuda" to fit there, or copy X to a '
            "NumPy array."
        )
    return Host(engine, n_jobs)


def _cluster(device: str, engine: str) -> Backend:
    try:
        module = _load("cluster")
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"X is a Dask collection, and a fit of those needs {missing.name}, which is not installed. "
            "Install it with `pip install 'marginboost[dask]'`, or pass X.compute()."
        ) from missing
    cluster: Backend = module.Cluster(device, engine)
    return cluster


def _load(name: str) -> Any:
    """Import a backend when it is asked for: most fits need only the host."""
    return importlib.import_module(f"marginboost.backends.{name}")
