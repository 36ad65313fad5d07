"""The census transform, against scikit-image's local binary patterns."""

import numpy as np
import pytest
from skimage.color import rgb2gray
from skimage.feature import local_binary_pattern
from sklearn.datasets import load_sample_image

from experiments.features.census import census_transform


@pytest.fixture(scope="module")
def china():
    return np.rint(255 * rgb2gray(load_sample_image("china.jpg")[:120, :160])).astype(np.uint8)


def test_on_paper():
    image = np.array([[9, 5, 1], [5, 5, 6], [4, 7, 2]])
    # At least as bright as: 9 no, 5 yes, 1 yes, 5 yes, 6 no, 4 yes, 7 no, 2 yes.
    assert census_transform(image).tolist() == [[0b01110101]]


def test_is_a_local_binary_pattern_with_other_bits(china):
    # The pattern asks whether the neighbour is at least as bright: so gray values are negated.
    # A circle of radius 1 meets the four straight neighbours, one of radius sqrt(2) the others.
    straight = local_binary_pattern(255 - china, P=4, R=1).astype(int)[1:-1, 1:-1]
    around = local_binary_pattern(255 - china, P=8, R=2**0.5).astype(int)[2:-2, 2:-2]
    census = census_transform(china).astype(int)
    # Counter-clockwise from the right; our bits run from the upper left, the highest first.
    for bit, place in enumerate([3, 6, 4, 1]):
        assert np.array_equal(straight >> bit & 1, census >> place & 1)
    for bit, place in zip([1, 3, 5, 7], [5, 7, 2, 0], strict=True):
        assert np.array_equal(around >> bit & 1, census[1:-1, 1:-1] >> place & 1)


def test_every_bit_against_a_loop(china):
    image = china[:12, :17]
    census = census_transform(image)
    for i, j in np.ndindex(census.shape):
        bits = [
            image[i + 1, j + 1] >= image[i + a, j + b]
            for a in range(3)
            for b in range(3)
            if (a, b) != (1, 1)
        ]
        assert census[i, j] == int("".join(str(int(bit)) for bit in bits), 2)


def test_flat_regions_have_all_bits():
    assert (census_transform(np.full((4, 5), 7)) == 255).all()


@pytest.mark.parametrize("shape", [(5, 5, 3), (2, 9), (25,)])
def test_says_what_an_image_must_be(shape):
    with pytest.raises(ValueError, match="must be gray"):
        census_transform(np.zeros(shape))
