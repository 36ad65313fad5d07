"""Shares of least log loss, against SciPy on a grid and by reasoning."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from marginboost.boosting.blend import PARTS, blend_shares


def scores(rng, labels, n_classes, signal):
    """Return F[i, r] - F[i, y_i] of scores that say something of the labels."""
    F = rng.normal(size=(len(labels), n_classes))
    F[np.arange(len(labels)), labels] += signal
    return F - F[np.arange(len(labels)), labels][:, None]


def loss(logs, weight):
    return float((weight * logsumexp(logs, axis=1)).sum() / weight.sum())


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_as_good_as_the_best_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 400)
    weight = rng.uniform(0.5, 2.0, 400)
    logs = [scores(rng, labels, 4, signal) for signal in (1.0, 1.3, 0.9)]
    found = blend_shares(logs, weight, 1e9)

    def best_scaled(shares):
        blended = np.tensordot(np.asarray(shares), np.stack(logs), 1)
        return min(loss(blended * s, weight) for s in np.linspace(0.3, 4.0, 75))

    grid = [
        (a / PARTS, b / PARTS, (PARTS - a - b) / PARTS)
        for a, b in itertools.product(range(0, PARTS + 1, 2), repeat=2)
        if a + b <= PARTS
    ]
    assert best_scaled(found) <= min(map(best_scaled, grid)) + 1e-3


def test_shares_are_whole_parts_of_one():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    found = blend_shares([scores(rng, labels, 3, 1.0) for _ in range(3)], np.ones(300), 1e9)
    assert found.sum() == 1.0
    np.testing.assert_array_equal(found * PARTS, np.rint(found * PARTS))


def test_noise_gets_no_share():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 2000)
    good, noise = scores(rng, labels, 3, 3.0), scores(rng, labels, 3, -1.0)
    np.testing.assert_array_equal(blend_shares([noise, good], np.ones(2000), 1e9), [0.0, 1.0])


def test_a_row_counts_by_its_weight():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 200)
    logs = [scores(rng, labels, 3, signal) for signal in (1.0, 1.2)]
    times = rng.integers(1, 4, 200)
    repeated = [np.repeat(one, times, axis=0) for one in logs]
    np.testing.assert_array_equal(
        blend_shares(logs, times.astype(float), 1e9),
        blend_shares(repeated, np.ones(times.sum()), 1e9),
    )
