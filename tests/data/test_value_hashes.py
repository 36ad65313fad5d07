"""Hashes of rows by their values."""

import numpy as np
import pytest
from scipy import sparse

from marginboost.data.value_hashes import value_hashes


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_equal_rows_have_equal_hashes_and_others_do_not(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (3000, 5)).astype(dtype)
    _, rows = np.unique(X, axis=0, return_inverse=True)
    _, found = np.unique(value_hashes(X), return_inverse=True)
    assert len(np.unique(rows)) == len(np.unique(found)) == len(set(zip(rows, found, strict=True)))
    np.testing.assert_array_equal(value_hashes(sparse.csr_array(X)), value_hashes(X))
    np.testing.assert_array_equal(value_hashes(sparse.csc_matrix(X)), value_hashes(X))


def test_missing_values_and_zeros_are_alike():
    X = np.array([[np.nan, 1.0], [-np.nan, 1.0], [0.0, np.nan], [-0.0, np.nan], [1.0, np.nan]])
    first, second, third, fourth, fifth = value_hashes(X)
    assert first == second
    assert third == fourth
    assert len({first, third, fifth}) == 3


def test_swapped_values_differ():
    a, b = value_hashes(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert a != b
    assert value_hashes(np.empty((3, 0))).tolist() == [0, 0, 0]
