"""Collapsed stumps against the stumps themselves."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginboost.model import steps as module
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.steps import collapse


def stumps(rng, n_classes, n_stumps, n_features, *, own=False, constants=0, values=8):
    builder = EnsembleBuilder(n_features, n_classes)
    for j in range(n_stumps + constants):
        if j < constants:
            weak = SimpleNamespace(feature=[], threshold=[], left=[], right=[], leaf_value=[0.5])
        else:
            swapped = rng.random() < 0.5
            weak = SimpleNamespace(
                feature=[int(rng.integers(n_features))],
                threshold=[float(rng.integers(values)) - 0.5],
                left=[~1 if swapped else ~0],
                right=[~0 if swapped else ~1],
                leaf_value=[-1.0, 1.0],
            )
        count = len(weak.leaf_value) if own else 1
        vectors = [builder.add_vector(rng.normal(size=n_classes)) for _ in range(count)]
        builder.append(weak, vectors if own else vectors[0])
        builder.end_round()
    return builder.build()


def terms(model, X):
    """The sum of the absolute terms of each score."""
    sums = np.zeros((len(X), model.n_classes))
    for j in range(model.n_trees):
        leaves = model.tree_outputs(X, j)
        sums += np.abs(model.leaf_value[leaves, None] * model.vectors[model.leaf_vector[leaves]])
    return sums


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_stumps=st.integers(1, 60),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 5)),
    own=st.booleans(),
    constants=st.integers(0, 3),
)
def test_the_same_scores(seed, n_stumps, shape, own, constants):
    rng = np.random.default_rng(seed)
    n_classes, n_features = shape
    model = stumps(rng, n_classes, n_stumps, n_features, own=own, constants=constants)
    collapsed = collapse(model)
    assert collapsed.n_trees == len(np.unique(model.feature))
    assert collapsed.n_rounds == 1
    X = rng.integers(-1, 9, size=(100, n_features)).astype(np.float64)
    X[::9, 0] = np.nan
    X[1::9, 0] = np.inf
    expected = model.decision_function(X)
    limit = 1e-12 * terms(model, X)
    assert (np.abs(collapsed.decision_function(X) - expected) <= limit).all()
    one = np.concatenate([collapsed.decision_function(X[i : i + 1]) for i in range(10)])
    assert one.tobytes() == collapsed.decision_function(X)[:10].tobytes()


def test_many_thresholds_a_feature():
    rng = np.random.default_rng(0)
    model = stumps(rng, 3, 3000, 2, values=5000)
    collapsed = collapse(model)
    assert len(collapsed.feature) > 2000  # wide ranks
    X = rng.integers(-1, 5001, size=(500, 2)).astype(np.float32)
    limit = 1e-12 * terms(model, X)
    assert (np.abs(collapsed.decision_function(X) - model.decision_function(X)) <= limit).all()


def test_what_is_not_collapsed(monkeypatch):
    rng = np.random.default_rng(0)
    assert collapse(EnsembleBuilder(2, 3).build()) is None
    assert collapse(stumps(rng, 3, 0, 2, constants=2)) is None
    builder = EnsembleBuilder(2, 3)
    tree = SimpleNamespace(
        feature=[0, 1], threshold=[0.0, 0.0], left=[1, ~0], right=[~1, ~2], leaf_value=[1.0] * 3
    )
    builder.append(tree, builder.add_vector(np.ones(3)))
    builder.end_round()
    assert collapse(builder.build()) is None
    huge = stumps(rng, 1, 2, 1)
    assert collapse(huge) is not None
    monkeypatch.setattr(module, "_ALWAYS", 0)
    monkeypatch.setattr(module, "_MOST_TIMES", 0.1)
    assert collapse(huge) is None


def test_sums_that_overflow_are_left_to_the_trees():
    builder = EnsembleBuilder(1, 1)
    for sign in (1.0, 1.0, -1.0):
        weak = SimpleNamespace(
            feature=[0], threshold=[0.0], left=[~0], right=[~1], leaf_value=[sign, sign]
        )
        builder.append(weak, builder.add_vector([1.5e308]))
        builder.end_round()
    model = builder.build()
    collapsed = collapse(model)
    assert collapsed is None or np.isfinite(collapsed.vectors).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
def test_the_search_is_balanced_and_counts_thresholds(n):
    middles, left, right = module._search(n)
    assert sorted(middles) == list(range(n))
    for rank in range(n + 1):
        node, depth = 0, 0
        while node >= 0:
            node = left[node] if rank <= middles[node] else right[node]
            depth += 1
        assert ~node == rank
        assert depth <= n.bit_length()
