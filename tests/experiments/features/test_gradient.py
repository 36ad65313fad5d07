import numpy as np
import pytest
from scipy import ndimage

from experiments.features.gradient import gradients, taps


@pytest.mark.parametrize("sigma", [None, 0.5, 2.0, 3.0])
def test_a_ramp_has_its_slope_and_a_constant_none(sigma):
    rows, columns = np.mgrid[:12, :10].astype(np.float32)
    down, right = gradients((3 * rows - 2 * columns + 5)[None], sigma)
    inner = (0, slice(2, -2), slice(2, -2))
    np.testing.assert_allclose(down[inner], 3, rtol=1e-5)
    np.testing.assert_allclose(right[inner], -2, rtol=1e-5)
    for derivative in gradients(np.full((1, 6, 6), 7, dtype=np.float32), sigma):
        np.testing.assert_allclose(derivative, 0, atol=1e-6)


@pytest.mark.parametrize("sigma", [None, 2.0])
def test_equals_scipys_correlation(sigma):
    images = np.random.default_rng(0).random((3, 9, 7), dtype=np.float32)
    difference, smooth = taps(sigma)
    down, right = gradients(images, sigma)
    for image, d, r in zip(images, down, right, strict=True):
        kernel = np.outer(difference, smooth)
        np.testing.assert_allclose(d, ndimage.correlate(image, kernel, mode="nearest"), atol=1e-6)
        np.testing.assert_allclose(r, ndimage.correlate(image, kernel.T, mode="nearest"), atol=1e-6)


def test_a_wider_smoothing_hears_less_noise():
    noise = np.random.default_rng(1).standard_normal((1, 64, 64)).astype(np.float32)
    loud = [np.square(gradients(noise, sigma)[0]).mean() for sigma in (None, 1.0, 3.0)]
    assert loud[0] > loud[1] > loud[2]
