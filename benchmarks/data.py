"""Data: files named `<set>.npz` in the folder MARGINBOOST_DATA, or synthetic data of the same shape."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

# Training and test rows, features, classes, distinct values per feature.
SHAPES = {"letter": (16000, 4000, 16, 26, 16), "pendigits": (7494, 3498, 16, 10, 101)}


class Split(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    notes: list[str]


class Rows(NamedTuple):
    """All rows of a set; `test` marks the official test part, or is None."""

    X: Any  # an array, or a CSR matrix
    y: np.ndarray
    test: np.ndarray | None


def path_of(name: str) -> Path:
    """Return the path of the file of a set."""
    return Path(os.environ.get("MARGINBOOST_DATA", "")) / f"{name}.npz"


def read(name: str) -> Rows:
    """Return the contents of the file of a set."""
    with np.load(path_of(name)) as file:
        test = file["split"] == 1 if "split" in file else None
        if "indptr" in file:
            parts = (file["data"], file["indices"], file["indptr"])
            return Rows(csr_matrix(parts, shape=tuple(file["shape"])), file["y"], test)
        return Rows(file["X"], file["y"], test)


def load(name: str) -> Split:
    """Return the official split of a set; a note says if it is not the real one."""
    if path_of(name).is_file():
        X, y, test = read(name)
        return Split(X[~test], y[~test], X[test], y[test], [])
    rows, test_rows, features, classes, values = SHAPES[name]
    X, y = blobs(rows + test_rows, features, classes, seed=1)
    X = np.clip((X + 4) * (values / 8), 0, values - 1).astype(np.uint8)
    note = f"{name} is synthetic data of the same shape: MARGINBOOST_DATA names no folder with it."
    return Split(X[:rows], y[:rows], X[rows:], y[rows:], [note])


def blobs(rows: int, features: int, classes: int, seed: int = 0):
    """Return overlapping normal clouds, one per class; float32."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = rng.standard_normal((rows, features), dtype=np.float32)
    X += rng.standard_normal((classes, features), dtype=np.float32)[y]
    return X, y
