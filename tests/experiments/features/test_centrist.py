"""CENTRIST descriptors of dense patches, against a loop over the patches."""

import numpy as np
import pytest
from sklearn.datasets import load_sample_image

from experiments.features.census import census_transform
from experiments.features.centrist import centrist
from experiments.features.patches import join_patches


@pytest.fixture(scope="module")
def china():
    return load_sample_image("china.jpg")[:75, :62, 1]


def by_loop(image, size, step):
    census = census_transform(image)
    found = []
    for i in range(0, census.shape[0] - size + 1, step):
        for j in range(0, census.shape[1] - size + 1, step):
            counts = np.bincount(census[i : i + size, j : j + size].ravel(), minlength=256)
            variance = image[i + 1 : i + 1 + size, j + 1 : j + 1 + size].var()
            centre = (1 + i + size / 2) / image.shape[0], (1 + j + size / 2) / image.shape[1]
            found.append((counts, variance, centre))
    return found


@pytest.mark.parametrize(("size", "step"), [(16, 8), (16, 4), (16, 16), (8, 2), (9, 3)])
def test_against_a_loop(china, size, step):
    patches = centrist(china, size, step, level=2)
    expected = by_loop(china, size, step)
    assert np.array_equal(patches.histograms(), [counts for counts, _, _ in expected])
    centres = np.column_stack([patches.row, patches.column])
    assert centres == pytest.approx(np.array([centre for _, _, centre in expected]), abs=1e-6)
    assert (patches.level == 2).all()


def test_leaves_out_patches_that_hardly_vary(china):
    expected = by_loop(china, 16, 8)
    bound = float(np.median([variance for _, variance, _ in expected]))
    patches = centrist(china, 16, 8, min_variance=bound + 1e-6)
    rest = [counts for counts, variance, _ in expected if variance > bound + 1e-6]
    assert 0 < len(rest) < len(expected)
    assert np.array_equal(patches.histograms(), rest)


def test_a_flat_patch_fills_one_bin_to_the_brim():
    patches = centrist(np.zeros((18, 18), dtype=np.uint8))
    assert patches.codes.tolist() == [65535]
    assert patches.histograms()[0, 255] == 256


def test_patches_can_be_joined_and_taken(china):
    one, two = centrist(china, 16, 8), centrist(china.T, 16, 4, level=1)
    both = join_patches([one, two])
    whole = np.concatenate([one.histograms(), two.histograms()])
    assert len(both) == len(one) + len(two)
    assert np.array_equal(both.histograms(), whole)
    chosen = np.random.default_rng(0).permutation(len(both))[:20]
    taken = both.take(chosen)
    assert np.array_equal(taken.histograms(), whole[chosen])
    assert np.array_equal(taken.level, both.level[chosen])
    assert np.array_equal(taken.row, both.row[chosen])


@pytest.mark.parametrize(("size", "step"), [(16, 5), (16, 0), (32, 8), (4, 8)])
def test_says_which_patches_there_can_be(china, size, step):
    with pytest.raises(ValueError, match="patch_size must be a multiple of step"):
        centrist(china, size, step)


def test_says_that_an_image_is_too_small(china):
    with pytest.raises(ValueError, match="must have room for a patch of 16 x 16"):
        centrist(china[:17])
