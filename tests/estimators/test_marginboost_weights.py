"""Weights and repetitions of rows in MarginBoostClassifier."""

import numpy as np
import pytest
from sklearn.base import clone
from support import BOTH_LOSSES, noisy_problem
from support import assert_same_margin_boost as assert_same
from support import small_margin_boost as small


@pytest.fixture(scope="module")
def noisy():
    """Three classes that no tree tells apart, values shared by several rows."""
    return noisy_problem(150, 4, 3, n_values=30)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize("max_bins", [255, 8])
@BOTH_LOSSES
def test_an_integer_weight_repeats_the_row(noisy, subsample, max_bins, loss):
    X, y = noisy
    times = np.random.default_rng(2).integers(0, 4, len(y))
    model = small(10, loss=loss, max_bins=max_bins, subsample=subsample)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same(weighted, repeated)


def test_the_order_of_rows_does_not_matter(noisy):
    X, y = noisy
    order = np.random.default_rng(4).permutation(len(y))
    assert_same(small().fit(X, y), small().fit(X[order], y[order]))


def test_a_class_of_weight_zero_is_never_predicted(noisy):
    X, y = noisy
    model = small(30).fit(X, y, sample_weight=(y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert not (model.predict(X) == 1).any()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict_proba(X)[:, 1].max() < 0.2


def test_class_weight_is_a_factor_on_the_rows(noisy):
    X, y = noisy
    factors = {0: 0.5, 1: 2.25, 2: 1.0}
    by_row = small().fit(X, y, sample_weight=np.array([factors[label] for label in y]))
    assert_same(small(class_weight=factors).fit(X, y), by_row)
    balanced = len(y) / (3 * np.bincount(y))
    assert_same(
        small(class_weight="balanced").fit(X, y), small().fit(X, y, sample_weight=balanced[y])
    )
    heavy = small(class_weight={1: 9.0}).fit(X, y)
    assert (heavy.predict(X) == 1).sum() > (small().fit(X, y).predict(X) == 1).sum()


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**-70, 1e6, 2.0**70, 2.0**900])
@BOTH_LOSSES
def test_the_pseudo_count_is_in_units_of_the_mean_weight(noisy, factor, loss):
    X, y = noisy
    weight = np.random.default_rng(4).uniform(0.5, 2, len(y))
    model = small(loss=loss, l2_regularization=0.5).fit(X, y, sample_weight=weight)
    scaled = small(loss=loss, l2_regularization=0.5).fit(X, y, sample_weight=weight * factor)
    if factor == 1e6:
        np.testing.assert_allclose(
            model.decision_function(X), scaled.decision_function(X), rtol=1e-3, atol=1e-3
        )
    else:  # a power of two rounds nothing
        assert_same(model, scaled)


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
@BOTH_LOSSES
def test_weights_of_any_size(noisy, factor, loss):
    X, y = noisy
    model = small(loss=loss, l2_regularization=0.0).fit(X, y, sample_weight=np.full(len(y), factor))
    assert model.n_iter_ == 8
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.7
