"""The histogram intersection kernel, by brute force."""

import numpy as np
import pytest

from experiments.features.histogram_intersection import histogram_intersection


def test_against_brute_force():
    rng = np.random.default_rng(0)
    A, B = rng.integers(0, 300, (7, 40)).astype(np.uint16), rng.random((5, 40))
    expected = [[np.minimum(a, b).sum() for b in B] for a in A]
    assert histogram_intersection(A, B) == pytest.approx(np.array(expected))


def test_is_a_kernel():
    X = np.random.default_rng(1).integers(0, 9, (30, 12))
    kernel = histogram_intersection(X, X)
    assert np.array_equal(kernel, kernel.T)
    assert np.array_equal(np.diag(kernel), X.sum(axis=1))
    assert np.linalg.eigvalsh(kernel).min() > -1e-9
