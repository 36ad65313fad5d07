"""k-means under the intersection kernel, against kernel matrices."""

import numpy as np
import pytest
from sklearn.datasets import load_sample_image
from sklearn.exceptions import NotFittedError

from experiments.features.centrist import centrist
from experiments.features.codebook import Codebook
from experiments.features.histogram_intersection import histogram_intersection


@pytest.fixture(scope="module")
def patches():
    return centrist(load_sample_image("china.jpg")[:110, :150, 1])


def squared_distances(histograms, words, n_words):
    """Of all patches to the means of all words in feature space, by the kernel trick."""
    kernel = histogram_intersection(histograms, histograms)
    share = np.eye(n_words)[:, words]
    share /= share.sum(axis=1, keepdims=True)
    within = np.einsum("wa,ab,wb->w", share, kernel, share)
    return np.diag(kernel)[:, None] - 2 * kernel @ share.T + within


def test_a_fit_that_ended_is_a_fixed_point_of_kernel_k_means(patches):
    codebook = Codebook(8, max_iter=100, random_state=1).fit(patches)
    assert codebook.n_iter_ < 100
    words = codebook.predict(patches)
    distances = squared_distances(patches.histograms(), words, 8)
    assert np.array_equal(words, distances.argmin(axis=1))
    assert codebook.inertia_ == pytest.approx(distances.min(axis=1).mean(), rel=1e-5)


def test_words_of_other_patches(patches):
    codebook = Codebook(5, max_iter=100, random_state=0).fit(patches)
    words = codebook.predict(patches)
    other = centrist(load_sample_image("flower.jpg")[:60, :80, 1])
    kernel = histogram_intersection(other.histograms(), patches.histograms())
    own = histogram_intersection(patches.histograms(), patches.histograms())
    share = np.eye(5)[:, words]
    share /= share.sum(axis=1, keepdims=True)
    near = -2 * kernel @ share.T + np.einsum("wa,ab,wb->w", share, own, share)
    assert np.array_equal(codebook.predict(other), near.argmin(axis=1))


def test_more_passes_lessen_the_inertia(patches):
    inertia = [Codebook(10, max_iter=n, random_state=0).fit(patches).inertia_ for n in (1, 3, 9)]
    assert inertia == sorted(inertia, reverse=True)
    assert inertia[0] > inertia[-1]


def test_every_patch_can_be_a_word_of_its_own(patches):
    few = patches.take(np.arange(12))
    codebook = Codebook(12, random_state=0).fit(few)
    assert sorted(codebook.predict(few)) == list(range(12))
    assert codebook.inertia_ == pytest.approx(0.0, abs=1e-3)


def test_no_word_stays_without_patches(patches):
    # Twins among the first centres leave words empty.
    few = patches.take(np.repeat(np.arange(12), 4))
    codebook = Codebook(12, random_state=0, max_iter=100).fit(few)
    assert len(np.unique(codebook.predict(few))) == 12


def test_the_seed_decides_and_threads_do_not(patches):
    one = Codebook(6, random_state=3).fit(patches)
    two = Codebook(6, random_state=3, n_jobs=2).fit(patches)
    other = Codebook(6, random_state=4).fit(patches)
    assert np.array_equal(one.table_, two.table_)
    assert not np.array_equal(one.table_, other.table_)


def test_says_that_there_are_too_few_patches(patches):
    with pytest.raises(ValueError, match="at least n_words=10000 patches"):
        Codebook(10_000).fit(patches)


def test_must_be_fitted(patches):
    with pytest.raises(NotFittedError):
        Codebook().predict(patches)
