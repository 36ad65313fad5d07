"""The census transform: how each pixel compares with its eight neighbours, as a byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["census_transform"]

# Rows of neighbours from the top, from left to right: the first gives the highest bit.
_NEIGHBOURS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2))


def census_transform(image: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the census transform of a gray image.

    A bit is 1 where the pixel is at least as bright as the neighbour. The bits are read from
    the upper left neighbour to the lower right one, row by row (Wu and Rehg 2011).

    Parameters
    ----------
    image : array of shape (height, width)
        Gray values, in any numeric type.

    Returns
    -------
    uint8 array of shape (height - 2, width - 2)
        Pixels of the border have no eight neighbours and are left out.
    """
    if image.ndim != 2 or min(image.shape) < 3:
        raise ValueError(
            f"image must be gray and have at least 3 x 3 pixels, got the shape {image.shape}; "
            "convert colours to gray first."
        )
    height, width = image.shape[0] - 2, image.shape[1] - 2
    inner = image[1:-1, 1:-1]
    census = np.zeros((height, width), dtype=np.uint8)
    for row, column in _NEIGHBOURS:
        census <<= 1
        census |= inner >= image[row : row + height, column : column + width]
    return census
