"""Rows grouped by class, weights and repetitions told apart."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support import noisy_problem, row_weights, shared_counts, training_set

from marginboost.data.binning import BinnedMatrix
from marginboost.data.dense_bins import dense_bins
from marginboost.data.grouping import MOST_REPETITIONS, class_masses
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.row_view import RowView
from marginboost.data.sparse_binning import SparseBinnedMatrix
from marginboost.data.training_set import make_training_set

CODES = np.array([2, 0, 1, 0, 2, 2])
X = np.arange(6.0)[:, None]


def test_rows_are_grouped_by_class_in_their_order():
    data = training_set(X, CODES)
    np.testing.assert_array_equal(data.class_offsets, [0, 2, 3, 6])
    np.testing.assert_array_equal(data.labels, [0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(data.binned.bins, [[1, 3, 2, 0, 4, 5]])
    np.testing.assert_array_equal(data.class_mass, [2, 1, 3])
    assert (data.n_rows, data.n_counted, data.n_classes) == (6, 6, 3)
    assert data.weight is None
    assert data.multiplicity is None


def test_weights_follow_their_rows_and_zeros_are_left_out():
    data = training_set(X, CODES, weight=[0.5, 2.5, 0, 1.5, 0, 4.0])
    np.testing.assert_array_equal(data.class_offsets, [0, 2, 2, 4])
    mean = 8.5 / 4
    np.testing.assert_allclose(data.weight, np.array([2.5, 1.5, 0.5, 4.0]) / mean, rtol=1e-12)
    np.testing.assert_allclose(data.class_mass, np.array([4, 0, 4.5]) / mean, rtol=1e-12)
    assert data.binned.n_bins[0] == 4
    assert data.n_counted == 4


def test_whole_numbers_are_repetitions():
    data = training_set(X, CODES, weight=[3, 0, 1, 2, 1, 1])
    np.testing.assert_array_equal(data.multiplicity, [2, 1, 3, 1, 1])
    assert data.multiplicity.dtype == np.int32
    assert data.weight is None
    assert (data.n_rows, data.n_counted) == (5, 8)
    np.testing.assert_array_equal(data.class_mass, [2, 1, 5])


@pytest.mark.parametrize(
    ("weight", "repeats"),
    [([MOST_REPETITIONS - 5, 1, 1, 1, 1, 1], True), ([MOST_REPETITIONS, 1, 1, 1, 1, 1], False)],
)
def test_very_many_repetitions_are_weights(weight, repeats):
    data = training_set(X, CODES, weight=weight)
    assert (data.multiplicity is not None) == repeats
    assert (data.weight is not None) != repeats
    mean = 1 if repeats else sum(weight) / 6
    expected = np.array([2, 1, weight[0] + 2]) / mean
    np.testing.assert_allclose(data.class_mass, expected, rtol=0 if repeats else 1e-7)


def test_class_weight_multiplies():
    data = make_training_set(
        X, CODES, 3, sample_weight=np.array([0.5, 2.5, 1, 1.5, 1, 4.0]),
        class_weight=np.array([2.0, 1.0, 0.25]), max_bins=None, n_threads=1,
    )  # fmt: skip
    mean = 10.375 / 6
    expected = np.array([5, 3, 1, 0.125, 0.25, 1]) / mean
    np.testing.assert_allclose(data.weight, expected, rtol=1e-12)
    repeated = make_training_set(
        X, CODES, 3, sample_weight=np.array([1.0, 2, 1, 1, 1, 3]),
        class_weight=np.array([2.0, 1.0, 0.25]), max_bins=None, n_threads=1,
    )  # fmt: skip
    np.testing.assert_array_equal(repeated.multiplicity, [2, 1, 1, 1, 1, 3])
    mean = 8.25 / 9
    expected = np.array([2, 2, 1, 0.25, 0.25, 0.25]) / mean
    np.testing.assert_allclose(repeated.weight, expected, rtol=1e-12)
    np.testing.assert_allclose(repeated.class_mass, np.array([6, 1, 1.25]) / mean, rtol=1e-12)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("weight", [None, [3.0, 0, 1, 2, 1, 1], [0.5, 2.5, 0, 1.5, 0, 4.0]])
@pytest.mark.parametrize("max_bins", [2, None])
def test_sparse_rows_are_those_of_the_dense_matrix(make, weight, max_bins):
    dense = np.array([[0, 2.5, 0], [1, 0, 0], [0, 0, -1], [3, 2.5, 0], [2, 0, 0], [0, -2, 0]])
    settings = {
        "sample_weight": None if weight is None else np.array(weight),
        "class_weight": np.array([2.0, 1.0, 0.25]), "max_bins": max_bins, "n_threads": 1,
    }  # fmt: skip
    found = make_training_set(make(dense), CODES, 3, **settings)
    right = make_training_set(dense, CODES, 3, **settings)
    assert isinstance(found.binned, SparseBinnedMatrix)
    assert isinstance(right.binned, BinnedMatrix)
    for name in ("class_offsets", "weight", "multiplicity", "class_mass"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
    assert found.n_rows == found.binned.n_rows == right.n_rows
    for f in range(3):
        np.testing.assert_array_equal(dense_bins(found.binned, f), right.binned.bins[f])
        np.testing.assert_array_equal(found.binned.thresholds[f], right.binned.thresholds[f])


def test_texts_make_a_training_set():
    X, y = shared_counts("news20_bydate_noheader_counts")
    data = make_training_set(
        X, y, 20, sample_weight=None, class_weight=None, max_bins=None, n_threads=1
    )
    assert data.binned.n_entries == X.nnz  # no count is zero
    word = int(np.argmax(np.diff(data.binned.indptr)))
    counts = X[:, [word]].toarray().ravel()[np.argsort(y, kind="stable")]
    distinct, place = np.unique(counts, return_inverse=True)
    np.testing.assert_array_equal(dense_bins(data.binned, word), place)
    assert data.binned.n_bins[word] == len(distinct)


@given(
    st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=60),
    st.integers(0, 60),
    st.randoms(use_true_random=False),
)
def test_class_masses_do_not_depend_on_the_order(weights, cut, random):
    cut = min(cut, len(weights))
    offsets = np.array([0, cut, len(weights)])
    masses = class_masses(offsets, np.array(weights), None)
    exact = [math.fsum(weights[:cut]), math.fsum(weights[cut:])]
    np.testing.assert_allclose(masses, exact, atol=1e-13 * len(weights) * math.fsum(weights))
    first, second = weights[:cut], weights[cut:]
    random.shuffle(first)
    random.shuffle(second)
    np.testing.assert_array_equal(masses, class_masses(offsets, np.array(first + second), None))


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities", "sparse"])
def test_rows_without_those_that_are_held_out(kind):
    X, y = noisy_problem(200, 4, 3, n_values=9)
    weight = row_weights(kind, 200, np.random.default_rng(0))
    data = training_set(sparse.csr_array(X) if kind == "sparse" else X, y, weight=weight)
    if kind != "sparse":
        data = with_least_leaf_weight(data, 0.02)
    view = RowView(3, data.hash_bounds(3, 0.3))
    rest = data.without(view)
    seen = data.seen(view)
    kept = np.delete(np.arange(data.n_rows), seen.held_out_rows)
    left = np.ones(data.n_rows, dtype=int)
    if seen.multiplicity is not None:
        left, kept = seen.multiplicity, np.flatnonzero(seen.multiplicity)
        np.testing.assert_array_equal(rest.multiplicity, left[kept])
    assert 130 < len(kept) < 200
    assert rest.n_counted == left[kept].sum()
    np.testing.assert_array_equal(rest.copies.of_content(3), data.copies.of_content(3)[kept])
    np.testing.assert_array_equal(rest.labels, data.labels[kept])
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    np.testing.assert_array_equal(rest.row_weight(), weight[kept] * left[kept])
    np.testing.assert_allclose(rest.class_mass, np.bincount(rest.labels, rest.row_weight()))
    for f in range(4):
        np.testing.assert_array_equal(dense_bins(rest.binned, f), dense_bins(data.binned, f)[kept])
    if kind != "sparse":
        of_row = data.leaf_weight.rows / (1 if seen.copies is None else seen.copies)
        np.testing.assert_array_equal(rest.leaf_weight.rows, (of_row * left)[kept])
    sample = data.sample_rows(view)
    assert rest.n_counted + sample.copies.sum() == data.n_counted
    both = {*rest.copies.of_content(3).tolist(), *sample.hashes.tolist()}
    assert both == set(data.copies.of_content(3).tolist())
