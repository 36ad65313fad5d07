"""Images as counts of visual words in the blocks of the spatial hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from experiments.features.codebook import Codebook
from experiments.features.patches import Patches, join_patches
from experiments.features.spatial_hierarchy import N_BLOCKS, block_histograms

__all__ = ["VisualWords", "block_shares"]

_IMAGES_AT_ONCE = 256


class VisualWords(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a codebook from training images, and count its words in all blocks of any image.

    The counts are left as they are. An image with more pixels has larger ones; `block_shares` makes
    images of all sizes comparable.

    Parameters
    ----------
    n_words : int
        Size of the codebook.
    max_patches : int
        Learn the codebook from at most this many patches, drawn without repetition.
    max_iter : int
        See `Codebook`.
    random_state : int, RandomState or None
        For the draw of patches, and for the codebook.
    n_jobs : int
        Number of threads.

    Attributes
    ----------
    codebook_ : Codebook
        Fitted.
    """

    def __init__(
        self,
        n_words: int = 200,
        *,
        max_patches: int = 30_000,
        max_iter: int = 20,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.n_words = n_words
        self.max_patches = max_patches
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[Patches], y: object = None) -> VisualWords:
        """Learn the codebook.

        Parameters
        ----------
        X : array of Patches
            Training images, as `SpatialHierarchy` describes them.
        y : ignored

        Returns
        -------
        VisualWords
            Itself.
        """
        rng = check_random_state(self.random_state)
        codebook = Codebook(
            self.n_words, max_iter=self.max_iter, random_state=rng, n_jobs=self.n_jobs
        )
        self.codebook_ = codebook.fit(_some(list(X), self.max_patches, rng))
        return self

    def transform(self, X: Iterable[Patches]) -> NDArray[np.uint16]:
        """Count the words.

        Parameters
        ----------
        X : array of Patches
            Images.

        Returns
        -------
        uint16 array of shape (n_images, 31 * n_words)
            Block after block.
        """
        check_is_fitted(self, "codebook_")
        images = list(X)
        counts = np.empty((len(images), N_BLOCKS, self.n_words), dtype=np.uint16)
        for row, (patches, words) in enumerate(self._words(images)):
            counts[row] = block_histograms(patches, words, self.n_words)
        return counts.reshape(len(images), -1)

    def _words(self, images: list[Patches]) -> Iterator[tuple[Patches, NDArray[np.int64]]]:
        """Yield each image with the words of its patches; many images make one product."""
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            some = images[start : start + _IMAGES_AT_ONCE]
            words = self.codebook_.predict(join_patches(some))
            ends = np.cumsum([len(image) for image in some])[:-1]
            yield from zip(some, np.split(words, ends), strict=True)


def block_shares(counts: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the share of each word in the patches of a block.

    Parameters
    ----------
    counts : uint16 array of shape (n_images, 31 * n_words)
        As `VisualWords` makes them.

    Returns
    -------
    float32 array of the same shape
        Zeros for a block without patches.
    """
    blocks = counts.reshape(len(counts), N_BLOCKS, -1).astype(np.float32)
    blocks /= np.maximum(blocks.sum(axis=2, keepdims=True), 1)
    return blocks.reshape(counts.shape)


def _some(images: list[Patches], n: int, rng: np.random.RandomState) -> Patches:
    """Return at most this many patches of all images."""
    ends = np.cumsum([len(image) for image in images])
    if ends[-1] <= n:
        return join_patches(images)
    chosen = np.sort(rng.choice(ends[-1], n, replace=False))
    # Image by image: all patches of many images in one piece would take gigabytes.
    parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    starts = [0, *ends[:-1]]
    return join_patches(
        [image.take(part - start) for image, part, start in zip(images, parts, starts, strict=True)]
    )
