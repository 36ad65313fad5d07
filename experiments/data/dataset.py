"""A data set of the experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Parameters
    ----------
    name : str
        Its name in the experiments.
    X : ndarray or scipy.sparse.csr_matrix
        Features, one row per sample: float32 or float64, and uint8 for the images of mnist.
    y : ndarray
        Labels: int64, or text.
    test : ndarray of bool, or None
        The test part of the official split, if there is one.
    part : ndarray of int64, or None
        A group that each row belongs to, such as the group of speakers in isolet.
    note : str
        Which data it replaces, and what is odd about it; "" if nothing.
    """

    name: str
    X: Any
    y: NDArray[Any]
    test: NDArray[np.bool_] | None
    part: NDArray[np.int64] | None
    note: str
