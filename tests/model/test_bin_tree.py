"""Trees that split one feature at every threshold."""

import numpy as np
import pytest

from marginboost.model.bin_tree import BinTree
from marginboost.model.builder import EnsembleBuilder


@pytest.mark.parametrize("n_cuts", [1, 2, 3, 7, 8, 254])
def test_each_leaf_is_a_bin(n_cuts):
    cuts = np.arange(n_cuts) + 0.5
    builder = EnsembleBuilder(2, 2)
    vectors = np.random.default_rng(0).normal(size=(n_cuts + 1, 2))
    builder.add_vectors(vectors)
    builder.append(BinTree.of(1, cuts), np.arange(n_cuts + 1, dtype=np.int32))
    builder.end_round()
    values = np.arange(n_cuts + 1, dtype=float)
    X = np.stack([np.zeros_like(values), values], axis=1)
    np.testing.assert_array_equal(builder.build().decision_function(X), vectors)


def test_it_is_as_flat_as_can_be():
    tree = BinTree.of(0, np.arange(255.0))
    depth = np.zeros(255, dtype=int)
    for node in range(255):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                assert child > node
                depth[child] = depth[node] + 1
    assert depth.max() == 7
