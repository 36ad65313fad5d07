"""A codebook by k-means in the feature space of the histogram intersection kernel."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from experiments.features.patches import N_CODES, Patches

__all__ = ["Codebook"]

_CHUNK = 8192  # patches per product: 200 words of float32 are about 6 MB


class Codebook(BaseEstimator):  # type: ignore[misc]
    r"""Visual words: k-means of histograms under the intersection kernel.

    The kernel :math:`\kappa(x, z) = \sum_j \min(x_j, z_j)` of histograms with whole counts is
    the inner product of unary codes: bin j becomes ones up to :math:`x_j`, then zeros. So a
    centre, the mean of its members in feature space, is the share of members with
    :math:`z_j \ge t`, for every bin j and count t, and

    .. math::

        \|\phi(x) - m\|^2 = \kappa(x, x) - 2 \sum_j \sum_{t \le x_j} m_{jt} + \|m\|^2 .

    The inner sum is a table with one entry per bin and count (Wu and Rehg 2009). Only bins that
    are not empty are looked up. The means are exact; no kernel matrix is formed.

    Parameters
    ----------
    n_words : int
        Number of centres.
    max_iter : int
        Passes over the patches at most; fewer once no patch changes its word.
    random_state : int, RandomState or None
        For the first centres: patches, drawn without repetition.
    n_jobs : int
        Number of threads.

    Attributes
    ----------
    table_ : float32 array of shape (65536, n_words)
        Inner products of a code, see `Patches`, with every centre.
    norms_ : float32 array of n_words
        Squared length of every centre.
    inertia_ : float
        Mean squared distance of the patches to their centres, at the last pass.
    n_iter_ : int
        Number of passes.
    """

    def __init__(
        self,
        n_words: int = 200,
        *,
        max_iter: int = 20,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.n_words = n_words
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Patches, y: object = None) -> Codebook:
        """Find the words.

        Parameters
        ----------
        X : Patches
            Of training images only.
        y : ignored

        Returns
        -------
        Codebook
            Itself.
        """
        rng = check_random_state(self.random_state)
        if len(X) < self.n_words:
            raise ValueError(
                f"there must be at least n_words={self.n_words} patches to fit on, got {len(X)}; "
                "use fewer words."
            )
        own = _sums(X)
        first = rng.choice(len(X), self.n_words, replace=False)
        self._centre(X.take(first), np.arange(self.n_words))
        words = np.full(len(X), -1)
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            before = words
            words, distances = self._nearest(X)
            distances += own
            self.inertia_ = float(distances.mean())
            if np.array_equal(words, before):
                break
            _refill(words, distances, self.n_words)
            self._centre(X, words)
        return self

    def predict(self, X: Patches) -> NDArray[np.int64]:
        """Return the number of the nearest word of every patch.

        Parameters
        ----------
        X : Patches

        Returns
        -------
        int64 array of n_patches
        """
        check_is_fitted(self, "table_")
        return self._nearest(X)[0]

    def _centre(self, X: Patches, words: NDArray[np.int64]) -> None:
        """Put every centre at the mean of its members."""
        word = np.repeat(words, np.diff(X.offsets))
        places = word * N_CODES + X.codes
        counts = np.bincount(places, minlength=self.n_words * N_CODES)
        members = np.bincount(words, minlength=self.n_words)
        # Integers up to 2**24 are exact in float32.
        means = counts.astype(np.float32).reshape(self.n_words, 256, 256)
        # From "equal to t" to "at least t", and from that to the sum over all t up to a count.
        np.cumsum(means[:, :, ::-1], axis=2, out=means[:, :, ::-1])
        means /= members[:, None, None].astype(np.float32)
        self.norms_ = np.einsum("wjt,wjt->w", means, means)
        np.cumsum(means, axis=2, out=means)
        self.table_ = np.ascontiguousarray(means.reshape(self.n_words, N_CODES).T)

    def _nearest(self, X: Patches) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the nearest words, and the distances less what does not depend on the word."""

        def nearest(chunk: slice) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
            offsets = X.offsets[chunk.start : chunk.stop + 1]
            codes = X.codes[offsets[0] : offsets[-1]].astype(np.int32)
            ones = np.ones(len(codes), dtype=np.float32)
            rows = csr_matrix(
                (ones, codes, (offsets - offsets[0]).astype(np.int32)),
                shape=(len(offsets) - 1, N_CODES),
            )
            distances = self.norms_ - 2 * (rows @ self.table_)
            words = distances.argmin(axis=1)
            return words, distances[np.arange(len(words)), words]

        # The product releases the interpreter's lock.
        with ThreadPoolExecutor(self.n_jobs) as pool:
            found = list(pool.map(nearest, _chunks(len(X))))
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        words, distances = zip(*found, strict=True)
        return np.concatenate(words), np.concatenate(distances)


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))


def _sums(X: Patches) -> NDArray[np.int64]:
    """Return the number of pixels of every patch: its kernel value with itself."""
    total = np.concatenate([[0], np.cumsum((X.codes & 255) + np.int64(1))])
    return np.diff(total[X.offsets])


def _refill(words: NDArray[np.int64], distances: NDArray[np.float32], n_words: int) -> None:
    """Assign the patches that are farthest from their centres to words without any."""
    members = np.bincount(words, minlength=n_words)
    farthest = iter(np.argsort(-distances, kind="stable"))
    for word in np.flatnonzero(members == 0):
        patch = next(p for p in farthest if members[words[p]] > 1)
        members[words[patch]] -= 1
        members[word] = 1
        words[patch] = word
