"""The coefficients of leaves: the closed form, its bound, and what a step leaves."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from marginboost import _native
from marginboost.coefficients.leaves import MOST_STEP, leaf_vectors, most_step


@pytest.mark.parametrize("pseudo_count", [1e-9, 0.3, 1.0, 50.0])
def test_leaf_coefficients_minimise_the_exponential_loss(pseudo_count):
    rng = np.random.default_rng(0)
    own, against = 10.0 ** rng.uniform(-2, 4, (2, 5, 3))
    w = leaf_vectors(own, against, pseudo_count, 0.5)
    for P, N, coefficient in zip(own.flat, against.flat, w.flat, strict=True):
        P, N = P + pseudo_count, N + pseudo_count  # noqa: PLW2901
        found = minimize_scalar(lambda x, P=P, N=N: P * np.exp(-x) + N * np.exp(x), (-1.0, 1.0))
        assert coefficient == pytest.approx(found.x, abs=1e-6)


def test_leaf_coefficients_are_bounded():
    own, against = np.array([[1e30, 0.0, 0.0]]), np.array([[0.0, 1e30, 0.0]])
    w = leaf_vectors(own, against, 1e-30, 0.5)
    np.testing.assert_array_equal(w, [[MOST_STEP, -MOST_STEP, 0.0]])


@pytest.mark.parametrize("bounded", [False, True])
def test_a_step_of_leaves_bounds_what_it_leaves(bounded):
    """Whatever the rows behind the sums are, no sum of their weights exceeds the bounds."""
    rng = np.random.default_rng(3)
    n_rows, n_leaves, k = 400, 5, 6
    y, leaf = rng.integers(0, k, n_rows), rng.integers(0, n_leaves, n_rows)
    e = np.exp(rng.normal(0, 2, (n_rows, k)))
    e[np.arange(n_rows), y] = 0.0
    w = rng.normal(0, 1, (n_leaves, k))
    own, against = np.zeros((2, n_leaves, k))
    u = e / (1 + e) if bounded else e
    np.add.at(own, (leaf, y), u.sum(axis=1))
    np.add.at(against, leaf, u)
    counts = np.bincount(y, minlength=k).astype(float)
    lanes = np.array([0, 1, 2, 0, 1, 2])
    up, down, total, lane, of_class = _native.leaf_step(
        w, own, against, counts, counts, lanes, 0.0, bounded
    )
    assert up.dtype == down.dtype == np.float32
    np.testing.assert_allclose(up, np.exp(w), rtol=1e-6)
    np.testing.assert_allclose(down, np.exp(-w), rtol=1e-6)
    moved = e * up[leaf] * down[leaf, y][:, None]
    moved = moved / (1 + moved) if bounded else moved
    by_class = np.bincount(y, weights=moved.sum(axis=1), minlength=k) + moved.sum(axis=0)
    by_lane = np.bincount(lanes, weights=by_class)
    truths = (moved.sum(), by_lane.max(), moved.sum(axis=0).max())
    for bound, truth in zip((total, lane, of_class), truths, strict=True):
        assert truth <= bound * (1 + 1e-6)
        assert bound <= 1e4 * truth
    hidden = _native.leaf_step(w, own, against, counts, counts, lanes, 1.0, bounded)[2:]
    assert all(more >= less for more, less in zip(hidden, (total, lane, of_class), strict=True))


@pytest.mark.parametrize("eta", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("n_rows", [2, 1000, 10**6, 2**40])
def test_steps_leave_room_for_what_was_rounded_away(n_rows, eta):
    """Half a unit a row, grown by the longest step, is at most an eighth of 2**30 units."""
    most = most_step(n_rows, eta)
    assert 0 < most <= MOST_STEP
    assert 0.5 * n_rows * np.exp(2 * eta * most) <= 1.000001 * max(2.0**27, 1.5 * n_rows)
    if eta == 0.1 and n_rows <= 10**6:
        assert most == MOST_STEP
