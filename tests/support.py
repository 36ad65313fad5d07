"""What several tests share: data, the package's parts put together, and comparisons with no tolerance."""

import contextlib
import itertools
import os
import tracemalloc
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets

from marginboost import MarginBoostClassifier
from marginboost.boosting.loop import boost
from marginboost.boosting.methods.marginboost import MarginBoost
from marginboost.boosting.methods.mcboost import MCBoost
from marginboost.boosting.tree_draws import Sampling
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.boosting.weak.tree import TreeLearner
from marginboost.data.grouping import class_masses
from marginboost.data.row_subset import take_rows
from marginboost.data.row_view import RowView
from marginboost.data.training_set import TrainingSet, make_training_set
from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.trees.growth import GrowthRules
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES, weigh_by_distance
from marginboost.model.builder import EnsembleBuilder

BOTH_LOSSES = pytest.mark.parametrize("loss", ["exponential", "logistic"])

# --- data -----------------------------------------------------------------------------------------


def embedded(name):
    """X and y of a set that comes with scikit-learn."""
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def shared_file(name):
    """Open a set in the folder MARGINBOOST_DATA, or skip the test."""
    folder = os.environ.get("MARGINBOOST_DATA")
    if not folder or not (path := Path(folder) / f"{name}.npz").is_file():
        pytest.skip(f"no {name}.npz in the folder that MARGINBOOST_DATA names")
    return np.load(path)


def shared_counts(name):
    """Return a shared set of word counts, as a CSR array, with classes numbered from 0."""
    with shared_file(name) as file:
        parts = file["data"], file["indices"], file["indptr"]
        X = sparse.csr_array(parts, shape=tuple(file["shape"]))
        return X, np.unique(file["y"], return_inverse=True)[1]


def shared(name, n_rows, seed=0):
    """Return a sample of a set in the folder MARGINBOOST_DATA, with classes numbered from 0."""
    with shared_file(name) as file:
        X, y = file["X"], np.unique(file["y"], return_inverse=True)[1]
    rows = np.random.default_rng(seed).permutation(len(X))[:n_rows]
    return X[rows], y[rows]


def by_name(name):
    """Return one of scikit-learn's sets, or 500 rows of a shared one."""
    return shared(name, 500) if name in ("pendigits", "letter") else embedded(name)


def random_problem(n_rows, n_features, n_classes, *, n_values=None, seed=0):
    """Features that say something of the class, every class with rows."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_classes, n_features))[y]
    if n_values is not None:
        X = np.rint((X - X.min()) / (X.max() - X.min()) * (n_values - 1))
    return X, y


TWO_CLASSES = pytest.mark.parametrize(
    "name", ["breast_cancer", "iris_1_2", "digits_3_8", "digits_odd", "noise"]
)


def two_classes(name):
    if name == "noise":
        rng = np.random.default_rng(3)
        return rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    if name == "breast_cancer":
        return embedded(name)
    X, y = embedded(name.split("_")[0])
    if name == "digits_odd":
        return X[:600], y[:600] % 2
    first, second = map(int, name.split("_")[1:])
    kept = np.isin(y, (first, second))
    return X[kept], (y[kept] == second).astype(int)


def noisy_problem(n_rows=150, n_features=4, n_classes=3, *, n_values=None, seed=0):
    """Classes that stumps do not tell apart: a fifth of the labels is wrong."""
    X, y = random_problem(n_rows, n_features, n_classes, n_values=n_values, seed=seed)
    wrong = np.random.default_rng(seed + 1).random(n_rows) < 0.2
    return X, np.where(wrong, (y + 1) % n_classes, y)


def row_weights(kind, n_rows, rng):
    """Draw weights of rows by the name of their kind; None for a kind that has none."""
    return {
        "weights": rng.uniform(0, 3, n_rows),
        "extreme weights": 10.0 ** rng.uniform(-8, 8, n_rows),
        "multiplicities": rng.integers(1, 6, n_rows),
    }.get(kind)


# --- the package's parts --------------------------------------------------------------------------


def training_set(X, y, *, weight=None, max_bins=None, n_classes=None):
    """Make a training set of class numbers y."""
    k = int(np.max(y)) + 1 if n_classes is None else n_classes
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    return make_training_set(
        X if sparse.issparse(X) else np.asarray(X), np.asarray(y, dtype=np.int64), k,
        sample_weight=weight, class_weight=None, max_bins=max_bins, n_threads=1,
    )  # fmt: skip


def make_method(data, loss, *, engine=None, depth=1, nu=0.0, eta=1.0, kappa=None, method=MCBoost):
    """Make a boosting method from the package's parts."""
    thresholds = data.binned.thresholds
    learner = StumpLearner(thresholds) if depth == 1 else TreeLearner(thresholds, depth)
    engine = NativeStumpEngine() if engine is None else engine
    return method(engine, data, LOSSES[loss], learner, nu=nu, eta=eta, kappa=kappa)


def make_tree_method(
    data, loss, *, engine=None, max_leaf_nodes=6, max_depth=None, min_samples_leaf=1,
    max_features=1.0, subsample=1.0, pseudo_count=1.0, eta=0.5, seed=0, held_out=None,
    interactions=None, monotone=None, ranks=None,
):  # fmt: skip
    """Make the boosting of vector-leaf trees from the package's parts; `ranks` orders the classes."""
    return MarginBoost(
        NativeTreeEngine() if engine is None else engine,
        data,
        weigh_by_distance(LOSSES[loss], ranks),
        rules=GrowthRules(min_samples_leaf, 1.0, max_leaf_nodes, max_depth),
        sampling=Sampling(max(1, round(max_features * data.binned.n_features)), subsample),
        pseudo_count=pseudo_count,
        eta=eta,
        rng=np.random.default_rng(seed),
        slots=Slots(data.n_classes),
        view=RowView(seed if subsample < 1.0 or held_out is not None else None, held_out),
        interactions=interactions,
        monotone=monotone,
    )


@dataclass
class Finished:
    """A round's record, and what was found in it."""

    number: int
    w: Any
    edge: float
    optimality_error: float
    training_error: float
    gains: Any
    training_loss: float
    weak: Any


def boosted(method, n_rounds, callback=lambda finished: None):
    """Boost and return the rounds' records with their weak classifiers, and the ensemble."""
    data = method._data
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    rounds, found, extend = [], [], method.extend

    def watched(builder, weak, w):
        found.append(weak)
        return extend(builder, weak, w)

    def record(finished):
        rounds.append(Finished(*finished[:7], weak=found[-1]))
        callback(rounds[-1])

    method.extend = watched
    boost(method, n_rounds, builder, record)
    return rounds, builder.build()


def rounds_of(method, n_rounds, callback=lambda finished: None):
    """Boost and return the rounds' records with their weak classifiers."""
    return boosted(method, n_rounds, callback)[0]


def small_margin_boost(n_estimators=8, **settings):
    """Return a MarginBoostClassifier of few rounds, with a random state unless one is given."""
    return MarginBoostClassifier(n_estimators, **({"random_state": 0} | settings))


def assert_same_margin_boost(a, b):
    """Compare two of them with no tolerance."""
    assert_same_model(a, b)
    assert a.probability_scale_ == b.probability_scale_


def assert_same_tree(ours, theirs):
    """Two vector-leaf trees, with no tolerance."""
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def assert_same_ensemble(a, b):
    """Equal bit for bit."""
    for name in (
        "vectors", "round_offsets", "node_offsets", "feature", "threshold", "left", "right",
        "leaf_offsets", "leaf_vector", "leaf_value",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_same_rows(a, b):
    """Two kinds of `Rows`, by what methods know of them; equal bit for bit."""
    for name in ("n_classes", "n_rows", "n_counted", "largest_weight"):
        assert getattr(a, name) == getattr(b, name)
    for name in ("class_counts", "class_mass"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def assert_same_sample(a, b):
    """Two `SampledRows`, sparse or not, equal bit for bit."""
    dense = [rows.X.toarray() if sparse.issparse(rows.X) else rows.X for rows in (a, b)]
    np.testing.assert_array_equal(*dense)
    for ours, theirs in zip(a[1:], b[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


RECORDED = (
    "coef_", "code_", "votes_", "train_errors_", "optimality_errors_", "feature_importances_",
    "probability_scale_", "n_features_in_",
)  # fmt: skip


def assert_same_encoding(a, b):
    """Equal bit for bit."""
    assert a.n_features == b.n_features
    np.testing.assert_array_equal(a.source, b.source)
    np.testing.assert_array_equal(a.fill, b.fill)
    assert a.categories == b.categories
    for ours, theirs in zip(a.positions, b.positions, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def assert_same_model(a, b, *, cover_rtol=0):
    """Equal bit for bit, with all that was recorded."""
    assert type(a) is type(b)
    assert_same_ensemble(a.ensemble_, b.ensemble_)
    assert_same_encoding(a.encoding_, b.encoding_)
    np.testing.assert_allclose(a.ensemble_.leaf_cover, b.ensemble_.leaf_cover, rtol=cover_rtol)
    np.testing.assert_array_equal(a.class_count_, b.class_count_)
    for name in RECORDED:
        if hasattr(a, name) or hasattr(b, name):
            # Importances follow from the covers.
            rtol = cover_rtol if name == "feature_importances_" else 0
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    assert a.stop_reason_ == b.stop_reason_
    for name in ("training_frequencies_", "class_frequencies_"):
        np.testing.assert_array_equal(getattr(a, name, 0), getattr(b, name, 0), err_msg=name)
    rows = [getattr(model, "calibration_rows_", None) for model in (a, b)]
    assert (rows[0] is None) == (rows[1] is None)
    for name in () if rows[0] is None else rows[0].__slots__:
        np.testing.assert_array_equal(*(getattr(one, name) for one in rows), err_msg=name)


# --- a training set in parts ----------------------------------------------------------------------


def part_of(data, rows):
    """Cut some rows, ascending, out of a training set: bins, thresholds and classes stay."""
    cut = take_rows(data.binned, rows)
    weight, copies, leaf_weight = data.weight, data.multiplicity, data.leaf_weight
    offsets = np.searchsorted(rows, data.class_offsets).astype(np.int64)
    weight = None if weight is None else weight[rows]
    copies = None if copies is None else copies[rows]
    if leaf_weight is not None:
        leaf_weight = replace(leaf_weight, rows=leaf_weight.rows[rows])
    return TrainingSet(
        cut, offsets, weight, copies, class_masses(offsets, weight, copies), leaf_weight
    )


def drawn_copies(data, seed, sample):
    """Count the copies of every row that a sample holds, one by one."""
    step = 0x9E3779B97F4A7C15
    times = np.ones(data.n_rows, int) if data.multiplicity is None else data.multiplicity
    return np.array(
        [
            sample.holds(np.array([(int(h) + j * step) % 2**64 for j in range(m)], np.uint64)).sum()
            for h, m in zip(data.copies.first(seed), times, strict=True)
        ]
    )


def partition(n_rows, how, seed=0):
    """Deal rows out to parts: into blocks (which lack classes), at random, or with parts of none."""
    if how == "one":
        return [np.arange(n_rows)]
    if how == "blocks":
        return np.array_split(np.arange(n_rows), 3)
    part = np.random.default_rng(seed).choice([1, 2, 4] if how == "empty" else range(5), n_rows)
    return [np.flatnonzero(part == p) for p in range(6 if how == "empty" else 5)]


# --- memory and time ------------------------------------------------------------------------------


@contextlib.contextmanager
def most_traced_bytes(limit):
    """Assert that what is done inside never holds more bytes of Python and NumPy than these."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


def tick(monkeypatch, step):
    """Let the clock of a fit go on by a step whenever it is read."""
    seconds = itertools.count(0, 1)

    def clock():
        return next(seconds) * step

    monkeypatch.setattr("time.perf_counter", clock)
    monkeypatch.setattr("marginboost.boosting.loop.perf_counter", clock)
