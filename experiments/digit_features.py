"""Features of digits as in the paper: resized, de-skewed, and a pyramid of orientations."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

from experiments.data import load
from experiments.draws import Split
from experiments.features.deskew import Deskew
from experiments.features.hog_pyramid import HogPyramid
from experiments.features.resize import Resize

TEST_SHARE = 0.25  # if a set has no test part of its own
BLOCKS = (4, 7, 14)
# The paper gives the blocks and their number; these settings of HogPyramid are for the rest.
FEATURES: dict[str, dict[str, Any]] = {
    "own": {},
    "smoothed": {"sigma": 2.0},  # as Maji and Malik's program has it
    "unsigned": {"signed": False},
    "unshared": {"interpolate": False},
    "plain": {"signed": False, "interpolate": False, "norm": "l2-hys"},  # as scikit-image's
}


def digit_pipeline(features: str = "own", blocks: tuple[int, ...] = BLOCKS) -> Pipeline:
    """Return the pipeline that turns an image into 2,172 numbers, or another count with other blocks."""
    return make_pipeline(Resize((28, 28)), Deskew(), HogPyramid(blocks, **FEATURES[features]))


@lru_cache(maxsize=1)  # the features of MNIST take 600 MB and half a minute: once per process
def digit_split(
    data: str, n_train: int, seed: int, features: str = "own", blocks: tuple[int, ...] = BLOCKS
) -> Split:
    """Return the training and test features of a set of digits.

    Parameters
    ----------
    data : str
        Name of a set of square grey images, with its own test part or without.
    n_train : int
        At most this many training rows, drawn at random.
    seed : int
        Seed of the draw.
    features : str, default="own"
        Name in `FEATURES`.
    blocks : tuple of int, default=(4, 7, 14)
        Sides of the pyramid's blocks.
    """
    held = load(data)
    images = as_images(held.X)
    test = held.test
    if test is None:
        rows = np.arange(len(images))
        _, chosen = train_test_split(rows, test_size=TEST_SHARE, stratify=held.y, random_state=seed)
        test = np.isin(rows, chosen)
    train = np.flatnonzero(~test)
    if n_train < len(train):
        train = np.sort(np.random.default_rng(seed).permutation(train)[:n_train])
    pipeline = digit_pipeline(features, blocks)
    X = pipeline.fit_transform(images[train])
    return Split(X, held.y[train], pipeline.transform(images[test]), held.y[test])


def as_images(X: NDArray[Any]) -> NDArray[Any]:
    """Return images as a stack; flat ones are square."""
    if X.ndim == 3:
        return X
    side = isqrt(X.shape[1])
    return X.reshape(len(X), side, side)
