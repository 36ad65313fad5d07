"""The data sets: files of a folder that the environment variable MARGINBOOST_DATA names."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

FILES = {
    "news20": "news20_bydate_noheader_counts",
    "reuters52": "reuters_r52_counts",
    "vowel-1452": "vowel",
}


class MissingData(Exception):  # noqa: N818  it is the data that is at fault
    """A data set is not there."""


class DataSet(NamedTuple):
    """Rows, and their classes."""

    X: Any
    y: NDArray[Any]


@lru_cache(maxsize=4)
def load(name: str) -> DataSet:
    """Return a data set; dense rows in the order of their values, wherever they came from."""
    if name == "digits":
        bunch = load_digits()
        return _in_order(bunch.data.astype(np.float32), bunch.target, None)[0]
    path = Path(os.environ.get("MARGINBOOST_DATA", "")) / f"{FILES.get(name, name)}.npz"
    if not path.is_file():
        raise MissingData(f"{path.name} is not there: set MARGINBOOST_DATA to a folder with it.")
    with np.load(path) as held:
        if "indptr" in held:
            parts = (held["data"], held["indices"], held["indptr"])
            return DataSet(csr_matrix(parts, shape=tuple(held["shape"])), held["y"])
        split = held.get("split")
        data, split = _in_order(held["X"], held["y"], split)
    if name == "vowel-1452" and split is not None:
        again = split == 1
        return DataSet(np.vstack([data.X, data.X[again]]), np.append(data.y, data.y[again]))
    return data


def _in_order(
    X: NDArray[Any], y: NDArray[Any], split: NDArray[Any] | None
) -> tuple[DataSet, NDArray[Any] | None]:
    X = X.astype(np.float64)
    rank = np.unique(y, return_inverse=True)[1]
    order = np.lexsort(([] if split is None else [split]) + [rank, *X.T[::-1]])
    return DataSet(X[order], y[order]), None if split is None else split[order]
