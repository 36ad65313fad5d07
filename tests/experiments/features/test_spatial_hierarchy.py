"""The spatial hierarchy: sizes, blocks and counts."""

import numpy as np
import pytest
from joblib import parallel_config
from skimage.filters import sobel
from sklearn.base import clone
from sklearn.datasets import load_sample_image

from experiments.features.centrist import centrist
from experiments.features.codebook import Codebook
from experiments.features.patches import join_patches
from experiments.features.spatial_hierarchy import N_BLOCKS, SpatialHierarchy, block_histograms
from experiments.features.visual_words import VisualWords, block_shares


@pytest.fixture(scope="module")
def images():
    china, flower = (load_sample_image(f"{name}.jpg")[..., 1] for name in ("china", "flower"))
    return [china[:90, :120], flower[:80, :100], china[-100:, -85:]]


@pytest.fixture(scope="module")
def described(images):
    return SpatialHierarchy(step=8).transform(images)


def test_blocks_are_the_papers():
    assert N_BLOCKS == 31


def test_the_finest_level_is_the_image_itself(images, described):
    for image, patches in zip(images, described, strict=True):
        finest = patches.take(np.flatnonzero(patches.level == 2))
        assert np.array_equal(finest.histograms(), centrist(image, step=8).histograms())


def test_levels_have_a_quarter_of_the_pixels_of_the_next():
    (patches,) = SpatialHierarchy(step=16).transform([np.zeros((16 * 16 + 8, 12 * 16 + 8))])
    assert np.bincount(patches.level).tolist() == [4 * 3, 8 * 6, 16 * 12]


def test_a_gradient_can_take_the_place_of_gray_values(images):
    (patches,) = SpatialHierarchy(step=8, use_sobel=True).transform(images[:1])
    finest = patches.take(np.flatnonzero(patches.level == 2))
    expected = centrist(sobel(images[0].astype(float)), step=8)
    assert np.array_equal(finest.histograms(), expected.histograms())


def test_leaves_out_flat_patches_at_all_levels(images):
    image = images[0].copy()
    image[:, :60] = 9
    (patches,) = SpatialHierarchy(min_variance=5.0).transform([image])
    assert set(patches.level) == {0, 1, 2}
    assert patches.column[patches.level == 2].min() > 0.4


def test_jobs_change_nothing(images, described):
    with parallel_config("threading"):  # processes take seconds to start
        again = SpatialHierarchy(step=8, n_jobs=2).transform(images)
    for one, two in zip(described, again, strict=True):
        assert np.array_equal(one.codes, two.codes)
        assert np.array_equal(one.offsets, two.offsets)


def test_counts_by_a_loop_over_blocks(described):
    patches = described[0]
    words = np.random.default_rng(0).integers(0, 7, len(patches))
    expected = []
    for level, side in enumerate((1, 2, 4)):
        for shift, blocks in ((0, side), (0.5, side - 1)):
            for i in range(blocks):
                for j in range(blocks):
                    inside = (
                        (patches.level == level)
                        & (patches.row >= (i + shift) / side)
                        & (patches.row < (i + shift + 1) / side)
                        & (patches.column >= (j + shift) / side)
                        & (patches.column < (j + shift + 1) / side)
                    )
                    expected.append(np.bincount(words[inside], minlength=7))
    counts = block_histograms(patches, words, 7)
    assert np.array_equal(counts, expected)
    # The blocks that tile a level hold all its patches.
    assert counts[0].sum() == np.sum(patches.level == 0)
    assert counts[1:5].sum() == np.sum(patches.level == 1)
    assert counts[6:22].sum() == np.sum(patches.level == 2)


def test_visual_words_count_what_the_codebook_says(described):
    words = VisualWords(6, random_state=0).fit(described[:2])
    X = words.transform(described)
    assert X.shape == (3, 31 * 6)
    for row, patches in zip(X, described, strict=True):
        expected = block_histograms(patches, words.codebook_.predict(patches), 6)
        assert np.array_equal(row, expected.ravel())


def test_visual_words_are_learnt_from_some_patches(described):
    chosen = []

    class Listening(np.random.RandomState):
        def choice(self, *given, **named):
            chosen.append(super().choice(*given, **named))
            return chosen[-1]

    words = VisualWords(6, max_patches=50, max_iter=4, random_state=Listening(0)).fit(described)
    drawn, first = chosen
    assert len(drawn) == 50
    some = join_patches(list(described)).take(np.sort(drawn))
    again = Codebook(6, max_iter=4, random_state=0)
    again.random_state = type(
        "Fixed", (np.random.RandomState,), {"choice": lambda *_, **__: first}
    )(0)
    assert np.array_equal(again.fit(some).table_, words.codebook_.table_)


def test_visual_words_as_shares(described):
    counts = VisualWords(6, random_state=0).fit_transform(described)
    shares = block_shares(counts)
    blocks = counts.reshape(3, 31, 6).astype(float)
    expected = blocks / np.maximum(blocks.sum(axis=2, keepdims=True), 1)
    assert shares.dtype == np.float32
    assert shares == pytest.approx(expected.reshape(3, -1), abs=1e-6)


def test_can_be_cloned():
    words = VisualWords(9, max_patches=50, max_iter=2, random_state=1, n_jobs=2)
    assert clone(words).get_params() == words.get_params()
    assert clone(SpatialHierarchy(8, 4)).get_params()["step"] == 4
