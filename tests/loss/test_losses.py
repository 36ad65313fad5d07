"""Every loss against its formula: the value, its derivative, and the probabilities that it estimates."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from marginboost.loss import LOSSES
from marginboost.loss.softmax import SoftmaxLoss, row_sums

BY_PAIRS = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@BY_PAIRS
def test_the_value_is_the_formula(loss):
    margin = np.linspace(-20.0, 20.0, 401)
    formula = {"exponential": np.exp(-margin), "logistic": np.logaddexp(0.0, -margin)}[loss.name]
    np.testing.assert_allclose(loss.value(np.exp(-margin)), formula, rtol=1e-12)


@BY_PAIRS
def test_the_weight_is_minus_the_derivative_by_the_margin(loss):
    margin, h = np.linspace(-5.0, 5.0, 101), 1e-6
    slope = (loss.value(np.exp(-margin - h)) - loss.value(np.exp(-margin + h))) / (2 * h)
    np.testing.assert_allclose(loss.weight(np.exp(-margin)), -slope, rtol=1e-7)
    assert loss.weight(np.ones(1)) == loss.start_weight


@BY_PAIRS
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
def test_the_least_expected_loss_is_at_the_log_odds(loss, p):
    """What makes softmax(c * F) the probabilities."""

    def expected(d):
        return (p * loss.value(np.exp([-d])) + (1 - p) * loss.value(np.exp([d]))).item()

    best = minimize_scalar(expected, bounds=(-10, 10), options={"xatol": 1e-9}).x
    assert loss.probability_factor * best == pytest.approx(np.log(p / (1 - p)), abs=1e-5)


def scores_and_ratios(k):
    """Scores of rows, their classes, and e = exp(-margin) with a zero for a row's own class."""
    rng = np.random.default_rng(k)
    F, y = rng.normal(0, 3, (50, k)), rng.integers(0, k, 50)
    e = np.exp(F - F[np.arange(50), y][:, None])
    e[np.arange(50), y] = 0.0
    return F, y, e


@pytest.mark.parametrize("k", [2, 3, 8, 21])
def test_the_softmax_loss_is_minus_the_log_likelihood(k):
    F, y, e = scores_and_ratios(k)
    loss = SoftmaxLoss()
    np.testing.assert_allclose(loss.value(e), -log_softmax(F, axis=1)[np.arange(50), y], rtol=1e-12)
    wrong = softmax(F, axis=1)
    wrong[np.arange(50), y] = 0.0
    np.testing.assert_allclose(loss.weight(e), wrong, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 8, 9, 30])
def test_rows_are_summed_in_the_order_that_engines_keep_to(k):
    e = np.exp(np.random.default_rng(k).normal(0, 5, (40, k)))
    for row, found in zip(e, row_sums(e), strict=True):
        lane = [0.0] * 8
        for column, value in enumerate(row):
            lane[column % 8] += value
        assert found == ((lane[0] + lane[4]) + (lane[2] + lane[6])) + (
            (lane[1] + lane[5]) + (lane[3] + lane[7])
        )
