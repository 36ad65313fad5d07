"""Sums over any parts of the rows, added up and scanned, are the answers of an engine on all rows.

Nothing here has a tolerance.
"""

import numpy as np
import pytest
from partial_support import ENGINES, VECTOR_ENGINES, equal, problem, searched
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    assert_same_tree,
    boosted,
    make_method,
    make_tree_method,
    part_of,
    partition,
)

from marginboost import _native
from marginboost.data.copies import Numbering
from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
)
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.trees.base import NodeSplit
from marginboost.engine.trees.growth import grow_in_batches

PARTITIONS = pytest.mark.parametrize("how", ["one", "blocks", "random", "empty"])
KINDS = pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])


def covering(values, shapes):
    """Pair everything with every shape, but partitions with kinds of rows for the first shape alone.

    The sums of parts are added up in one place, which knows no classes; parts without rows are
    the hardest, and stand for the others where the shapes are tried.
    """
    first, *rest = shapes
    whole = [(how, kind, *first) for how in ("one", "blocks", "random", "empty") for kind in values]
    return whole + [("empty", kind, *shape) for kind in values for shape in rest]


def added(answers):
    """Add up what the parts say; None where they say nothing."""
    if answers[0] is None:
        return None
    if isinstance(answers[0], tuple):
        return tuple(added(of_place) for of_place in zip(*answers, strict=True))
    return sum(answers)


class Summed:
    """Engines on parts of the rows; whatever else is asked is asked of all, and added up."""

    n_threads = 1

    def __init__(self, engines, how):
        self.makers, self.how = engines, how

    def load_parts(self, data, *arguments):
        self.n_bins = data.binned.n_bins
        self.rows = partition(data.n_rows, self.how)
        self.parts = []
        data.copies.independent(0)  # numbers the copies of equal rows, in all parts together
        _, numbers, independent = data.copies.numbering
        if numbers is None:
            numbers = np.zeros(data.n_rows, dtype=np.int64)
        for rows in self.rows:
            self.parts.append([make() for make in self.makers])
            part = part_of(data, rows)
            part.copies.numbering = Numbering("the whole", numbers[rows], independent)
            for engine in self.parts[-1]:
                engine.load(part, *[of(rows) for of in arguments])

    def __getattr__(self, name):
        def ask(*arguments):
            answers = [[getattr(e, name)(*arguments) for e in part] for part in self.parts]
            return added([equal(of_part) for of_part in answers])

        return ask


class SummedStumpEngine(Summed):
    """A `StumpEngine` of stumps that is made of others, all kinds of them on each part."""

    def load(self, data, weighting):
        self.load_parts(data, lambda rows: weighting)

    def best_stump(self, criterion=Criterion.LARGEST):
        hist = self.histograms()
        assert hist.dtype == np.int32
        return _native.scan_stump(hist, self.n_bins, criterion)

    def state(self):
        """e and the direction, in the whole's order."""
        order = np.argsort(np.concatenate(self.rows))
        states = [equal([e.state() for e in part]) for part in self.parts]
        return tuple(np.concatenate(of)[order] for of in zip(*states, strict=True))


class SummedTreeEngine(Summed):
    """A `TreeEngine` made of `PartialTreeEngine`s."""

    plan_tree = None
    state = SummedStumpEngine.state

    def load(self, data, loss, slots, view):
        self.slots = slots
        self.load_parts(data, lambda rows: loss, lambda rows: slots, lambda rows: view)

    def start_tree(self, features, sample, least_count, smoothing):
        self.features, self.rules = features, (least_count, smoothing)
        self.begin_tree(features, sample)
        self.n_nodes = 1
        return self.scanned([0], [True])[0]

    def split(self, nodes, features, bins, search, allowed=None):
        assert allowed is None
        self.move_rows(nodes, features, bins)
        new = list(range(self.n_nodes, self.n_nodes + 2 * len(nodes)))
        self.n_nodes += len(new)
        return self.scanned(new, np.repeat(search, 2))

    def scanned(self, nodes, search):
        hist = self.node_histograms(nodes)
        assert hist.dtype == np.int32
        self.found = _native.scan_nodes(hist, self.n_bins[self.features], *self.rules)
        splits = []
        for wanted, (f, b, score, here, count, left) in zip(
            search, zip(*self.found, strict=True), strict=True
        ):
            if not wanted or not score > here:
                splits.append(NodeSplit(-1, 0, count, 0.0))
                continue
            assert 0 < left < count
            splits.append(NodeSplit(self.features[f], b, count, float(score) - float(here)))
        return splits

    def grow_tree(self, features, sample, rules, interactions=None):
        return grow_in_batches(self, features, sample, rules, interactions)


# --- whole fits -----------------------------------------------------------------------------------


def assert_same_fits(ours, theirs, n_rounds):
    """Boost both; compare all that is left."""
    rounds, ensemble = boosted(ours, n_rounds)
    others, other = boosted(theirs, n_rounds)
    assert_same_ensemble(ensemble, other)
    for a, b in zip(rounds, others, strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        assert a.edge == b.edge
        assert a.training_error == b.training_error
    return rounds, others


@pytest.mark.parametrize(
    ("how", "kind", "k"),
    covering(("plain", "wide", "weights", "multiplicities"), [(3,), (2,), (9,), (17,)]),
)
@BOTH_LOSSES
def test_boosting_by_parts(how, kind, k, loss):
    data = problem(k, kind)
    engines = SummedStumpEngine(ENGINES, how), NativeStumpEngine()
    assert_same_fits(*[make_method(data, loss, engine=e, eta=0.5) for e in engines], 4)
    for ours, theirs in zip(*[engine.state() for engine in engines], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("how", "kind", "k"),
    covering(
        ("plain", "wide", "weights", "multiplicities", "rare", "sparse"),
        [(15,), (2,), (7,), (29,), (60,)],
    ),
)
def test_vector_leaf_trees_by_parts(how, kind, k):
    data = problem(k, kind)
    engines = SummedTreeEngine(VECTOR_ENGINES, how), NativeTreeEngine()
    settings = {"subsample": 0.7, "max_features": 0.8, "min_samples_leaf": 3}
    methods = [make_tree_method(data, "logistic", engine=e, **settings) for e in engines]
    for a, b in zip(*assert_same_fits(*methods, 3), strict=True):
        assert_same_tree(a.weak, b.weak)
    for ours, theirs in zip(*[engine.state() for engine in engines], strict=True):
        np.testing.assert_array_equal(ours, theirs)


# --- one operation at a time ----------------------------------------------------------------------


@PARTITIONS
@KINDS
@pytest.mark.parametrize(("k", "outputs"), [(2, None), (5, None), (17, None), (4, 7), (3, 33)])
def test_stumps(how, kind, k, outputs):
    data = problem(k, kind)
    code = np.random.default_rng(0).integers(-1, 2, (k, outputs or 1)).astype(np.int8)
    engines = [SummedStumpEngine(ENGINES, how), ReferenceStumpEngine(), NativeStumpEngine()]
    searched(data, engines, None if outputs is None else code)
    for criterion in Criterion:
        equal([engine.best_stump(criterion) for engine in engines])
    equal([engine.edges() for engine in engines])
    equal([engine.histograms() for engine in engines])
    signs = np.random.default_rng(2).choice([-1, 1], outputs or k).astype(np.int8)
    for engine in engines:
        engine.project(signs)
    equal([engine.best_stump() for engine in engines])
    assert engines[0].histograms().shape == (data.binned.n_bins.sum(), 1)
