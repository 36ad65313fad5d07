"""Rows take one form and order, whatever a source has."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, load_wine

from experiments.data.rows import Rows, checksum, settled, stacked, taken


def iris():
    X, y = load_iris(return_X_y=True)
    return Rows(X, y, np.arange(len(y)) % 3 == 0, np.arange(len(y)) % 5)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_a_source_does_not_matter(seed):
    expected = settled(iris(), "float32")
    order = np.random.default_rng(seed).permutation(150)
    found = settled(taken(iris(), order), "float32")
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert checksum(found) == checksum(expected)


def test_a_table_is_sorted_as_python_sorts_its_rows():
    X, y = load_wine(return_X_y=True)
    X = np.round(X[:, [5, 2, 0]])  # with many ties
    test = np.arange(len(y)) % 2 == 0
    found = settled(Rows(X, y, test), "float64")
    expected = sorted((*row, label, flag) for row, label, flag in zip(X, y, test, strict=True))
    assert [(*row, label, flag) for row, label, flag in zip(*found[:3], strict=True)] == expected


def test_flags_and_groups_stay_with_their_rows():
    given = iris()
    found = settled(given, "float64")
    row_of = {(*row, flag, group) for row, flag, group in zip(given.X, *given[2:], strict=True)}
    assert {
        (*row, flag, group) for row, flag, group in zip(found.X, *found[2:], strict=True)
    } == row_of


def test_values_are_rounded_to_float32_once():
    found = settled(Rows(np.array([[0.1], [0.3]]), np.array([1, 2])), "float32")
    assert found.X.dtype == np.float64
    np.testing.assert_array_equal(found.X, np.float64(np.float32([[0.1], [0.3]])))


def test_the_sign_of_zero_does_not_matter():
    sums = {
        checksum(settled(Rows(np.array([[zero]]), np.array([1])), "float32"))
        for zero in (0.0, -0.0)
    }
    assert len(sums) == 1


@pytest.mark.parametrize("y", [["1", "2"], ["+1", "2.000"], [1.0, 2.0], np.array([1, 2], np.uint8)])
def test_labels_that_are_numbers_become_whole_ones(y):
    found = settled(Rows(np.eye(2)[::-1], np.asarray(y)), "float32").y
    assert found.dtype == np.int64
    assert found.tolist() == [1, 2]


def test_labels_that_are_words_stay():
    assert settled(Rows(np.eye(2), np.array(["van", "1"])), "float32").y.tolist() == ["1", "van"]


def test_labels_that_are_broken_numbers_are_refused():
    with pytest.raises(ValueError, match="must be integers"):
        settled(Rows(np.eye(2), np.array([0.5, 1.0])), "float32")


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"the same length; got \[2, 3\] rows"):
        settled(Rows(np.eye(2), np.arange(3)), "float32")


def test_images_and_counts_keep_their_order():
    images = np.arange(12, dtype=np.uint8)[::-1].reshape(3, 2, 2)
    np.testing.assert_array_equal(settled(Rows(images, np.arange(3)), "uint8").X, images)
    counts = csr_matrix(np.array([[0, 2], [1, 0]]))
    found = settled(Rows(counts, np.arange(2)), "uint16").X
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found.toarray(), counts.toarray())


def test_the_checksum_of_counts_does_not_depend_on_how_they_are_stored():
    plain = csr_matrix(np.array([[3, 0, 1]]))
    odd = csr_matrix(([1, 1, 2, 0], [2, 0, 0, 1], [0, 4]), shape=(1, 3))  # disorder, twice, a zero
    sums = {checksum(settled(Rows(X, np.array([1])), "uint16")) for X in (plain, odd)}
    assert len(sums) == 1


@pytest.mark.parametrize("changed", ["X", "y", "test", "part"])
def test_the_checksum_notices_every_change(changed):
    given = settled(iris(), "float32")
    array = getattr(given, changed).copy()
    array[7] = ~array[7] if array.dtype == bool else array[7] + 1
    assert checksum(given._replace(**{changed: array})) != checksum(given)


def test_pieces_are_stacked():
    first, second = taken(iris(), np.arange(100)), taken(iris(), np.arange(100, 150))
    for ours, theirs in zip(stacked([first, second]), iris(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
