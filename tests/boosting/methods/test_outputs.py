"""The matrix of weak outputs: its products through sparse factors are those of the matrix itself."""

from types import SimpleNamespace

import numpy as np
import pytest

from marginboost.boosting.methods import outputs as module
from marginboost.boosting.methods.outputs import Outputs, said_of


def stump(feature, threshold, sign):
    return SimpleNamespace(
        feature=[feature], bin=[threshold], left=[~0], right=[~1], leaf_value=[-sign, sign]
    )


def tree():
    """A root whose right child is another node."""
    return SimpleNamespace(
        feature=[0, 1], bin=[2, 1], left=[~0, ~1], right=[1, ~2], leaf_value=[1.0, -1.0, 1.0]
    )


@pytest.fixture
def bins():
    return np.random.default_rng(0).integers(0, 6, size=(4, 50)).astype(np.uint8)


def by_hand(bins, weak):
    return np.where(bins[weak.feature[0]] > weak.bin[0], weak.leaf_value[1], weak.leaf_value[0])


@pytest.mark.parametrize("always", ["dense", "sparse"])
def test_products_are_those_of_the_matrix(bins, always, monkeypatch):
    # Without costs, the factors are used in every round; with endless ones, never.
    monkeypatch.setattr(module, "SPARSE_MULTIPLICATION", 0)
    monkeypatch.setattr(module, "SPARSE_CALLS", -1 if always == "sparse" else 1e18)
    rng = np.random.default_rng(1)
    H = Outputs(bins)
    columns = []
    for _ in range(40):  # some of them twice, with either sign, at the first and the last threshold
        weak = stump(rng.integers(4), rng.integers(-1, 6), rng.choice([-1.0, 1.0]))
        H.add(weak, 3)
        assert (H._factors is not None) == (always == "sparse")
        columns.append(by_hand(bins, weak))
        expected = np.column_stack(columns)
        assert H.n_classifiers == len(columns)
        W, g = rng.normal(size=(len(columns), 3)), rng.normal(size=(50, 3))
        np.testing.assert_allclose(H.times(W), expected @ W, atol=1e-12)
        np.testing.assert_allclose(H.transposed_times(g), expected.T @ g, atol=1e-12)


def test_the_factors_are_used_where_they_save_time():
    rng = np.random.default_rng(2)
    H = Outputs(rng.integers(0, 4, size=(2, 2000)).astype(np.uint8))
    used = []
    for _ in range(60):
        H.add(stump(rng.integers(2), rng.integers(3), 1.0), 20)
        used.append(H._factors is not None)
    # A few columns are faster as they are; of many, in two features, most repeat each other.
    assert not used[0]
    assert used[-1]


def test_trees_are_not_factorised(bins, monkeypatch):
    monkeypatch.setattr(module, "SPARSE_MULTIPLICATION", 0)
    monkeypatch.setattr(module, "SPARSE_CALLS", -1)
    H = Outputs(bins)
    H.add(stump(1, 2, 1.0), 2)
    H.add(tree(), 2)
    H.add(stump(0, 3, -1.0), 2)
    assert H._factors is None
    right = np.where(bins[1] > 1, 1.0, -1.0)
    expected = np.where(bins[0] > 2, right, 1.0)
    np.testing.assert_array_equal(said_of(bins, tree()), expected)
    W = np.random.default_rng(3).normal(size=(3, 2))
    columns = [by_hand(bins, stump(1, 2, 1.0)), expected, by_hand(bins, stump(0, 3, -1.0))]
    np.testing.assert_allclose(H.times(W), np.column_stack(columns) @ W, atol=1e-12)
