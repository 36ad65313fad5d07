"""Images as counts of visual words in the blocks of the spatial hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from experiments.features.codebook import Codebook
from experiments.features.patches import Patches, join_patches
from experiments.features.spatial_hierarchy import N_BLOCKS, block_histograms

__all__ = ["VisualWords"]

_IMAGES_AT_ONCE = 256


class VisualWords(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a codebook from training images, and count its words in all blocks of any image.

    The counts are left as they are, as Wu and Rehg do. So an image with more pixels has larger
    ones; see `normalize`.

    Parameters
    ----------
    n_words : int
        Size of the codebook.
    max_patches, max_iter : int
        See `Codebook`.
    normalize : bool
        Divide the counts of a block by their sum.
    random_state : int, RandomState or None
        See `Codebook`.
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
        max_patches: int = 100_000,
        max_iter: int = 30,
        normalize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.n_words = n_words
        self.max_patches = max_patches
        self.max_iter = max_iter
        self.normalize = normalize
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
        self.codebook_ = Codebook(
            self.n_words,
            max_patches=self.max_patches,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(join_patches(list(X)))
        return self

    def transform(self, X: Iterable[Patches]) -> NDArray[np.uint16] | NDArray[np.float32]:
        """Count the words.

        Parameters
        ----------
        X : array of Patches
            Images.

        Returns
        -------
        array of shape (n_images, 31 * n_words)
            uint16 counts, or float32 shares where normalised; block after block.
        """
        check_is_fitted(self, "codebook_")
        images = list(X)
        counts = np.empty((len(images), N_BLOCKS, self.n_words), dtype=np.uint16)
        for row, (patches, words) in enumerate(self._words(images)):
            counts[row] = block_histograms(patches, words, self.n_words)
        if not self.normalize:
            return counts.reshape(len(images), -1)
        shares = counts / np.maximum(counts.sum(axis=2, dtype=np.float32, keepdims=True), 1)
        return shares.reshape(len(images), -1)

    def _words(self, images: list[Patches]) -> Iterator[tuple[Patches, NDArray[np.int64]]]:
        """Yield each image with the words of its patches; many images make one product."""
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            some = images[start : start + _IMAGES_AT_ONCE]
            words = self.codebook_.predict(join_patches(some))
            ends = np.cumsum([len(image) for image in some])[:-1]
            yield from zip(some, np.split(words, ends), strict=True)
