"""The leaves that rows reach, against a walk of one tree at a time."""

import numpy as np
import pytest
from random_ensembles import N_FEATURES, random_ensemble, random_rows
from scipy import sparse

from marginboost.model import cover
from marginboost.model.leaves import find_leaves

SIZES = [7, 0, 1, 30, 3]


def walked(ensemble, X):
    """Return the leaves by `Ensemble.tree_outputs`, counted from 0 in each tree."""
    found = [ensemble.tree_outputs(X, j) for j in range(ensemble.n_trees)]
    return np.stack(found, axis=1) - ensemble.leaf_offsets[:-1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_leaves(dtype):
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, SIZES, round_size=2)
    X = random_rows(rng, 200, dtype)
    found = find_leaves(ensemble, X)
    assert found.dtype == np.int32
    assert found.flags.c_contiguous
    assert (found == walked(ensemble, X)).all()
    assert found[:, 3].max() > 5  # it is not always the same leaf


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_rows(form):
    rng = np.random.default_rng(1)
    ensemble = random_ensemble(rng, SIZES)
    X = random_rows(rng, 100) * rng.integers(2, size=(100, N_FEATURES))
    assert (find_leaves(ensemble, form(X)) == walked(ensemble, X)).all()


def test_blocks_of_rows(monkeypatch):
    rng = np.random.default_rng(2)
    ensemble, X = random_ensemble(rng, SIZES), random_rows(rng, 50)
    monkeypatch.setattr(cover, "_VALUES_AT_ONCE", 7 * N_FEATURES)
    assert (find_leaves(ensemble, X) == walked(ensemble, X)).all()


def test_no_rows_and_no_splits():
    rng = np.random.default_rng(3)
    assert find_leaves(random_ensemble(rng, SIZES), random_rows(rng, 0)).shape == (0, 5)
    assert (find_leaves(random_ensemble(rng, [0, 0]), random_rows(rng, 4)) == 0).all()
