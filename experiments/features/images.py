"""Stacks of grey images: checks, and iteration in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

BATCH = 512  # images per batch: their features stay below a few dozen MB


def check_images(X: Any, shape: tuple[int, int] | None = None) -> NDArray[Any]:
    """Return X as a stack of grey images, m x height x width.

    Parameters
    ----------
    X : array-like of shape (m, height, width)
        Finite real numbers.
    shape : tuple of two int, optional
        The height and width that the images must have.
    """
    images: NDArray[Any] = check_array(
        X, dtype="numeric", ensure_2d=False, allow_nd=True, input_name="X"
    )
    if images.ndim != 3:
        raise ValueError(
            "X must be a stack of grey images of shape (images, height, width); got an array of "
            f"shape {images.shape}. Use X.reshape(-1, 28, 28) if its rows are flat digits."
        )
    if 0 in images.shape:
        raise ValueError(f"X must hold at least one pixel per image; got shape {images.shape}.")
    if shape is not None and images.shape[1:] != tuple(shape):
        raise ValueError(
            f"X must hold images of {shape[0]} x {shape[1]} pixels, as it did at fit; got "
            f"{images.shape[1]} x {images.shape[2]}. Put Resize in front."
        )
    return images


def batches(images: NDArray[Any]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Iterate over a stack in batches: which images, and their pixels as float32."""
    for start in range(0, len(images), BATCH):
        part = slice(start, start + BATCH)
        yield part, images[part].astype(np.float32)
