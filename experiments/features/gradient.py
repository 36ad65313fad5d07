"""Gradients of grey images: plain differences, or smoothed along the edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RADIUS = 2  # taps on either side of a pixel
ACROSS = 0.35  # width of the smoothing across an edge, in that along it


def gradients(
    images: NDArray[np.float32], sigma: float | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the derivatives down the rows and along the columns, each of the images' shape.

    Beyond its border an image continues with the pixels of the border.

    Parameters
    ----------
    images : array of shape (m, height, width)
        Grey images.
    sigma : float or None
        None takes half the difference of the two neighbours. A number takes the derivative of a
        Gaussian of 5 x 5 taps, `sigma` pixels wide along the edge and a third of it across.
    """
    difference, smooth = taps(sigma)
    down = along(along(images, difference, axis=1), smooth, axis=2)
    right = along(along(images, difference, axis=2), smooth, axis=1)
    return down, right


def taps(sigma: float | None) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights of the derivative across an edge, and of the mean along it, 5 each."""
    at = np.arange(-RADIUS, RADIUS + 1, dtype=np.float64)
    if sigma is None:
        return np.array([0, -0.5, 0, 0.5, 0], dtype=np.float32), (at == 0).astype(np.float32)
    across = at * np.exp(-0.5 * (at / (ACROSS * sigma)) ** 2)
    mean = np.exp(-0.5 * (at / sigma) ** 2)
    # A ramp of slope 1 must have the gradient 1.
    return (across / (across @ at)).astype(np.float32), (mean / mean.sum()).astype(np.float32)


def along(
    images: NDArray[np.float32], weights: NDArray[np.float32], axis: int
) -> NDArray[np.float32]:
    """Sum up the neighbours along one axis, weighted, at every pixel."""
    frame = [(0, 0)] * images.ndim
    frame[axis] = (RADIUS, RADIUS)
    framed = np.pad(images, frame, mode="edge")
    total = np.zeros_like(images)
    length = images.shape[axis]
    for shift, weight in enumerate(weights):
        if weight != 0.0:
            window = [slice(None)] * images.ndim
            window[axis] = slice(shift, shift + length)
            total += weight * framed[tuple(window)]
    return total
