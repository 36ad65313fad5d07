"""One contract for all engines of vector-leaf trees: the same bits, whatever runs them.

Nothing here has a tolerance, but for the order of classes.
"""

import sys

import numpy as np
import pytest
from engine_contract import TreeResult as Result
from scipy import sparse
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    boosted,
    embedded,
    make_tree_method,
    random_problem,
)
from tree_problems import KINDS, make_data, mostly_zeros, problem

from marginboost import MarginBoostClassifier, _native
from marginboost.boosting import choose, train
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.trees.slots import Slots

# Lanes of 8 and 16, and more classes than lanes: then some share one, with signs.
SHAPES = pytest.mark.parametrize("n_classes", [2, 3, 6, 7, 14, 15, 28, 29, 57, 100])
FEW_SHAPES = pytest.mark.parametrize("n_classes", [2, 6, 7, 14, 29, 100])
KERNELS = pytest.mark.parametrize("name", ["portable", "avx2", "avx512", "neon"])
SETTINGS = {
    "subsample": {"subsample": 0.6},
    "max_features": {"max_features": 0.5},
    "both": {"subsample": 0.6, "max_features": 0.5},
    "max_depth": {"max_depth": 2},
    "least rows": {"min_samples_leaf": 7},
    "all": {"subsample": 0.6, "max_features": 0.5, "max_depth": 2, "min_samples_leaf": 7},
    "two leaves": {"max_leaf_nodes": 2},
    "long steps": {"eta": 1.0, "pseudo_count": 0.0},
    "short steps": {"eta": 1.0, "pseudo_count": 100.0},
}


@SHAPES
@KINDS
def test_native_is_the_reference(n_classes, kind):
    loss = "logistic" if n_classes % 2 else "exponential"
    X, y, weight = problem(n_classes, kind=kind)
    data = make_data(X, y, weight, n_classes=n_classes)
    assert data.binned.bins.dtype == (np.uint16 if kind == "wide" else np.uint8)
    assert (data.multiplicity is not None) == (kind == "multiplicities")
    assert (data.weight is not None) == ("weights" in kind)
    n_rounds = 2 if kind == "wide" else 4
    reference = Result(ReferenceTreeEngine(), data, loss, n_rounds=n_rounds)
    assert len(reference.rounds) == n_rounds
    assert sum(len(finished.weak.leaf_value) for finished in reference.rounds) > 2 * n_rounds
    for n_threads in (1, 3):
        engine = NativeTreeEngine(n_threads)
        reference.assert_same(Result(engine, data, loss, n_rounds=n_rounds))


@pytest.mark.parametrize("n_classes", [3, 6, 7, 15, 29, 57])
@pytest.mark.parametrize("kind", ["plain", "extreme weights", "multiplicities"])
@BOTH_LOSSES
def test_pairs_of_ordered_classes(n_classes, kind, loss):
    """Pairs of classes that count by their distance."""
    X, y, weight = problem(n_classes, kind=kind)
    data = make_data(X, y, weight, n_classes=n_classes)
    ranks = np.random.default_rng(0).permutation(n_classes)
    reference = Result(ReferenceTreeEngine(), data, loss, ranks=ranks)
    for n_threads in (1, 3):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, loss, ranks=ranks))
    plain = Result(ReferenceTreeEngine(), data, loss)
    assert not np.array_equal(reference.g, plain.g)


@KERNELS
@BOTH_LOSSES
def test_kernels_weigh_pairs_alike(name, loss, kernels):
    X, y, weight = problem(9, kind="weights")
    data = make_data(X, y, weight, n_classes=9)
    best = Result(NativeTreeEngine(), data, loss, ranks=np.arange(9))
    kernels(name)
    best.assert_same(Result(NativeTreeEngine(), data, loss, ranks=np.arange(9)))


def test_two_classes_have_no_distances():
    X, y, weight = problem(2)
    data = make_data(X, y, weight, n_classes=2)
    plain = Result(NativeTreeEngine(), data, "exponential")
    plain.assert_same(Result(NativeTreeEngine(), data, "exponential", ranks=np.array([5, 0])))


@pytest.mark.parametrize(
    "n_classes", [2, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 28, 29, 57, 100]
)
def test_slots_are_those_of_the_native_engine(n_classes):
    engine, slots = NativeTreeEngine(), Slots(n_classes)
    X, y = random_problem(n_classes + 5, 2, n_classes)
    data = make_data(X, y)
    boosted(make_tree_method(data, "exponential", engine=engine), 1)
    assert engine._shard.slots() == (slots.lanes, slots.tiles, slots.stored)
    assert slots.shares_lanes == (n_classes > slots.lanes - 2)
    lanes = np.unique(slots.lane_of_class())
    np.testing.assert_array_equal(lanes, np.arange(min(n_classes, slots.lanes - 2)))


@KERNELS
@pytest.mark.parametrize("n_classes", range(2, 18))
@pytest.mark.parametrize("ordered", [False, True])
@BOTH_LOSSES
def test_margins_are_kept_in_few_floats(name, n_classes, ordered, loss, kernels):
    """Without lanes that are always 0, however many classes there are."""
    X, y, weight = problem(n_classes, kind="weights")
    data = make_data(X, y, weight, n_classes=n_classes)
    ranks = np.random.default_rng(0).permutation(n_classes) if ordered else None
    settings = {"n_rounds": 3, "ranks": ranks}
    reference = Result(ReferenceTreeEngine(), data, loss, **settings)
    kernels(name)
    reference.assert_same(Result(NativeTreeEngine(2), data, loss, **settings))
    assert n_classes <= Slots(n_classes).stored <= max(4, n_classes + 3, 32 * (n_classes > 16))


def test_an_engine_lets_go_of_its_rows():
    X, y, _ = problem(3)
    engine = NativeTreeEngine()
    boosted(make_tree_method(make_data(X, y), "exponential", engine=engine), 1)
    shard = engine._shard
    engine.release()
    assert sys.getrefcount(shard) == 2  # this name, and the argument


@pytest.mark.parametrize("settings", [{}, {"calibrate": False}, {"n_estimators": 3}])
def test_a_fit_frees_its_rows_before_what_follows(settings, monkeypatch):
    held = []
    covered = {module: module.covered for module in (train, choose)}
    engines = []
    make = NativeTreeEngine.__init__
    monkeypatch.setattr(
        NativeTreeEngine, "__init__", lambda self, *args: engines.append(self) or make(self, *args)
    )
    for module, function in covered.items():

        def watched(*args, function=function):
            held.append(hasattr(engines[0], "_shard"))
            return function(*args)

        monkeypatch.setattr(module, "covered", watched)
    X, y, _ = problem(3)
    MarginBoostClassifier(random_state=0, **settings).fit(X, y)
    assert held
    assert not any(held)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n_classes", [3, 29])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
@BOTH_LOSSES
def test_settings_change_nothing(setting, n_classes, kind, loss):
    data = make_data(*problem(n_classes, kind=kind), n_classes=n_classes)
    settings = {"n_rounds": 3, "max_leaf_nodes": 8} | SETTINGS[setting]
    reference = Result(ReferenceTreeEngine(), data, loss, **settings)
    assert reference.rounds
    for n_threads in (1, 2):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, loss, **settings))


@KERNELS
@FEW_SHAPES
@KINDS
@BOTH_LOSSES
def test_kernels_change_nothing(name, n_classes, kind, loss, kernels):
    data = make_data(*problem(n_classes, kind=kind, seed=3), n_classes=n_classes)
    settings = {"max_leaf_nodes": 20, "subsample": 0.8}
    best = Result(NativeTreeEngine(), data, loss, **settings)
    kernels(name)
    assert _native.kernels() == name
    best.assert_same(Result(NativeTreeEngine(2), data, loss, **settings))


@KERNELS
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 6, 7, 9])
@pytest.mark.parametrize("n_values", [2, 16, 17, 18])
def test_kernels_for_any_number_of_features_and_bins(name, n_features, n_values, kernels):
    X, y, _ = problem(6, n_features=n_features, n_values=n_values)
    X[:n_values, 0] = np.arange(n_values)  # each value is there
    data = make_data(X, y)
    assert data.binned.n_bins[0] == n_values
    reference = Result(ReferenceTreeEngine(), data, "exponential", n_rounds=1)
    kernels(name)
    reference.assert_same(Result(NativeTreeEngine(), data, "exponential", n_rounds=1))


# --- size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [3, 15])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_histograms_that_are_kept_and_subtracted(n_classes, subsample):
    """With few bins and many rows a node's histograms are its parent's less its sibling's."""
    X, y, _ = problem(n_classes, n_rows=6000, n_features=5, n_values=9)
    data = make_data(X, y, n_classes=n_classes)
    settings = {"n_rounds": 2, "max_leaf_nodes": 12, "subsample": subsample}
    reference = Result(ReferenceTreeEngine(), data, "exponential", **settings)
    assert all(len(finished.weak.leaf_value) == 12 for finished in reference.rounds)
    for n_threads in (1, 4):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


@pytest.mark.parametrize(
    ("n_classes", "kind", "max_features"),
    [(3, "plain", 1.0), (8, "weights", 0.5), (20, "plain", 1.0)],
)
def test_threads_change_nothing(n_classes, kind, max_features):
    """Enough rows that all parts of a fit are shared among threads."""
    X, y, weight = problem(n_classes, kind=kind, n_rows=50_000, n_features=8, n_values=100)
    X[np.random.default_rng(0).random(len(y)) < 0.95, 2] = 50.0  # a list
    data = make_data(X, y, weight)
    settings = {"n_rounds": 3, "max_features": max_features, "max_leaf_nodes": 31}
    settings |= {"subsample": 0.7} if kind == "weights" else {}
    one = Result(NativeTreeEngine(1), data, "exponential", **settings)
    for n_threads in (2, 4):
        one.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


def test_threads_change_nothing_with_many_sparse_columns():
    X, y = mostly_zeros(1500, 300, 5, share=0.02)
    data = make_data(sparse.csr_array(X), y)
    settings = {"n_rounds": 3, "max_leaf_nodes": 31}
    one = Result(NativeTreeEngine(1), data, "exponential", **settings)
    for n_threads in (2, 4):
        one.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


@KERNELS
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize(("n_classes", "n_values"), [(5, 20), (5, 400), (9, 100)])
def test_nodes_with_few_entries_in_sparse_columns(name, n_classes, n_values, copies, kernels):
    """Of a column of many values a node has few: the others are passed over."""
    X, y = mostly_zeros(2500, 12, n_classes, share=0.1, n_values=n_values)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if copies else None
    data = make_data(sparse.csr_array(X), y, weight)
    settings = {"n_rounds": 3, "max_leaf_nodes": 31}
    reference = Result(ReferenceTreeEngine(), data, "logistic", **settings)
    kernels(name)
    for n_threads in (1, 3):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, "logistic", **settings))


@BOTH_LOSSES
def test_long_fits_stay_equal(loss):
    data = make_data(*embedded("iris"))
    settings = {"n_rounds": 80, "max_leaf_nodes": 4, "eta": 1.0}
    reference = Result(ReferenceTreeEngine(), data, loss, **settings)
    reference.assert_same(Result(NativeTreeEngine(2), data, loss, **settings))


@BOTH_LOSSES
def test_estimators_do_not_depend_on_the_engine(loss):
    X, y = embedded("wine")
    settings = {"loss": loss, "random_state": 3, "subsample": 0.8}
    native, reference = (
        MarginBoostClassifier(6, engine=engine, **settings).fit(X, y)
        for engine in ("native", "reference")
    )
    assert_same_ensemble(native.ensemble_, reference.ensemble_)
    assert native.probability_scale_ == reference.probability_scale_
    np.testing.assert_array_equal(native.train_errors_, reference.train_errors_)
    np.testing.assert_array_equal(native.feature_importances_, reference.feature_importances_)
