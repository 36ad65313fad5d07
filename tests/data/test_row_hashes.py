"""Numbers for rows that depend on class and values alone."""

import numpy as np
import pytest
from scipy import sparse
from support import random_problem, training_set


@pytest.fixture(scope="module")
def counts():
    X, y = random_problem(200, 6, 4, n_values=5)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    X[100:] = X[:100]  # every row twice, mostly in two classes
    return X, y


def by_row(X, y, seed=0, **settings):
    """Hashes of the contents, in the order of X."""
    hashes = np.empty(len(y), dtype=np.uint64)
    hashes[np.argsort(y, kind="stable")] = training_set(X, y, **settings).copies.of_content(seed)
    return hashes


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("max_bins", [None, 3])
def test_sparse_is_dense(counts, form, max_bins):
    X, y = counts
    X = np.column_stack([X, np.zeros(200), -X[:, 0], np.arange(200) * 2.0 - 100])
    dense = by_row(X, y, max_bins=max_bins)
    assert dense.dtype == np.uint64
    lists = np.empty_like(dense)
    data = training_set(form(X), y, max_bins=max_bins)
    lists[np.argsort(y, kind="stable")] = data.copies.of_content(0)
    np.testing.assert_array_equal(lists, dense)


def test_wide_bins_of_sparse_input():
    X, y = random_problem(600, 2, 3)
    assert training_set(X, y).binned.bins.dtype == np.uint16
    np.testing.assert_array_equal(by_row(sparse.csr_array(X), y), by_row(X, y))


def test_equal_rows_of_a_class_have_equal_hashes_and_no_others(counts):
    X, y = counts
    hashes = by_row(X, y)
    rows = np.column_stack([X, y])
    assert len(np.unique(hashes)) == len(np.unique(rows, axis=0)) < 200
    for row in np.unique(rows, axis=0):
        assert len(np.unique(hashes[(rows == row).all(axis=1)])) == 1


def test_the_order_of_rows_does_not_matter(counts):
    X, y = counts
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_array_equal(by_row(X[order], y[order]), by_row(X, y)[order])


def test_a_weighted_row_is_a_repeated_one(counts):
    X, y = counts
    times = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = by_row(X, y, weight=times)
    repeated = by_row(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(repeated, np.repeat(weighted, times))


def test_seeds_give_other_numbers(counts):
    X, y = counts
    first, second = by_row(X, y, 1), by_row(X, y, 2)
    np.testing.assert_array_equal(by_row(X, y, 1), first)
    assert not (first == second).any()
    # And another order.
    assert abs(np.corrcoef(first.argsort().argsort(), second.argsort().argsort())[0, 1]) < 0.3


def test_hashes_are_spread_evenly():
    X, y = random_problem(4000, 3, 2)
    shares = by_row(X, y, 5) / 2.0**64
    assert abs(shares.mean() - 0.5) < 0.03
    np.testing.assert_allclose(np.histogram(shares, 8, (0, 1))[0] / 4000, 1 / 8, atol=0.03)
