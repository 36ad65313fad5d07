import numpy as np
import pytest
from scipy import ndimage
from skimage.measure import moments_central
from sklearn.base import clone
from sklearn.datasets import load_digits
from support import shared_file

from experiments.features.deskew import Deskew


@pytest.fixture(scope="module")
def digits():
    return load_digits().images.astype(np.uint8)[:60]


def leaning(slope, height=24, width=28):
    """A bar that moves right by `slope` pixels a row, with soft edges."""
    rows = np.arange(height)[:, None]
    middle = width / 2 + slope * (rows - height / 2)
    bar = np.clip(2.5 - np.abs(np.arange(width) - middle), 0, 1)
    bar[:4] = bar[-4:] = 0
    return bar


def slope_of(image):
    central = moments_central(image)
    return central[1, 1] / central[2, 0]


def by_scipy(image):
    """One image at a time, by an affine map whose slope comes from scikit-image's moments."""
    slope = slope_of(image)
    centre = ndimage.center_of_mass(image)[0]
    return ndimage.affine_transform(
        image.astype(float),
        np.array([[1.0, 0.0], [slope, 1.0]]),
        offset=[0.0, -slope * centre],
        order=1,
        mode="grid-constant",
    )


def test_equals_an_affine_map_image_by_image(digits):
    upright = Deskew().fit_transform(digits)
    assert upright.dtype == np.float32
    assert upright.shape == digits.shape
    np.testing.assert_allclose(upright, [by_scipy(d) for d in digits], atol=2e-5)


@pytest.mark.parametrize("slope", [-0.5, -0.2, 0.3])
def test_a_leaning_bar_stands_upright(slope):
    bar = leaning(slope)
    upright = Deskew().fit_transform(bar[None])[0]
    assert slope_of(bar) == pytest.approx(slope, rel=0.05)
    assert slope_of(upright.astype(float)) == pytest.approx(0, abs=0.01)
    assert upright.sum() == pytest.approx(bar.sum(), rel=1e-5)
    centres = ndimage.center_of_mass(upright), ndimage.center_of_mass(bar)
    np.testing.assert_allclose(*centres, atol=1e-4)


def test_digits_of_a_class_come_to_look_alike():
    with shared_file("mnist") as held:
        images, y = held["X"][:400].astype(float), held["y"][:400]
    upright = Deskew().fit_transform(images)

    def scatter(stack):
        return sum(np.var(stack[y == digit], axis=0).sum() for digit in range(10))

    assert scatter(upright) < 0.92 * scatter(images)


def test_leaves_alone_what_has_no_slope():
    images = np.zeros((3, 9, 7), dtype=np.uint8)
    images[1, 4, 2:6] = 200  # one row only: the rows do not vary
    images[2, 1:8, 3] = 90  # upright already
    np.testing.assert_array_equal(Deskew().fit_transform(images), images)


def test_batches_join_without_a_seam(digits, monkeypatch):
    whole = Deskew().fit_transform(digits)
    monkeypatch.setattr("experiments.features.images.BATCH", 7)
    np.testing.assert_array_equal(Deskew().fit_transform(digits), whole)


def test_does_not_write_into_its_input(digits):
    images = digits.astype(np.float32)
    before = images.copy()
    Deskew().fit_transform(images)
    np.testing.assert_array_equal(images, before)


def test_refuses_what_is_no_stack_of_masses(digits):
    with pytest.raises(ValueError, match=r"stack of grey images.*shape \(60, 64\)"):
        Deskew().fit(digits.reshape(60, -1))
    with pytest.raises(ValueError, match="no negative pixels"):
        Deskew().transform(digits.astype(float) - 1)
    with pytest.raises(ValueError, match="NaN"):
        Deskew().fit(np.full((1, 4, 4), np.nan))
    with pytest.raises(ValueError, match="at least one pixel"):
        Deskew().fit(np.zeros((2, 0, 4)))
    assert clone(Deskew()).get_params() == {}
