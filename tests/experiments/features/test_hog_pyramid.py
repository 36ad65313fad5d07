import numpy as np
import pytest
from skimage.feature import hog
from sklearn.base import clone
from sklearn.datasets import load_digits, load_sample_image
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from experiments.features.deskew import Deskew
from experiments.features.hog_pyramid import HogPyramid
from experiments.features.orientation import orientation_votes
from experiments.features.resize import Resize

PLAIN = {"sigma": None, "signed": False, "interpolate": False}  # as scikit-image counts


@pytest.fixture(scope="module")
def patches():
    """Pieces of two photographs in a flat frame, so that no gradient meets the border.

    A little noise, because whole numbers have too many gradients just where two bins meet.
    """
    photographs = [load_sample_image(name).mean(axis=2) for name in ("china.jpg", "flower.jpg")]
    pieces = np.array([p[r : r + 28, r : r + 28] for p in photographs for r in (60, 200, 340)])
    pieces += np.random.default_rng(0).random(pieces.shape)
    framed = np.full_like(pieces, 90.0)
    framed[:, 2:-2, 2:-2] = pieces[:, 2:-2, 2:-2]
    return framed


def features(images, **settings):
    """Histograms as images x blocks x bins."""
    transformer = HogPyramid(**settings)
    found = transformer.fit_transform(images)
    return found.reshape(len(images), len(transformer.blocks_), -1)


@pytest.mark.parametrize("norm", ["l1", "l2", "l2-hys"])
@pytest.mark.parametrize("size", [4, 7, 14])
def test_equals_scikit_image_with_one_cell_a_block(patches, norm, size):
    rule = {"l1": "L1", "l2": "L2", "l2-hys": "L2-Hys"}[norm]
    half, whole = (size + 1) // 2, 28 // size
    for image, ours in zip(
        patches, features(patches, blocks=[size], norm=norm, **PLAIN), strict=True
    ):
        theirs = []
        for down, right in ((0, 0), (0, half), (half, 0)):
            # Cells begin at the corner, so what lies above and left is filled up to a whole one.
            framed = np.pad(image, ((-down % size, 0), (-right % size, 0)), mode="edge")
            cells = hog(framed, 12, (size, size), (1, 1), rule, feature_vector=False)[:, :, 0, 0]
            above, before = int(down > 0), int(right > 0)
            theirs.append(cells[above:whole, before:whole].reshape(-1, 12))
        np.testing.assert_allclose(ours, np.concatenate(theirs), atol=1e-4)


def test_unscaled_histograms_by_brute_force(patches):
    images = patches[:2, :12, :10]
    transformer = HogPyramid((3, 5), 6, norm=None, **PLAIN).fit(images)
    ours = transformer.transform(images).reshape(2, -1, 6)
    for image, histograms in zip(images, ours, strict=True):
        framed = np.pad(image, 1, mode="edge")
        down = (framed[2:, 1:-1] - framed[:-2, 1:-1]) / 2
        right = (framed[1:-1, 2:] - framed[1:-1, :-2]) / 2
        angle = np.rad2deg(np.arctan2(down, right)) % 180
        for (size, row, column), histogram in zip(transformer.blocks_, histograms, strict=True):
            inside = slice(row, row + size), slice(column, column + size)
            length = np.hypot(down[inside], right[inside])
            expected = np.histogram(angle[inside], np.arange(0, 181, 30), weights=length)[0]
            np.testing.assert_allclose(histogram, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("signed", "turn"), [(True, 2 * np.pi), (False, np.pi)])
def test_shared_votes_by_brute_force(signed, turn):
    down, right = np.random.default_rng(3).standard_normal((2, 2, 5, 4)).astype(np.float32)
    down[0, 0] = [0, 1, 0, -1]  # along the axes, where bins meet
    right[0, 0] = [1, 0, -1, 0]
    votes = orientation_votes(down, right, 8, signed=signed, interpolate=True)
    bin_width = turn / 8
    middles = (np.arange(8) + 0.5) * bin_width
    for m, r, c in np.ndindex(2, 5, 4):
        angle = np.arctan2(down[m, r, c], right[m, r, c])
        apart = np.abs((middles - angle + turn / 2) % turn - turn / 2)
        expected = np.clip(1 - apart / bin_width, 0, None) * np.hypot(down[m, r, c], right[m, r, c])
        np.testing.assert_allclose(votes[m, :, r * 4 + c], expected, atol=1e-5)


def test_a_signed_vote_knows_dark_from_light(patches):
    negative = 255 - patches
    unsigned = features(patches, norm=None, signed=False)
    np.testing.assert_allclose(features(negative, norm=None, signed=False), unsigned, atol=0.05)
    signed = features(patches, norm=None)
    turned = np.roll(features(negative, norm=None), 6, axis=-1)
    np.testing.assert_allclose(turned, signed, atol=0.05)


def test_has_the_papers_number_of_features_and_a_name_for_each():
    transformer = HogPyramid().fit(np.zeros((1, 28, 28), dtype=np.uint8))
    names = transformer.get_feature_names_out()
    assert len(names) == len(set(names)) == 2172
    assert names[13] == "hog4_row0_column4_bin1"
    assert names[-1] == "hog14_row7_column14_bin11"


def test_contrast_does_not_matter_but_where_nothing_is_scaled(patches):
    for norm in ("image", "l1", "l2", "l2-hys"):
        once, twice = features(patches, norm=norm), features(2 * patches, norm=norm)
        np.testing.assert_allclose(once, twice, atol=1e-5)
    once, twice = features(patches, norm=None), features(2 * patches, norm=None)
    np.testing.assert_allclose(2 * once, twice, rtol=1e-4, atol=1e-2)


def test_an_empty_image_has_empty_histograms():
    for norm in ("image", "l1", "l2", "l2-hys", None):
        assert not features(np.zeros((2, 28, 28), dtype=np.uint8), norm=norm).any()


def test_batches_join_without_a_seam_and_leave_the_input_alone(patches, monkeypatch):
    images = patches.astype(np.float32)
    before = images.copy()
    whole = features(images)
    assert whole.dtype == np.float32
    monkeypatch.setattr("experiments.features.images.BATCH", 4)
    np.testing.assert_allclose(features(images), whole, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(images, before)


def test_serves_in_a_pipeline_better_than_pixels():
    images, y = load_digits().images[:500], load_digits().target[:500]
    chain = make_pipeline(Resize(), Deskew(), HogPyramid(), DecisionTreeClassifier(random_state=0))
    accuracy = chain.fit(images[:300], y[:300]).score(images[300:], y[300:])
    pixels = DecisionTreeClassifier(random_state=0).fit(images[:300].reshape(300, -1), y[:300])
    assert accuracy > pixels.score(images[300:].reshape(200, -1), y[300:])
    assert clone(chain).get_params()["hogpyramid__orientations"] == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": ()}, "blocks must be integer numbers of pixels"),
        ({"blocks": (4, 29)}, "the smaller side of the images, 28"),
        ({"orientations": 1}, "orientations must be an integer of at least 2"),
        ({"sigma": 0.0}, "sigma must be a positive number or None"),
        ({"norm": "max"}, "norm must be one of"),
    ],
)
def test_refuses_settings_that_make_no_histograms(settings, message):
    with pytest.raises(ValueError, match=message):
        HogPyramid(**settings).fit(np.zeros((1, 28, 28)))


def test_refuses_images_of_another_size():
    transformer = HogPyramid()
    with pytest.raises(NotFittedError):
        transformer.transform(np.zeros((1, 28, 28)))
    transformer.fit(np.zeros((1, 28, 28)))
    with pytest.raises(ValueError, match=r"28 x 28 pixels.*got 20 x 28.*Resize"):
        transformer.transform(np.zeros((1, 20, 28)))
    with pytest.raises(ValueError, match="stack of grey images"):
        transformer.transform(np.zeros((28, 28)))
