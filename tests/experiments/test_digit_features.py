import numpy as np
import pytest
from sklearn.datasets import load_digits

from experiments.digit_features import FEATURES, digit_pipeline, digit_split


def test_makes_the_papers_number_of_features():
    images = load_digits().images[:2]
    pipeline = digit_pipeline()
    assert pipeline.fit_transform(images).shape == (2, 2172)
    assert len(pipeline[-1].get_feature_names_out()) == 2172


@pytest.mark.parametrize("name", FEATURES)
def test_every_kind_of_features_has_the_same_blocks(name):
    images = load_digits().images[:2]
    made = digit_pipeline(name).fit_transform(images)
    assert made.shape == (2, 2172)
    own = digit_pipeline().fit_transform(images)
    assert np.array_equal(made, own) == (name == "own")


@pytest.fixture(scope="module")
def split():
    return digit_split("digits", 120, seed=3, blocks=(14,))


def test_draws_training_rows_and_tests_on_a_quarter(split):
    assert split.X.shape == (120, 96)
    assert len(split.y) == 120
    assert len(split.X_test) == len(split.y_test) == 450
    counts = np.bincount(split.y_test)
    assert counts.max() - counts.min() <= 4  # stratified


def test_the_same_seed_draws_the_same(split):
    digit_split.cache_clear()
    again = digit_split("digits", 120, seed=3, blocks=(14,))
    for first, second in zip(split, again, strict=True):
        np.testing.assert_array_equal(first, second)


def test_features_go_with_their_labels(split):
    centres = np.array([split.X[split.y == digit].mean(axis=0) for digit in range(10)])
    away = ((split.X_test[:, None] - centres) ** 2).sum(axis=2)
    assert np.mean(away.argmin(axis=1) == split.y_test) > 0.85
