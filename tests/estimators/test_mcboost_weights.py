"""Weights and repetitions of rows, and the order of classes, in MCBoostClassifier."""

import numpy as np
import pytest
from sklearn.base import clone
from support import BOTH_LOSSES, assert_same_model, embedded, random_problem

from marginboost import MCBoostClassifier
from marginboost.data.grouping import MOST_REPETITIONS

DEPTHS = pytest.mark.parametrize("depth", [1, 2])


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
@DEPTHS
@BOTH_LOSSES
def test_permuting_the_classes_permutes_the_columns(name, depth, loss):
    X, y = embedded(name)
    new_name = np.random.default_rng(0).permutation(y.max() + 1)
    straight = MCBoostClassifier(30, loss=loss, max_depth=depth).fit(X, y)
    permuted = MCBoostClassifier(30, loss=loss, max_depth=depth).fit(X, new_name[y])
    np.testing.assert_array_equal(straight.ensemble_.feature, permuted.ensemble_.feature)
    np.testing.assert_array_equal(straight.ensemble_.threshold, permuted.ensemble_.threshold)
    np.testing.assert_array_equal(straight.coef_, permuted.coef_[:, new_name])


@pytest.mark.parametrize("max_bins", [None, 8])
@DEPTHS
@BOTH_LOSSES
def test_an_integer_weight_repeats_the_row(noisy, max_bins, depth, loss):
    X, y = noisy
    times = np.random.default_rng(2).integers(0, 4, len(y))
    model = MCBoostClassifier(40, loss=loss, max_depth=depth, max_bins=max_bins)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_model(weighted, repeated)


@DEPTHS
@BOTH_LOSSES
def test_a_row_of_weight_zero_is_absent(noisy, depth, loss):
    X, y = noisy
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    weight[::3] = 0
    kept = weight > 0
    model = MCBoostClassifier(40, loss=loss, max_depth=depth)
    with_zeros = clone(model).fit(X, y, sample_weight=weight)
    without = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_same_model(with_zeros, without)


@BOTH_LOSSES
def test_weights_of_one_are_no_weights(noisy, loss):
    model = MCBoostClassifier(30, loss=loss)
    assert_same_model(
        clone(model).fit(*noisy), clone(model).fit(*noisy, sample_weight=np.ones(len(noisy[1])))
    )


def test_a_class_of_weight_zero_is_never_predicted(noisy):
    X, y = noisy
    weight = (y != 1).astype(float)
    model = MCBoostClassifier(40).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert not (model.predict(X) == 1).any()
    assert np.isfinite(model.coef_).all()
    without = MCBoostClassifier(40).fit(X[y != 1], y[y != 1])
    assert model.score(X[y != 1], y[y != 1]) > without.score(X[y != 1], y[y != 1]) - 0.05


@pytest.mark.parametrize("factor", [0.3, 2.0**-70, 1e6])
def test_the_scale_of_weights_does_not_matter_for_the_exponential_loss(noisy, factor):
    X, y = noisy
    weight = np.random.default_rng(4).uniform(0.5, 2, len(y))
    model = MCBoostClassifier(40).fit(X, y, sample_weight=weight)
    scaled = MCBoostClassifier(40).fit(X, y, sample_weight=weight * factor)
    np.testing.assert_array_equal(model.ensemble_.feature, scaled.ensemble_.feature)
    np.testing.assert_array_equal(model.ensemble_.threshold, scaled.ensemble_.threshold)
    np.testing.assert_allclose(model.coef_, scaled.coef_, atol=1e-7)
    if factor == 2.0**-70:  # a power of two rounds nothing
        assert_same_model(model, scaled)


@DEPTHS
@BOTH_LOSSES
def test_large_integer_weights_are_close_to_repetition(noisy, depth, loss):
    """Beyond `MOST_REPETITIONS` in all they count as real numbers; the model is the same then."""
    X, y = noisy
    times = np.random.default_rng(5).integers(1, 4, len(y))
    small = MCBoostClassifier(20, loss="exponential", max_depth=depth)
    large = clone(small).fit(X, y, sample_weight=times * MOST_REPETITIONS)
    small.fit(X, y, sample_weight=times)
    np.testing.assert_allclose(small.coef_, large.coef_, atol=1e-6)


@BOTH_LOSSES
def test_class_weight_is_a_factor_on_the_rows(noisy, loss):
    X, y = noisy
    factors = {0: 0.5, 1: 2.25, 2: 1.0}
    by_class = MCBoostClassifier(30, loss=loss, class_weight=factors).fit(X, y)
    by_row = MCBoostClassifier(30, loss=loss).fit(
        X, y, sample_weight=np.array([factors[label] for label in y])
    )
    assert_same_model(by_class, by_row)


def test_balanced_class_weight(noisy):
    X, y = noisy
    rare = np.flatnonzero(y == 1)[9:]  # leaves nine rows of this class
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    balanced = MCBoostClassifier(30, class_weight="balanced").fit(X, y)
    factors = len(y) / (3 * np.bincount(y))
    by_row = MCBoostClassifier(30).fit(X, y, sample_weight=factors[y])
    assert_same_model(balanced, by_row)
    plain = MCBoostClassifier(30).fit(X, y)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_class_weight_and_repetition_together(noisy):
    X, y = noisy
    times = np.random.default_rng(6).integers(1, 4, len(y))
    model = MCBoostClassifier(30, class_weight={0: 0.7, 2: 1.9})
    assert_same_model(
        clone(model).fit(X, y, sample_weight=times),
        clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times)),
        cover_rtol=1e-12,  # weights that are not whole, added up one by one
    )
