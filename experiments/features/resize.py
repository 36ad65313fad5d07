"""Resize images to one size."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from experiments.features.images import check_images


class Resize(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Resize grey images, as the paper does before it de-skews MNIST.

    Images that already have the shape pass unchanged; others are resized by scikit-image, and
    blurred first if they shrink.

    Parameters
    ----------
    shape : tuple of two int, default=(28, 28)
        The height and width of the resulting images.
    """

    def __init__(self, shape: tuple[int, int] = (28, 28)) -> None:
        self.shape = shape

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Check the images; there is nothing to learn.

        Parameters
        ----------
        X : array-like of shape (m, height, width)
            Grey images.
        y : ignored
            Accepted because pipelines pass it.
        """
        check_images(X)
        if len(self.shape) != 2 or min(self.shape) < 1:
            raise ValueError(
                f"shape must be a height and a width of at least one pixel; got {self.shape!r}."
            )
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the images in the wanted shape; resized ones are float32.

        Parameters
        ----------
        X : array-like of shape (m, height, width)
            Grey images.
        """
        images = check_images(X)
        if images.shape[1:] == tuple(self.shape):
            return images
        from skimage import transform  # noqa: PLC0415  images of the right size need none

        resized = np.empty((len(images), *self.shape), dtype=np.float32)
        resize: Any = transform.resize  # scikit-image is only partly typed
        for image, out in zip(images, resized, strict=True):
            out[...] = resize(image.astype(np.float32), self.shape, order=1, anti_aliasing=True)
        return resized

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        return tags
