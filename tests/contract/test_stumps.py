"""One contract for all engines: the same bits, whatever the threads, blocks, kernels and row order.

Nothing here has a tolerance.
"""

import functools

import numpy as np
import pytest
from engine_contract import Result, problem
from formulas import tree_outputs
from support import BOTH_LOSSES, embedded, make_method, rounds_of, training_set

from marginboost import MCBoostClassifier, _native
from marginboost.engine import ENGINES, NativeStumpEngine, ReferenceStumpEngine

CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 9, 16, 17, 40])
KERNELS = pytest.mark.parametrize("name", ["portable", "avx2", "avx512", "neon"])


KINDS = pytest.mark.parametrize(
    "kind", ["plain", "wide", "weights", "extreme weights", "multiplicities"]
)
TREES = pytest.mark.parametrize("depth", [1, 3])


def make_data(X, y, weight):
    return training_set(X, y, weight=weight)


@functools.cache
def reference_fit(n_classes, kind, depth, loss):
    """Fit once by the reference engine, for all engines and kernels that are compared with it."""
    data = make_data(*problem(n_classes, kind=kind))
    return data, Result(ReferenceStumpEngine(), data, loss, depth=depth)


@CLASSES
@KINDS
@TREES
@BOTH_LOSSES
def test_native_is_the_reference(n_classes, kind, depth, loss):
    data, reference = reference_fit(n_classes, kind, depth, loss)
    assert data.binned.bins.dtype == (np.uint16 if kind == "wide" else np.uint8)
    assert (data.multiplicity is not None) == (kind == "multiplicities")
    assert (data.weight is not None) == ("weights" in kind)
    assert len(reference.rounds) == 12
    reference.assert_same(Result(NativeStumpEngine(), data, loss, depth=depth))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("row_block", [1, 7, 64, 2048])
@pytest.mark.parametrize("n_classes", [3, 8, 17])
@TREES
def test_threads_and_blocks_change_nothing(n_threads, row_block, n_classes, depth):
    # Enough rows x features that the work is shared among threads.
    data = make_data(*problem(n_classes, n_rows=9000, n_features=6))
    plain = Result(NativeStumpEngine(), data, "exponential", depth=depth, n_rounds=6)
    plain.assert_same(
        Result(
            NativeStumpEngine(n_threads, row_block), data, "exponential", depth=depth, n_rounds=6
        )
    )


@pytest.mark.parametrize("n_classes", [2, 5, 9])
@pytest.mark.parametrize("n_values", [2, 300])
@BOTH_LOSSES
def test_threads_share_the_rows_of_one_feature(n_classes, n_values, loss):
    X, y, _ = problem(n_classes, n_rows=60_000, n_features=1, n_values=n_values)
    data = make_data(X, y, None)
    one = Result(NativeStumpEngine(1), data, loss, n_rounds=4)
    one.assert_same(Result(NativeStumpEngine(5), data, loss, n_rounds=4))
    one.assert_same(Result(NativeStumpEngine(2, 100), data, loss, n_rounds=4))
    one.assert_same(Result(ReferenceStumpEngine(), data, loss, n_rounds=4))


@KERNELS
@CLASSES
@KINDS
@BOTH_LOSSES
def test_kernels_change_nothing(name, n_classes, kind, loss, kernels):
    data, reference = reference_fit(n_classes, kind, 1, loss)
    kernels(name)
    assert _native.kernels() == name
    reference.assert_same(Result(NativeStumpEngine(2, 50), data, loss))


@KERNELS
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 6, 7, 9, 16, 17, 33])
def test_kernels_for_any_number_of_features(name, n_features, kernels):
    data = make_data(*problem(6, n_features=n_features))
    reference = Result(ReferenceStumpEngine(), data, "exponential", n_rounds=5)
    kernels(name)
    reference.assert_same(Result(NativeStumpEngine(), data, "exponential", n_rounds=5))


@pytest.mark.parametrize("engine", [ReferenceStumpEngine, NativeStumpEngine])
@KINDS
@TREES
@BOTH_LOSSES
def test_order_of_rows_changes_nothing(engine, kind, depth, loss):
    X, y, weight = problem(4, kind=kind)
    order = np.random.default_rng(5).permutation(len(y))
    shuffled = make_data(X[order], y[order], None if weight is None else weight[order])
    straight = Result(engine(), make_data(X, y, weight), loss, depth=depth)
    # Engines hold the rows by class, else in the order given.
    place = {row: at for at, row in enumerate(order[np.argsort(y[order], kind="stable")])}
    rows = [place[row] for row in np.argsort(y, kind="stable")]
    straight.assert_same(Result(engine(), shuffled, loss, depth=depth), rows=rows)


@TREES
@BOTH_LOSSES
def test_long_fits_stay_equal(depth, loss):
    X, y = embedded("iris")
    data = make_data(X, y, None)
    reference = Result(ReferenceStumpEngine(), data, loss, depth=depth, n_rounds=300)
    reference.assert_same(Result(NativeStumpEngine(2), data, loss, depth=depth, n_rounds=300))


@pytest.mark.parametrize("name", ["wine", "digits"])
@BOTH_LOSSES
def test_estimators_do_not_depend_on_the_engine(name, loss):
    X, y = embedded(name)
    models = [MCBoostClassifier(20, loss=loss, engine=e, n_jobs=2).fit(X, y) for e in ENGINES]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.train_errors_, models[0].train_errors_)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


# --- what the sums mean ---------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [ReferenceStumpEngine, NativeStumpEngine])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
@BOTH_LOSSES
def test_sums_are_those_of_the_margins(engine, kind, loss):
    """From F itself, in float64: weights by side, class of the row, and class."""
    X, y, weight = problem(5, kind=kind)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    data = training_set(X, y, weight=None if weight is None else weight[order])
    weight = np.ones(len(y)) if weight is None else weight[order]
    if data.weight is not None:
        weight = data.weight  # of mean 1
    engine = engine()
    method = make_method(data, loss, engine=engine, eta=0.5)
    F = np.zeros((len(y), 5))
    for finished in rounds_of(method, 10):
        h = tree_outputs(finished.weak, X)
        F += h[:, None] * finished.w
    e = np.exp(F - F[np.arange(len(y)), y][:, None])
    other = y[:, None] != np.arange(5)
    np.testing.assert_allclose(engine.state()[0][other], e[other], rtol=1e-12)
    u = np.where(other, e if loss == "exponential" else e / (1 + e), 0) * weight[:, None]
    sums = np.zeros((2, 5, 5))
    np.add.at(sums, ((h > 0).astype(int), y), u)
    np.testing.assert_allclose(engine.sums(40), sums, atol=len(y) * 2.0**-40)
    margin = np.where(other, F[np.arange(len(y)), y][:, None] - F, np.inf).min(axis=1)
    copies = weight if kind == "multiplicities" else np.ones(len(y))
    assert finished.training_error == copies[margin <= 0].sum() / copies.sum()
