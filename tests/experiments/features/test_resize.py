import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from experiments.features.resize import Resize


def test_passes_images_of_the_right_shape_unchanged():
    images = load_digits().images[:3]
    assert Resize((8, 8)).fit_transform(images) is images


def test_resizes_each_image_alone_and_keeps_its_levels():
    images = load_digits().images[:4]
    large = Resize().fit_transform(images)
    assert large.shape == (4, 28, 28)
    assert large.dtype == np.float32
    np.testing.assert_array_equal(large[2:3], Resize().fit_transform(images[2:3]))
    np.testing.assert_allclose(large.mean(axis=(1, 2)), images.mean(axis=(1, 2)), rtol=0.1)
    assert large.max() <= images.max()  # not scaled to 0..1


def test_refuses_a_shape_that_is_none():
    with pytest.raises(ValueError, match="a height and a width of at least one pixel"):
        Resize((28, 0)).fit(np.zeros((1, 4, 4)))
    assert clone(Resize((5, 6))).shape == (5, 6)
