"""Constraints of interactions and of monotone differences: the same bits on every engine.

Nothing here has a tolerance.
"""

import numpy as np
import pytest
from cluster_support import assert_same_rounds, cut, ensemble_of, set_of_parts
from cuda_on_host import host_device
from engine_contract import TreeResult as Result
from scipy import sparse
from support import assert_same_ensemble, make_tree_method
from tree_problems import KINDS, make_data, mostly_zeros, problem

from marginboost.boosting.monotone import MonotoneSteps
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.cluster import ClusterTreeEngine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine
from marginboost.engine.trees.interactions import Interactions

# Groups of columns, or how many columns a group may have.
GROUPS = {
    "apart": [{0, 1}, {2, 3, 4}],
    "overlapping": [{0, 1, 2}, {2, 3}, {3, 4}],
    "no interactions": 1,
    "pairs": 2,
}
EVERY_GROUPS = pytest.mark.parametrize("groups", GROUPS)


def interactions(groups, n_features=5):
    return Interactions(np.arange(n_features), GROUPS[groups])


def paths(ensemble):
    """Return the features of every path from a root to a leaf, as sets."""
    found = []
    for first, last in zip(ensemble.node_offsets[:-1], ensemble.node_offsets[1:], strict=True):
        above = {0: frozenset()}
        for node in range(last - first):
            path = above[node] | {int(ensemble.feature[first + node])}
            for child in (ensemble.left[first + node], ensemble.right[first + node]):
                if child >= 0:
                    above[int(child)] = path
                else:
                    found.append(path)
    return found


def is_allowed(path, groups):
    if isinstance(groups, int):
        return len(path) <= groups
    return any(path <= group for group in groups)


def check_paths(ensemble, groups):
    found = paths(ensemble)
    assert all(is_allowed(path, GROUPS[groups]) for path in found)
    return found


def test_without_constraints_paths_leave_the_groups():
    """The tests below could not fail otherwise."""
    result = Result(NativeTreeEngine(), make_data(*problem(3)), "exponential", max_leaf_nodes=12)
    for groups in GROUPS.values():
        assert not all(is_allowed(path, groups) for path in paths(result.ensemble))


@EVERY_GROUPS
@KINDS
@pytest.mark.parametrize("n_classes", [3, 15])
def test_interactions_on_the_host(groups, kind, n_classes):
    data = make_data(*problem(n_classes, kind=kind), n_classes=n_classes)
    settings = {"n_rounds": 3, "max_leaf_nodes": 12, "subsample": 0.9}
    settings |= {"interactions": interactions(groups)}
    reference = Result(ReferenceTreeEngine(), data, "exponential", **settings)
    found = check_paths(reference.ensemble, groups)
    if groups != "no interactions":
        assert max(map(len, found)) > 1
    for n_threads in (1, 3):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


@EVERY_GROUPS
@pytest.mark.parametrize("max_features", [1.0, 0.6])
def test_interactions_where_histograms_are_subtracted(groups, max_features):
    data = make_data(*problem(3, n_rows=4000, n_values=9))
    settings = {"n_rounds": 2, "max_leaf_nodes": 12, "max_features": max_features}
    settings |= {"interactions": interactions(groups)}
    reference = Result(ReferenceTreeEngine(), data, "exponential", **settings)
    check_paths(reference.ensemble, groups)
    for n_threads in (1, 2):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


@pytest.mark.parametrize("groups", [1, 2, [set(range(20)), set(range(15, 40))]])
def test_interactions_of_sparse_columns(groups):
    X, y = mostly_zeros(400, 40, 4, share=0.2)
    data = make_data(sparse.csr_array(X), y)
    settings = {"n_rounds": 3, "max_leaf_nodes": 12}
    settings |= {"interactions": Interactions(np.arange(40), groups)}
    reference = Result(ReferenceTreeEngine(), data, "exponential", **settings)
    assert all(is_allowed(path, groups) for path in paths(reference.ensemble))
    reference.assert_same(Result(NativeTreeEngine(2), data, "exponential", **settings))


@EVERY_GROUPS
@pytest.mark.parametrize("room", [None, 3])
def test_interactions_on_a_device(groups, room):
    data = make_data(*problem(3, n_rows=300))
    pool_bytes = None if room is None else room * (int(data.binned.n_bins.sum()) + 1) * 8 * 4
    settings = {"n_rounds": 3, "max_leaf_nodes": 12, "subsample": 0.9, "max_features": 0.8}
    settings |= {"interactions": interactions(groups)}
    native = Result(NativeTreeEngine(), data, "exponential", **settings)
    check_paths(native.ensemble, groups)
    engine = GpuTreeEngine(host_device(), pool_bytes)
    native.assert_same(Result(engine, data, "exponential", **settings))


def test_a_device_searches_everything_again_afterwards():
    data = make_data(*problem(3))
    engine = GpuTreeEngine(host_device())
    Result(engine, data, "exponential", interactions=interactions("apart"))
    Result(NativeTreeEngine(), data, "exponential").assert_same(Result(engine, data, "exponential"))


def monotone(n_classes, n_features=5):
    """Two columns that must rise, one that must fall, for pairs of classes that share one."""
    pairs = [(0, 1)] if n_classes == 2 else [(0, 1), (1, 2), (0, 2)]
    signs = np.zeros((n_features, len(pairs)), dtype=np.int8)
    signs[0], signs[1], signs[2, 0] = 1, -1, 1
    return MonotoneSteps(pairs, signs)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_monotone_steps_everywhere(n_classes, loss):
    data = make_data(*problem(n_classes))
    settings = {"max_leaf_nodes": 9, "monotone": monotone(n_classes), "n_rounds": 3}
    free = Result(ReferenceTreeEngine(), data, loss, max_leaf_nodes=9, n_rounds=3)
    reference = Result(ReferenceTreeEngine(), data, loss, **settings)
    assert not np.array_equal(free.ensemble.vectors, reference.ensemble.vectors)
    for engine in (NativeTreeEngine(2), GpuTreeEngine(host_device())):
        reference.assert_same(Result(engine, data, loss, **settings))


@EVERY_GROUPS
@pytest.mark.parametrize("cuts", [1, 3])
def test_constraints_on_a_cluster(client, groups, cuts):
    whole = make_data(*problem(4, n_rows=200))

    def make(engine, data):
        settings = {"interactions": interactions(groups), "monotone": monotone(4)}
        return make_tree_method(
            data, "logistic", engine=engine, max_leaf_nodes=9, max_features=0.8, **settings
        )

    data = set_of_parts(client, cut(whole, cuts), whole)
    ours = ensemble_of(make(NativeTreeEngine(), whole), whole, 3)
    engine = ClusterTreeEngine()
    theirs = ensemble_of(make(engine, data), data, 3)
    check_paths(ours[0], groups)
    assert_same_ensemble(ours[0], theirs[0])
    assert_same_rounds(ours[1], theirs[1])
    engine.close()
    data.close()
