"""Which rows there are, in which order and form, is all the same to the engines of trees."""

from dataclasses import replace

import numpy as np
import pytest
from engine_contract import TreeResult as Result
from scipy import sparse
from support import BOTH_LOSSES, assert_same_ensemble, assert_same_tree, noisy_problem
from tree_problems import KINDS, make_data, mostly_zeros, problem

from marginboost.data.row_view import RowView
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])
@BOTH_LOSSES
def test_rows_that_are_held_out(subsample, kind, loss):
    data = make_data(*problem(4, kind=kind))
    bounds = data.hash_bounds(0, 0.2)
    seen = data.seen(RowView(0, bounds))
    rows = seen.held_out_rows
    copies = np.ones(len(rows), int)
    if seen.copies is not None:
        copies = (seen.copies - seen.multiplicity)[rows]
    assert 0 < copies.sum() <= 0.2 * data.n_counted
    gone = np.flatnonzero(seen.weight == 0)
    settings = {"subsample": subsample, "max_leaf_nodes": 9, "held_out": bounds}
    reference_engine, native = ReferenceTreeEngine(), NativeTreeEngine(2)
    reference = Result(reference_engine, data, loss, **settings)
    reference.assert_same(Result(native, data, loss, **settings))
    assert not reference.g[gone][:, :-1].any()  # nothing but their count
    for engine in (reference_engine, native):
        e, labels, weight, n_copies, hashes = engine.held_out()
        np.testing.assert_array_equal(e, reference.e[rows])
        np.testing.assert_array_equal(labels, data.labels[rows])
        np.testing.assert_array_equal(
            weight * n_copies,
            (data.row_weight()[rows] / (1 if seen.copies is None else seen.copies[rows])) * copies,
        )
        np.testing.assert_array_equal(hashes, data.copies.of_content(0)[rows])


@BOTH_LOSSES
def test_what_held_out_rows_say_moves_no_other(loss):
    """Rows of no weight leave the others where they are, whatever their values."""
    X, y, _ = problem(4)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    rows = np.flatnonzero(np.random.default_rng(3).random(len(y)) < 0.2)
    other_X = X.copy()
    other_X[rows] = X[rows[::-1]]  # the same values, so the same thresholds
    seen = np.delete(np.arange(len(y)), rows)
    results = []
    for values in (X, other_X):
        data = make_data(values, y)
        weight = np.where(np.isin(np.arange(len(y)), rows), 0.0, 1.0)
        mass = np.bincount(y, weights=weight)
        data = replace(data, weight=weight, class_mass=mass)
        results.append(Result(NativeTreeEngine(), data, loss, max_leaf_nodes=9))
    np.testing.assert_array_equal(results[0].e[seen], results[1].e[seen])
    assert (results[0].e[rows] != results[1].e[rows]).any()


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.999, 1.0])
def test_samples_of_rows(seed, share):
    """The same rows in all engines: about the share, in node 0 of a tree."""
    sample = RowSample(seed, min(int(share * 2.0**64), 2**64 - 1))
    data = make_data(*problem(3, n_rows=500))
    hashes = data.copies.first(5)
    found = []
    for engine in (ReferenceTreeEngine(), NativeTreeEngine(), NativeTreeEngine(3)):
        engine.load(data, LOSSES["exponential"], Slots(3), RowView(5))
        one = np.ones((1, 3), dtype=np.float32)
        engine.advance(one, one, one[0], 10, 10)
        found.append(engine.start_tree(np.arange(5, dtype=np.int32), sample, 1, 1.0))
    assert found[0] == found[1] == found[2]
    assert found[0].n_rows == sample.holds(hashes).sum()
    assert abs(found[0].n_rows - 500 * share) < 45


@pytest.mark.parametrize("engine", [ReferenceTreeEngine, NativeTreeEngine])
@KINDS
@pytest.mark.parametrize("subsample", [1.0, 0.6])
@BOTH_LOSSES
def test_order_of_rows_changes_nothing(engine, kind, subsample, loss):
    X, y, weight = problem(7, kind=kind)
    order = np.random.default_rng(5).permutation(len(y))
    shuffled = make_data(X[order], y[order], None if weight is None else weight[order])
    settings = {"subsample": subsample, "n_rounds": 3}
    straight = Result(engine(), make_data(X, y, weight), loss, **settings)
    # Engines hold the rows by class, else in the order given.
    place = {row: at for at, row in enumerate(order[np.argsort(y[order], kind="stable")])}
    rows = [place[row] for row in np.argsort(y, kind="stable")]
    straight.assert_same(Result(engine(), shuffled, loss, **settings), rows=rows)


@pytest.mark.parametrize("engine", [ReferenceTreeEngine, NativeTreeEngine])
@pytest.mark.parametrize("min_samples_leaf", [1, 7])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
@BOTH_LOSSES
def test_an_integer_weight_repeats_the_row(engine, min_samples_leaf, subsample, loss):
    X, y, _ = problem(4, n_rows=110)
    times = np.random.default_rng(2).integers(1, 5, len(y))
    weighted = make_data(X, y, times, max_bins=12)
    repeated = make_data(np.repeat(X, times, axis=0), np.repeat(y, times), max_bins=12)
    settings = {"min_samples_leaf": min_samples_leaf, "max_leaf_nodes": 12, "subsample": subsample}
    once = Result(engine(), weighted, loss, **settings)
    often = Result(engine(), repeated, loss, **settings)
    assert_same_ensemble(once.ensemble, often.ensemble)
    for ours, theirs in zip(once.rounds, often.rounds, strict=True):
        assert_same_tree(ours.weak, theirs.weak)
        assert ours.training_error == theirs.training_error
    np.testing.assert_array_equal(np.repeat(once.e, weighted.multiplicity, axis=0), often.e)


@pytest.mark.parametrize("n_classes", [2, 3, 6, 10, 14])
@BOTH_LOSSES
def test_permuting_the_classes_permutes_the_columns(n_classes, loss):
    """Sums over the classes of a row have an order, so only up to rounding."""
    X, y = noisy_problem(400, 4, n_classes)
    new_name = np.random.default_rng(0).permutation(n_classes)
    assert not Slots(n_classes).shares_lanes
    settings = {"n_rounds": 4, "min_samples_leaf": 10}
    straight = Result(NativeTreeEngine(), make_data(X, y), loss, **settings)
    permuted = Result(NativeTreeEngine(), make_data(X, new_name[y]), loss, **settings)
    np.testing.assert_allclose(
        straight.ensemble.decision_function(X),
        permuted.ensemble.decision_function(X)[:, new_name],
        atol=1e-5,
    )


@pytest.mark.parametrize("n_classes", [3, 14, 29])
@pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_and_dense_input_give_one_model(n_classes, kind, form):
    loss = "logistic" if form is sparse.csc_array else "exponential"
    n_rows = 400 if kind == "wide" else 200
    X, y = mostly_zeros(n_rows, 12, n_classes)
    rng = np.random.default_rng(1)
    weight = {
        "weights": rng.uniform(0, 3, n_rows), "multiplicities": rng.integers(1, 6, n_rows)
    }.get(kind)  # fmt: skip
    dense, lists = make_data(X, y, weight), make_data(form(X), y, weight)
    assert lists.binned.bins.dtype == (np.uint16 if kind == "wide" else np.uint8)
    settings = {"subsample": 0.7, "max_leaf_nodes": 10, "n_rounds": 3}
    reference = Result(ReferenceTreeEngine(), dense, loss, **settings)
    used = {f for finished in reference.rounds for f in finished.weak.feature}
    assert used - {1}
    for engine, data in (
        (ReferenceTreeEngine(), lists),
        (NativeTreeEngine(1), dense),
        (NativeTreeEngine(1), lists),
        (NativeTreeEngine(3), lists),
    ):
        reference.assert_same(Result(engine, data, loss, **settings))


@pytest.mark.parametrize("usual", [0, 3, 5])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.11])
@pytest.mark.parametrize("least", [1, 7])
def test_columns_that_are_mostly_one_value(usual, share, least):
    """The native engine keeps lists of the other rows where they are a tenth or less."""
    rng = np.random.default_rng(4)
    X, y, _ = problem(5, n_rows=300, n_features=6, n_values=6)
    X[rng.random(X.shape) >= share] = usual
    X[:, 0] = problem(5, n_rows=300, n_values=20)[0][:, 0]
    data = make_data(X, y)
    settings = {"min_samples_leaf": least, "max_leaf_nodes": 16, "pseudo_count": 0.01}
    reference = Result(ReferenceTreeEngine(), data, "exponential", **settings)
    assert len(reference.rounds) == 4
    for n_threads in (1, 2):
        reference.assert_same(Result(NativeTreeEngine(n_threads), data, "exponential", **settings))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_constant_columns_have_no_split(form):
    X, y = np.full((30, 3), 2.5), np.arange(30) % 3
    data = make_data(form(X), y)
    for engine in (ReferenceTreeEngine(), NativeTreeEngine()):
        engine.load(data, LOSSES["exponential"], Slots(3), RowView())
        one = np.ones((1, 3), dtype=np.float32)
        assert engine.advance(one, one, one[0], 20, 20)[0] == 30
        features = np.arange(3, dtype=np.int32)
        assert engine.start_tree(features, RowSample(), 1, 1.0) == (-1, 0, 30, 0.0)
        own, against = engine.finish_tree(np.array([0], dtype=np.int32), 10)
        np.testing.assert_array_equal(own, [[20 * 1024] * 3])
        np.testing.assert_array_equal(against, [[20 * 1024] * 3])
    assert not Result(NativeTreeEngine(), data, "exponential").rounds
