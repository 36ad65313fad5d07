"""Straighten slanted digits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from experiments.features.images import batches, check_images


class Deskew(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Shear each image along its rows so that what it shows stands upright.

    Grey levels count as masses. About the centre of mass, the covariance of row and column over the
    variance of the rows is the slope at which the digit leans; every row is moved against it, in
    proportion to its distance from the centre. Pixels between two old ones are interpolated
    linearly; what lies outside the image is background, 0. The centre of mass stays where it is, but
    for what leaves the image. An image without mass, or with all of it in one row, is left alone.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Check the images; there is nothing to learn, each image has its own slope.

        Parameters
        ----------
        X : array-like of shape (m, height, width)
            Grey images on a background of 0, no pixel below.
        y : ignored
            Accepted because pipelines pass it.
        """
        check_masses(X)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return the images upright, of the same shape, as float32.

        Parameters
        ----------
        X : array-like of shape (m, height, width)
            Grey images on a background of 0, no pixel below.
        """
        images = check_masses(X)
        upright = np.empty(images.shape, dtype=np.float32)
        for part, pixels in batches(images):
            upright[part] = move_rows(pixels, lean(pixels))
        return upright

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        tags.requires_fit = False
        return tags


def check_masses(X: ArrayLike) -> NDArray[Any]:
    """Return X as a stack of images whose pixels can be masses."""
    images = check_images(X)
    if (lowest := images.min()) < 0:
        raise ValueError(
            f"X must have no negative pixels, for they count as masses; got {lowest}. Subtract the "
            "background first."
        )
    return images


def lean(images: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return by how many pixels each row of each image is too far right: m x height."""
    pixels = images.astype(np.float64)
    rows, columns = (np.arange(n, dtype=np.float64) for n in images.shape[1:])
    in_row = pixels.sum(axis=2)
    mass = in_row.sum(axis=1)
    safe = np.where(mass > 0, mass, 1.0)
    centre_row = in_row @ rows / safe
    centre_column = pixels.sum(axis=1) @ columns / safe
    from_centre = rows - centre_row[:, None]
    variance = (in_row * from_centre**2).sum(axis=1)
    covariance = (from_centre * (pixels @ columns - in_row * centre_column[:, None])).sum(axis=1)
    # A digit one pixel high leaves a variance of rounding errors only: no slope to speak of.
    slope = np.divide(covariance, variance, out=np.zeros_like(mass), where=variance > 1e-12 * safe)
    offset: NDArray[np.float64] = slope[:, None] * from_centre
    return offset


def move_rows(images: NDArray[np.float32], offset: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return images whose pixel (r, c) is the old pixel (r, c + offset[r])."""
    width = images.shape[2]
    whole = np.floor(offset)
    share = (offset - whole).astype(np.float32)[:, :, None]
    left = np.arange(width) + whole.astype(np.int64)[:, :, None]
    # One column of background on either side represents everything outside.
    framed = np.pad(images, ((0, 0), (0, 0), (1, 1)))
    at_left = np.take_along_axis(framed, np.clip(left + 1, 0, width + 1), axis=2)
    at_right = np.take_along_axis(framed, np.clip(left + 2, 0, width + 1), axis=2)
    moved: NDArray[np.float32] = at_left + share * (at_right - at_left)
    return moved
