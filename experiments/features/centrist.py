"""CENTRIST: histograms of the census transform in dense patches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.features.census import census_transform
from experiments.features.patches import Patches

__all__ = ["centrist"]


def centrist(
    image: NDArray[Any],
    patch_size: int = 16,
    step: int = 8,
    min_variance: float = 0.0,
    level: int = 0,
) -> Patches:
    """Return the CENTRIST descriptors of all patches of a gray image.

    A patch consists of square cells. Each cell is counted once, and a patch adds up
    the histograms of its cells, so overlapping patches cost little more than others.

    Parameters
    ----------
    image : array of shape (height, width)
        Gray values.
    patch_size : int
        Height and width of a patch; a multiple of step, and at most 16, since a count must
        not be above 256.
    step : int
        Distance between neighbouring patches, in rows and in columns.
    min_variance : float
        Patches whose gray values vary less are left out: their order is noise.
    level : int
        Of the spatial hierarchy; kept with the patches.

    Returns
    -------
    Patches
        From the top to the bottom, from left to right.
    """
    if not (0 < step <= patch_size <= 16) or patch_size % step:
        raise ValueError(
            "patch_size must be a multiple of step and at most 16, "
            f"got {patch_size} and step={step}."
        )
    census = census_transform(image)
    rows, columns = census.shape[0] // step, census.shape[1] // step
    across = patch_size // step
    if min(rows, columns) < across:
        raise ValueError(
            f"an image must have room for a patch of {patch_size} x {patch_size} pixels within its "
            "border, "
            f"got the shape {image.shape}; use larger images or smaller patches."
        )
    cell = np.arange(rows * step)[:, None] // step * columns + np.arange(columns * step) // step
    census = census[: rows * step, : columns * step]
    cells = np.bincount((cell * 256 + census).ravel(), minlength=rows * columns * 256)
    counts = _slide(cells.astype(np.uint16).reshape(rows, columns, 256), across)
    down, along = counts.shape[:2]
    row = (1 + np.arange(down) * step + patch_size / 2) / image.shape[0]
    column = (1 + np.arange(along) * step + patch_size / 2) / image.shape[1]
    place = np.arange(down * along)
    counts = counts.reshape(-1, 256)
    if min_variance > 0:
        inner = image[1 : 1 + rows * step, 1 : 1 + columns * step].astype(np.float64)
        kept = _variance(inner, step, across).ravel() >= min_variance
        place, counts = place[kept], counts[kept]
    patch, filled = np.nonzero(counts)
    return Patches(
        codes=(filled * 256 + counts[patch, filled] - 1).astype(np.uint16),
        offsets=np.searchsorted(patch, np.arange(len(place) + 1)),
        level=np.full(len(place), level, dtype=np.uint8),
        row=row[place // along].astype(np.float32),
        column=column[place % along].astype(np.float32),
    )


def _slide(cells: NDArray[Any], across: int) -> NDArray[Any]:
    """Return the sums of all squares of `across` x `across` cells."""
    down, along = cells.shape[0] - across + 1, cells.shape[1] - across + 1
    tall = sum((cells[i : i + down] for i in range(1, across)), cells[:down].copy())
    return sum((tall[:, i : i + along] for i in range(1, across)), tall[:, :along].copy())


def _variance(image: NDArray[np.float64], step: int, across: int) -> NDArray[np.float64]:
    """Return the variance of the gray values of every patch."""
    shape = (image.shape[0] // step, step, image.shape[1] // step, step)
    # Gray values are centred first: the variance is a difference of two large sums.
    centred = (image - image.mean()).reshape(shape)
    pixels = (step * across) ** 2
    mean = _slide(centred.sum(axis=(1, 3)), across) / pixels
    square = _slide((centred**2).sum(axis=(1, 3)), across) / pixels
    return np.asarray(square - mean**2)
