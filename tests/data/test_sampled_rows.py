"""Rows brought back from their bins: numbers that every tree of the fit treats as the rows."""

import numpy as np
import pytest
from scipy import sparse
from support import boosted, make_tree_method, noisy_problem, row_weights, training_set

from marginboost.data.row_view import RowView
from marginboost.data.sampled_rows import representatives

LARGEST = np.finfo(np.float64).max


@pytest.mark.parametrize(
    "cuts",
    [
        [],
        [0.0],
        [-1.0],
        [3.0],
        [-2.0, -1.0, 0.5, 7.0],
        [-LARGEST, 1.0, LARGEST],
        [-5e-324],
        [5e-324],
    ],
)
def test_a_number_of_every_bin(cuts):
    (values,) = representatives([np.array(cuts)])
    np.testing.assert_array_equal(np.searchsorted(cuts, values), np.arange(len(cuts) + 1))
    assert values[np.searchsorted(cuts, 0.0)] == 0.0


def problem(kind):
    X, y = noisy_problem(300, 5, 4, n_values=None if kind == "wide" else 9)
    rng = np.random.default_rng(1)
    X = np.column_stack([np.where(rng.random(X.shape) < 0.5, 0.0, X), np.ones(300)])
    if kind == "missing":  # below all numbers in one column, above them in the other
        gaps = rng.random(300) < 0.3
        X[:, 0], X[:, 1] = np.where(gaps, -np.inf, X[:, 0]), np.where(gaps, np.inf, X[:, 0])
    return X, y, row_weights(kind, 300, rng)


@pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities", "missing"])
@pytest.mark.parametrize("max_bins", [None, 4])
def test_trees_treat_them_as_the_rows(kind, max_bins):
    X, y, weight = problem(kind)
    data = training_set(X, y, weight=weight, max_bins=max_bins, n_classes=5)
    view = RowView(3, data.hash_bounds(3, 0.3))
    sample = data.sample_rows(view)
    order = np.argsort(y, kind="stable")
    order = order if weight is None else order[weight[order] > 0]
    seen = data.seen(view)
    rows, content = seen.held_out_rows, data.copies.of_content(3)
    copies = (
        np.ones(len(rows), int)
        if weight is None or kind == "weights"
        else ((seen.copies - seen.multiplicity)[rows])
    )
    of_copy = np.ones(data.n_rows) if data.weight is None else data.weight
    keys = list(zip(data.labels[rows], content[rows], of_copy[rows], strict=True))
    kinds = sorted(set(keys))
    assert kinds == list(zip(sample.labels, sample.hashes, sample.weight, strict=True))
    for key, n_copies in zip(kinds, sample.copies, strict=True):
        assert n_copies == sum(c for other, c in zip(keys, copies, strict=True) if other == key)
    np.testing.assert_array_equal(sample.row_weight(), sample.weight * sample.copies)
    assert len(kinds) <= len(rows) <= copies.sum() <= 0.3 * data.n_counted
    assert copies.sum() > 40
    rows = np.array([rows[keys.index(key)] for key in kinds])
    _, ensemble = boosted(make_tree_method(data, "exponential"), 4)
    found = ensemble.decision_function(sample.X)
    # Rows of one bin each are equal to the trees, so any of those with equal hashes will do.
    np.testing.assert_array_equal(found, ensemble.decision_function(X[order[rows]]))
    bins = [np.searchsorted(t, sample.X[:, f]) for f, t in enumerate(data.binned.thresholds)]
    np.testing.assert_array_equal(bins, data.binned.bins[:, rows])


@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_sparse_rows_stay_sparse_and_are_the_dense_ones(kind):
    X, y, weight = problem(kind)
    dense = training_set(X, y, weight=weight)
    lists = training_set(sparse.csr_array(X), y, weight=weight)
    view = RowView(3, dense.hash_bounds(3, 0.3))
    ours, theirs = lists.sample_rows(view), dense.sample_rows(view)
    assert sparse.issparse(ours.X)
    assert ours.X.nnz <= np.count_nonzero(theirs.X) < theirs.X.size
    np.testing.assert_array_equal(ours.X.toarray(), theirs.X)
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_view_that_holds_nothing_out():
    X, y, _ = problem("plain")
    data = training_set(X, y)
    for view in (RowView(), RowView(3), RowView(3, np.zeros(4, dtype=np.uint64))):
        sample = data.sample_rows(view)
        assert sample.X.shape == (0, 6)
        assert len(sample.labels) == len(sample.weight) == len(sample.hashes) == 0
