"""The spatial hierarchy: patches of an image at three sizes, and counts of words by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from experiments.features.centrist import centrist
from experiments.features.patches import Patches, join_patches

__all__ = ["LEVEL_OF_BLOCK", "N_BLOCKS", "SpatialHierarchy", "block_histograms"]

# Blocks per side of a level, from the whole image to the finest.
_SIDES = (1, 2, 4)
# A level has its blocks, and others of the same size between them, shifted by half a block.
LEVEL_OF_BLOCK = tuple(
    level for level, side in enumerate(_SIDES) for _ in range(side**2 + (side - 1) ** 2)
)
N_BLOCKS = len(LEVEL_OF_BLOCK)


class SpatialHierarchy(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Describe images by the CENTRIST descriptors of dense patches, at three sizes.

    The finest level is the image as it is, cut into 4 x 4 blocks. For each coarser level the
    image is halved, and so are the blocks per side: all blocks hold the same number of pixels.

    Nothing is learnt, so the result can be used for every split into training and test images.

    Parameters
    ----------
    patch_size, step : int
        See `centrist`.
    min_variance : float
        See `centrist`.
    use_sobel : bool
        Describe the strength of the Sobel gradient in place of the gray values.
    n_jobs : int
        Number of processes.
    """

    def __init__(
        self,
        patch_size: int = 16,
        step: int = 4,
        *,
        min_variance: float = 0.0,
        use_sobel: bool = False,
        n_jobs: int = 1,
    ) -> None:
        self.patch_size = patch_size
        self.step = step
        self.min_variance = min_variance
        self.use_sobel = use_sobel
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object = None) -> SpatialHierarchy:
        """Do nothing: the transformer learns nothing."""
        return self

    def transform(self, X: Sequence[NDArray[Any]]) -> NDArray[np.object_]:
        """Describe images.

        Parameters
        ----------
        X : sequence of arrays of shape (height, width)
            Gray images, of any sizes.

        Returns
        -------
        object array of n_images
            `Patches` of each image, of all levels. An array, so that a mask can choose images.
        """
        parts = Parallel(n_jobs=self.n_jobs, batch_size=16)(delayed(self._one)(x) for x in X)
        described = np.empty(len(parts), dtype=object)
        described[:] = parts
        return described

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True

    def _one(self, image: NDArray[Any]) -> Patches:
        levels = []
        for level, side in enumerate(_SIDES):
            shrunk = _shrunk(image, _SIDES[-1] // side)
            if self.use_sobel:
                shrunk = _gradient(shrunk)
            levels.append(centrist(shrunk, self.patch_size, self.step, self.min_variance, level))
        return join_patches(levels)


def _shrunk(image: NDArray[Any], factor: int) -> NDArray[Any]:
    if factor == 1:
        return image
    from skimage.transform import resize  # noqa: PLC0415  features kept on disk need none

    shape = tuple(round(length / factor) for length in image.shape)
    gray = image.astype(np.float64)
    small = resize(gray, shape, order=1, anti_aliasing=True)  # type: ignore[no-untyped-call]
    # Whole gray values, as in the image: in a flat region the order of fractions is noise.
    return np.asarray(np.rint(small))


def _gradient(image: NDArray[Any]) -> NDArray[Any]:
    from skimage.filters import sobel  # noqa: PLC0415

    return np.asarray(sobel(image.astype(np.float64)))  # type: ignore[no-untyped-call]


def block_histograms(
    patches: Patches, words: NDArray[np.int64], n_words: int
) -> NDArray[np.uint16]:
    """Count the words of an image in every block of the spatial hierarchy.

    A patch belongs to the blocks of its own level in which its centre lies: to one of the
    blocks that tile the image, and, but near the border, to one of those between them.

    Parameters
    ----------
    patches : Patches
        Of one image.
    words : int array of n_patches
        The word of each patch.
    n_words : int
        Number of words.

    Returns
    -------
    uint16 array of shape (31, n_words)
        The whole image; 2 x 2 blocks and the one between them; 4 x 4 blocks and the 3 x 3
        between them.
    """
    counts = np.zeros((N_BLOCKS, n_words), dtype=np.uint16)
    first = 0
    for level, side in enumerate(_SIDES):
        at = patches.level == level
        row, column, word = side * patches.row[at], side * patches.column[at], words[at]
        for shift, blocks in ((0.0, side), (0.5, side - 1)):
            i = np.floor(row - shift).astype(np.int64)
            j = np.floor(column - shift).astype(np.int64)
            within = (i >= 0) & (i < blocks) & (j >= 0) & (j < blocks)
            block = first + i[within] * blocks + j[within]
            np.add.at(counts, (block, word[within]), 1)
            first += blocks**2
    return counts
