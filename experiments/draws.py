"""The paper's random draws: some rows per class, three quarters of them for training."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from experiments.data import load
from experiments.text_projection import USUAL, project

TRAINING_SHARE = 0.75


class Split(NamedTuple):
    """Training rows and test rows."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


def seed_of(data: str, repeat: int) -> int:
    """Return the seed of a draw: one for each data set and repeat."""
    return zlib.crc32(f"{data}/{repeat}".encode())


@lru_cache(maxsize=2)
def draw(
    data: str,
    repeat: int,
    per_class: int | None = None,
    *,
    first: int | None = None,
    largest: int | None = None,
    weighting: str | None = None,
    only_training: bool = False,
) -> Split:
    """Draw rows and split them.

    Parameters
    ----------
    data : str
        Name of the set. Texts are weighted and projected on the principal components that explain
        90 % of the variance of the rows drawn.
    repeat : int
        Number of the draw.
    per_class : int or None, default=None
        At most this many rows per class; None for all.
    first, largest : int or None, default=None
        Only this many classes: the first by name, or those with the most rows.
    weighting : str or None, default=None
        How to weight the words of texts, see `experiments.text_projection`; None for the usual way.
        If given, rows that are not texts are treated as texts.
    only_training : bool, default=False
        Whether to draw only rows of the set's official training part.

    Returns
    -------
    Split
        Three quarters of the rows drawn, and the rest.
    """
    held = load(data)
    rng = np.random.default_rng(seed_of(data, repeat))
    eligible = np.ones(len(held.y), dtype=bool)
    if only_training:
        if held.test is None:
            raise ValueError(f"{data} must have an official training part; it has none.")
        eligible = ~held.test
    names, counts = np.unique(held.y, return_counts=True)
    if largest is not None:
        names = np.sort(names[np.argsort(-counts, kind="stable")[:largest]])
    names = names[:first]
    drawn = [
        rng.permutation(np.flatnonzero(eligible & (held.y == name)))[:per_class] for name in names
    ]
    rows = rng.permutation(np.concatenate(drawn))
    X, y = held.X[rows], held.y[rows]
    if weighting is not None or issparse(X):
        X = project(X, weighting or USUAL)
    n_train = round(TRAINING_SHARE * len(rows))
    return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])
