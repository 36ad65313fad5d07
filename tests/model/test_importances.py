"""Importances against a walk of every row through every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ensembles import N_FEATURES, random_ensemble, random_rows
from scipy import sparse

from marginboost import _native
from marginboost.data.encoding import Encoding
from marginboost.data.sampled_rows import thinned
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.cover import flat_arrays, leaf_cover
from marginboost.model.importances import feature_importances

PLAIN = Encoding.plain(N_FEATURES)
# Six ordered columns of three columns of X.
SHARED = Encoding(
    3,
    np.array([0, 0, 1, 1, 1, 2], dtype=np.int32),
    np.array([-np.inf, np.inf, -np.inf, np.inf, 0.0, np.inf]),
    (None,) * 3,
    (None,) * 6,
)


def walked(ensemble, source, n_players, X, weight):
    """Sum |what the splits of a player add to a score| over rows and classes."""
    sizes = np.zeros(n_players)
    for x, w in zip(X, weight, strict=True):
        moved = np.zeros((n_players, ensemble.n_classes))
        for j in range(ensemble.n_trees):
            first, first_leaf = ensemble.node_offsets[j], ensemble.leaf_offsets[j]

            def leaves(child, first=first, first_leaf=first_leaf):
                if child < 0:
                    return [first_leaf + ~child]
                node = first + child
                return leaves(ensemble.left[node]) + leaves(ensemble.right[node])

            def mean(child, leaves=leaves):
                below = leaves(child)
                vectors = ensemble.vectors[ensemble.leaf_vector[below]]
                values = ensemble.leaf_value[below][:, None] * vectors
                return np.average(values, axis=0, weights=ensemble.leaf_cover[below])

            child = 0 if ensemble.node_offsets[j + 1] > first else -1
            while child >= 0:
                node = first + child
                feature = ensemble.feature[node]
                below = ensemble.left if x[feature] <= ensemble.threshold[node] else ensemble.right
                moved[source[feature]] += mean(below[node]) - mean(child)
                child = below[node]
        sizes += w * np.abs(moved).sum(axis=1)
    return sizes / sizes.sum()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["shared", "own", "mixed"]), st.booleans())
def test_importances_are_those_of_a_walk(seed, kind, shares):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 12))  # more than are walked for together, too
    ensemble = random_ensemble(rng, rng.integers(1, 8, size=4).tolist(), n_classes, kind=kind)
    X, weight = random_rows(rng, 12), rng.uniform(0.5, 2, 12)
    ensemble = ensemble.with_cover(leaf_cover(ensemble, X, weight))
    encoding = SHARED if shares else PLAIN
    found = feature_importances(ensemble, encoding, X, weight)
    expected = walked(ensemble, encoding.source, encoding.n_features, X, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert found.sum() == pytest.approx(1.0)


def test_neither_order_nor_copies_nor_threads_nor_layout_matter():
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, [5] * 20, 20, kind="own")
    X, copies = random_rows(rng, 60), rng.integers(1, 5, 60)
    ensemble = ensemble.with_cover(leaf_cover(ensemble, X, copies.astype(float)))
    one = feature_importances(ensemble, PLAIN, X, copies.astype(float))
    order = rng.permutation(np.repeat(np.arange(60), copies))
    for rows in (X[order], sparse.csr_array(X[order])):
        for n_threads in (1, 3):
            many = feature_importances(
                ensemble, PLAIN, rows, np.ones(len(order)), n_threads=n_threads
            )
            np.testing.assert_array_equal(many, one)


def test_noise_cancels():
    """Two splits of a column that undo each other count for nothing; by their gains they would."""
    builder = EnsembleBuilder(2, 2)

    class Stump:
        threshold, left, right, bin = [0.0], [~0], [~1], [0]

        def __init__(self, feature, value):
            self.feature, self.leaf_value = [feature], [-value, value]

    vector = builder.add_vector(np.array([1.0, -1.0]))
    for feature, value in ((0, 1.0), (1, 1.0), (1, -0.75)):
        builder.append(Stump(feature, value), vector)
        builder.end_round()
    ensemble = builder.build()
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    ensemble = ensemble.with_cover(leaf_cover(ensemble, X, np.ones(4)))
    found = feature_importances(ensemble, Encoding.plain(2), X, np.ones(4))
    np.testing.assert_allclose(found, [0.8, 0.2])


def test_covers_are_needed():
    ensemble = random_ensemble(np.random.default_rng(0), [3], 3)
    with pytest.raises(ValueError, match="must have a leaf_cover"):
        feature_importances(ensemble, PLAIN, np.zeros((2, N_FEATURES)), np.ones(2))


def test_nothing_moves_nothing():
    empty = random_ensemble(np.random.default_rng(0), [], 3)
    empty = empty.with_cover(np.empty(0))
    found = feature_importances(empty, PLAIN, np.zeros((2, N_FEATURES)), np.ones(2))
    np.testing.assert_array_equal(found, np.zeros(N_FEATURES))


def test_trees_of_one_leaf_name_no_feature():
    ensemble = random_ensemble(np.random.default_rng(0), [0, 0], 3, kind="own")
    ensemble = ensemble.with_cover(np.ones(2))
    found = feature_importances(ensemble, PLAIN, np.zeros((2, N_FEATURES)), np.ones(2))
    np.testing.assert_array_equal(found, np.zeros(N_FEATURES))


def test_rows_are_chosen_evenly_by_weight():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(thinned(np.ones(200), 256), np.ones(200))
    copies = rng.integers(1, 9, 500).astype(float)
    chosen = thinned(copies, 256)
    assert 200 < chosen.sum() <= 256
    repeated = thinned(np.ones(int(copies.sum())), 256)
    row = np.repeat(np.arange(500), copies.astype(int))
    np.testing.assert_array_equal(np.bincount(row, weights=repeated), chosen)
    real = thinned(rng.uniform(0, 1, 500), 256)
    assert 250 < real.sum() <= 256
    assert thinned(np.zeros(3), 256).sum() == thinned(np.empty(0), 256).sum() == 0


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"weights": np.ones(1)}, "a weight per row"),
        ({"leaf_cover": np.ones(1)}, "a cover per leaf"),
        ({"player": np.zeros(2, dtype=np.int32)}, "a player per feature"),
        ({"player": np.full(N_FEATURES, 3, dtype=np.int32)}, "player must name a place of sizes"),
        ({"player": np.full(N_FEATURES, -1, dtype=np.int32)}, "player must name a place of sizes"),
        ({"X": np.zeros((2, 3))}, "must have 6 columns"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_what_does_not_fit_is_refused(changed, match):
    ensemble = random_ensemble(np.random.default_rng(0), [3], 3)
    arguments = {
        **flat_arrays(ensemble, ensemble.feature, N_FEATURES),
        "leaf_cover": np.ones(len(ensemble.leaf_value)),
        "player": np.zeros(N_FEATURES, dtype=np.int32),
        "X": np.zeros((2, N_FEATURES)),
        "weights": np.ones(2),
        "sizes": np.zeros(3),
        "n_threads": 1,
    }
    with pytest.raises(ValueError, match=match):
        _native.step_sizes(**(arguments | changed))
