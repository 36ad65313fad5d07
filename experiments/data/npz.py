"""Data sets in npz files: the arrays X and y, and optionally split and part.

For a sparse set the file has data, indices, indptr and shape instead of X, as in SciPy's CSR format.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from experiments.data.errors import WrongData
from experiments.data.rows import Rows
from experiments.data.whole_files import replacing


def read_npz(path: Path) -> Rows:
    """Return the rows in a file; raise WrongData if it cannot be read."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name not in ("vocab", "doc_id")}
        return _rows(arrays)
    except (BadZipFile, zlib.error, EOFError, OSError, KeyError, ValueError, TypeError) as error:
        raise WrongData(f"{path} must be an npz file with X and y; it is not: {error}") from error


def write_npz(path: Path, rows: Rows) -> None:
    """Write rows to a file, atomically."""
    arrays: dict[str, Any] = {"y": rows.y}
    if issparse(rows.X):
        arrays |= {name: getattr(rows.X, name) for name in ("data", "indices", "indptr")}
        arrays["shape"] = np.array(rows.X.shape)
    else:
        arrays["X"] = rows.X
    if rows.test is not None:
        arrays["split"] = rows.test.astype(np.uint8)
    if rows.part is not None:
        arrays["part"] = rows.part
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _rows(arrays: dict[str, NDArray[Any]]) -> Rows:
    if "indptr" in arrays:
        stored = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = csr_matrix(stored, shape=tuple(arrays["shape"]))
    else:
        X = arrays["X"]
    test = arrays["split"] == 1 if "split" in arrays else None
    return Rows(X, arrays["y"], test, arrays.get("part"))
