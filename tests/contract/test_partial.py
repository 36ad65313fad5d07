"""Sums over any parts of the rows, added up and scanned, are the answers of an engine on all rows.

Nothing here has a tolerance.
"""

import numpy as np
import pytest
from scipy import sparse
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    assert_same_tree,
    boosted,
    make_method,
    make_tree_method,
    noisy_problem,
    part_of,
    partition,
    training_set,
)

from marginboost import _native
from marginboost.boosting.weak.tree import SignTreeGrower
from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.data.row_view import RowView
from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
    ReferenceTreeEngine,
)
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.trees.base import NodeSplit, RowSample
from marginboost.engine.trees.growth import grow_in_batches
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

PARTITIONS = pytest.mark.parametrize("how", ["one", "blocks", "random", "empty"])
KINDS = pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])
VECTOR_KINDS = pytest.mark.parametrize(
    "kind", ["plain", "wide", "weights", "multiplicities", "rare", "sparse"]
)
KERNELS = pytest.mark.parametrize("kernels", ["portable", "avx2", "avx512"])


@pytest.fixture
def kernels_in_use():
    """Put back the kernels that were there."""
    yield _native.use_kernels
    _native.use_kernels("auto")


def equal(answers):
    """Return what all engines say."""
    for answer in answers[1:]:
        np.testing.assert_equal(answer, answers[0])
    return answers[0]


def added(answers):
    """Add up what the parts say; None where they say nothing."""
    if answers[0] is None:
        return None
    if isinstance(answers[0], tuple):
        return tuple(added(of_place) for of_place in zip(*answers, strict=True))
    return sum(answers)


class Summed:
    """Engines on parts of the rows; whatever else is asked is asked of all, and added up."""

    def __init__(self, engines, how):
        self.makers, self.how = engines, how

    def load_parts(self, data, *arguments):
        self.n_bins = data.binned.n_bins
        self.rows = partition(data.n_rows, self.how)
        self.parts = []
        for rows in self.rows:
            self.parts.append([make() for make in self.makers])
            for engine in self.parts[-1]:
                engine.load(part_of(data, rows), *[of(rows) for of in arguments])

    def __getattr__(self, name):
        def ask(*arguments):
            answers = [[getattr(e, name)(*arguments) for e in part] for part in self.parts]
            return added([equal(of_part) for of_part in answers])

        return ask


ENGINES = [ReferenceStumpEngine, NativeStumpEngine, lambda: NativeStumpEngine(3, 50)]
VECTOR_ENGINES = [ReferenceTreeEngine, NativeTreeEngine, lambda: NativeTreeEngine(3)]


class SummedStumpEngine(Summed):
    """An `StumpEngine` made of `PartialStumpEngine`s, all kinds of them on each part."""

    def load(self, data, weighting):
        self.least = 0.0 if data.leaf_weight is None else data.leaf_weight.least
        self.load_parts(data, lambda rows: weighting)

    def best_stump(self, criterion=Criterion.LARGEST):
        hist = self.histograms()
        assert hist.dtype == np.int32
        return _native.scan_stump(hist, self.n_bins, criterion)

    def best_stumps(self):
        return _native.scan_stumps(self.histograms(), self.n_bins)

    def best_splits(self):
        masses, weights = self.tree_histograms()
        assert masses.dtype == np.int64
        self.splits, scores = _native.scan_splits(masses, weights, self.n_bins, self.least)
        np.testing.assert_array_equal(scores < 0, self.splits[:, 0] < 0)
        return self.splits

    def apply_splits(self, left, right):
        self.move_rows(*self.splits[:, :2].T.tolist(), left, right)

    def state(self):
        """e and the direction, in the whole's order."""
        order = np.argsort(np.concatenate(self.rows))
        states = [equal([e.state() for e in part]) for part in self.parts]
        return tuple(np.concatenate(of)[order] for of in zip(*states, strict=True))


class SummedTreeEngine(Summed):
    """A `TreeEngine` made of `PartialTreeEngine`s."""

    state = SummedStumpEngine.state

    def load(self, data, loss, slots, view):
        self.slots = slots
        self.load_parts(data, lambda rows: loss, lambda rows: slots, lambda rows: view)

    def start_tree(self, features, sample, least_count, smoothing):
        self.features, self.rules = features, (least_count, smoothing)
        self.begin_tree(features, sample)
        self.n_nodes = 1
        return self.scanned([0], [True])[0]

    def split(self, nodes, features, bins, search):
        self.move_rows(nodes, features, bins)
        new = list(range(self.n_nodes, self.n_nodes + 2 * len(nodes)))
        self.n_nodes += len(new)
        return self.scanned(new, np.repeat(search, 2))

    def scanned(self, nodes, search):
        hist = self.node_histograms(nodes)
        assert hist.dtype == np.int32
        self.found = _native.scan_nodes(
            hist, self.n_bins[self.features], self.slots.lanes, *self.rules
        )
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

    def grow_tree(self, features, sample, rules):
        return grow_in_batches(self, features, sample, rules)


def problem(k, kind, *, n_rows=160, seed=0):
    """Make rows of any kind, among them a feature of two bins and one of a single bin."""
    rng = np.random.default_rng(seed)
    n_rows = 300 if kind == "wide" else n_rows
    X, y = noisy_problem(n_rows, 6, k, n_values=None if kind == "wide" else 15, seed=seed)
    X[:, 2] = 1.0
    X[:, 4] = X[:, 4] > np.median(X[:, 4])
    if kind in ("rare", "sparse"):
        X[rng.random(X.shape) < 0.93] = 0.0
    weight = {
        "weights": rng.uniform(0.1, 3, n_rows), "multiplicities": rng.integers(1, 6, n_rows),
    }.get(kind)  # fmt: skip
    return training_set(sparse.csr_array(X) if kind == "sparse" else X, y, weight=weight)


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


@PARTITIONS
@KINDS
@pytest.mark.parametrize(("k", "depth"), [(2, 1), (3, 3), (9, 1), (17, 2)])
@BOTH_LOSSES
def test_boosting_by_parts(how, kind, k, depth, loss):
    data = problem(k, kind)
    engines = SummedStumpEngine(ENGINES, how), NativeStumpEngine()
    assert_same_fits(
        *[make_method(data, loss, engine=e, depth=depth, eta=0.5) for e in engines], 4
    )
    for ours, theirs in zip(*[engine.state() for engine in engines], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@PARTITIONS
@VECTOR_KINDS
@pytest.mark.parametrize(("k", "most_folds"), [(2, 1), (7, 1), (15, 2), (29, 1), (60, 4)])
def test_vector_leaf_trees_by_parts(how, kind, k, most_folds):
    data = problem(k, kind)
    engines = SummedTreeEngine(VECTOR_ENGINES, how), NativeTreeEngine()
    settings = {"subsample": 0.7, "max_features": 0.8, "min_samples_leaf": 3}
    methods = [
        make_tree_method(data, "logistic", engine=e, most_folds=most_folds, **settings)
        for e in engines
    ]
    for a, b in zip(*assert_same_fits(*methods, 3), strict=True):
        assert_same_tree(a.weak, b.weak)
    for ours, theirs in zip(*[engine.state() for engine in engines], strict=True):
        np.testing.assert_array_equal(ours, theirs)


# --- one operation at a time ----------------------------------------------------------------------


def searched(data, engines, code=None):
    """Load the rows and form a direction that is not the same for all of them."""
    rng = np.random.default_rng(1)
    k = data.n_classes
    for engine in engines:
        engine.load(data, Weighting(LOSSES["exponential"], code))
    tables = np.exp(rng.normal(size=(2, 2, k, k if code is None else code.shape[1])))
    for table, exponent in zip(tables, (10, 10), strict=True):
        if code is None:
            arguments = ("advance", table[:, 0], 1 / table[:, 0])
        else:
            arguments = ("advance_table", table)
        equal([getattr(engine, arguments[0])(*arguments[1:], exponent) for engine in engines])
        for engine in engines:
            engine.place_stump(1, 3, True)


@PARTITIONS
@KINDS
@pytest.mark.parametrize(("k", "columns"), [(2, None), (5, None), (17, None), (4, 7), (3, 33)])
def test_stumps(how, kind, k, columns):
    data = problem(k, kind)
    code = np.random.default_rng(0).integers(-1, 2, (k, columns or 1)).astype(np.int8)
    engines = [SummedStumpEngine(ENGINES, how), ReferenceStumpEngine(), NativeStumpEngine()]
    searched(data, engines, None if columns is None else code)
    for criterion in Criterion:
        equal([engine.best_stump(criterion) for engine in engines])
    equal([engine.best_stumps() for engine in engines])
    equal([engine.edges() for engine in engines])
    equal([engine.histogram(3) for engine in engines])
    signs = np.random.default_rng(2).choice([-1, 1], columns or k).astype(np.int8)
    for engine in engines:
        engine.project(signs)
    equal([engine.best_stump() for engine in engines])
    assert engines[0].histograms().shape == (data.binned.n_bins.sum(), 1)


@PARTITIONS
@pytest.mark.parametrize("column", [-1, 0, 2])
@pytest.mark.parametrize("fraction", [0.0, 0.08])
@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_trees(how, column, fraction, kind):
    data = with_least_leaf_weight(problem(4, kind), fraction)
    engines = [SummedStumpEngine(ENGINES, how), ReferenceStumpEngine(), NativeStumpEngine()]
    searched(data, engines)
    grower = SignTreeGrower(data.binned.thresholds, 4)
    trees = [grower.grow(engine, column) for engine in engines]
    assert len(trees[0].feature) > 3
    assert trees[0] == trees[1] == trees[2]
    equal([engine.edges() for engine in engines])


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_node_without_a_split_go_to_the_left(engine):
    engine = engine()
    searched(problem(3, "plain"), [engine])
    engine.start_tree(0)
    engine.move_rows([4], [0], [0], [1])
    masses = engine.tree_histograms()[0]
    engine.move_rows([-1, 1], [0, 3], [1, 0], [~0, ~0])
    moved = engine.tree_histograms()[0]
    np.testing.assert_array_equal(moved[1], masses[0])
    assert 0 < moved[0].sum() < masses[1].sum()


# --- a part of the features -----------------------------------------------------------------------


def slices(n_bins, at):
    """Cut features into two runs: (slice of features, slice of bins)."""
    bins = int(n_bins[:at].sum())
    return [(slice(0, at), slice(0, bins)), (slice(at, None), slice(bins, None))]


@pytest.mark.parametrize("at", [1, 3, 5])
def test_owners_of_features_find_the_whole(at):
    """The larger score wins, among equals the first slice."""
    data = problem(5, "plain")
    engine = NativeStumpEngine()
    searched(data, [engine])
    n_bins, hist = data.binned.n_bins, engine.histograms()
    cuts = slices(n_bins, at)
    found = [_native.scan_stump(hist[bins], n_bins[features], 0) for features, bins in cuts]
    best = max(range(2), key=lambda s: (abs(found[s][3]), -s))
    first = found[best][0] + (at if best else 0)
    assert (first, *found[best][1:]) == engine.best_stump()
    engine.start_tree(1)
    masses, _ = engine.tree_histograms()
    found = [
        _native.scan_splits(masses[:, bins], None, n_bins[features], 0.0) for features, bins in cuts
    ]
    best = max(range(2), key=lambda s: (found[s][1][0], -s))
    split = found[best][0][0]
    split[0] += at if best else 0
    np.testing.assert_array_equal(split, engine.best_splits()[0])


@pytest.mark.parametrize("at", [1, 3, 5])
def test_owners_of_features_find_the_whole_of_a_node(at):
    data = problem(5, "plain")
    engine = NativeTreeEngine()
    engine.load(data, LOSSES["logistic"], Slots(5), RowView())
    one = np.ones((1, 5), dtype=np.float32)
    engine.advance(one, one, one[0], 10, 10)
    whole = engine.start_tree(np.arange(6, dtype=np.int32), RowSample(), 4, 1.0)
    n_bins, hist = data.binned.n_bins, engine.node_histograms([0])
    found = [
        _native.scan_nodes(hist[:, bins], n_bins[features], 8, 4, 1.0)
        for features, bins in slices(n_bins, at)
    ]
    best = max(range(2), key=lambda s: (found[s][2][0], -s))
    feature, bin_, score, here, count, left_count = [of[0] for of in found[best]]
    assert whole == (feature + (at if best else 0), bin_, count, float(score) - float(here))
    assert left_count == (data.binned.bins[whole.feature] <= whole.bin).sum()
    assert found[0][3] == found[1][3]  # every owner can tell the node's own score


@KERNELS
def test_scans_have_the_same_bits_on_all_kernels(kernels, kernels_in_use):
    rng = np.random.default_rng(0)
    n_bins = np.array([40, 1, 7, 2, 17, 16], dtype=np.int32)
    arguments = []
    for lanes, folds in [(8, 1), (8, 2), (16, 1), (16, 3), (16, 4)]:
        hist = rng.integers(-900, 900, (5, n_bins.sum(), lanes * folds), dtype=np.int32)
        hist[:, :, lanes - 2] = rng.integers(0, 50, hist.shape[:2])
        hist[:, :, lanes - 1] = rng.integers(0, 3, hist.shape[:2])
        arguments.append((hist, n_bins, lanes, 4, 0.5))
    kernels_in_use("portable")
    expected = [_native.scan_nodes(*each) for each in arguments]
    stumps = [_native.scan_stump(hist[0], n_bins, c) for hist, *_ in arguments for c in range(3)]
    try:
        kernels_in_use(kernels)
    except ValueError:
        pytest.skip(f"this processor has no {kernels}")
    for each, one in zip(arguments, expected, strict=True):
        np.testing.assert_equal(_native.scan_nodes(*each), one)
    assert stumps == [
        _native.scan_stump(hist[0], n_bins, c) for hist, *_ in arguments for c in range(3)
    ]


def test_nothing_to_choose_from():
    """Features of one bin, and nodes without rows."""
    n_bins = np.ones(2, dtype=np.int32)
    hist = np.array([[5, -7], [5, -7]], dtype=np.int32)
    for criterion in Criterion:
        assert _native.scan_stump(hist, n_bins, criterion)[0] == -1
    assert (_native.scan_stumps(hist, n_bins)[:, 0] == -1).all()
    splits, scores = _native.scan_splits(np.array([[[3, 4], [3, 4]]]), None, n_bins, 0.0)
    np.testing.assert_array_equal(splits, [[-1, 0, 3, 4, 0, 0]])
    np.testing.assert_array_equal(scores, [-1.0])
    empty = np.zeros((2, 8, 8), dtype=np.int32)
    found = _native.scan_nodes(empty, np.array([5, 3], dtype=np.int32), 8, 1, 1.0)
    for values, expected in zip(found, [-1, 0, -1, 0, 0, 0], strict=True):
        np.testing.assert_array_equal(values, [expected] * 2)
    assert all(len(of) == 0 for of in _native.scan_nodes(empty[:0], n_bins * 4, 8, 1, 1.0))
    splits, scores = _native.scan_splits(np.zeros((0, 2, 3), dtype=np.int64), None, n_bins, 0.0)
    assert splits.shape == (0, 8)
    assert scores.shape == (0,)


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [[], [3, 4], [9], [4, 5, 0], [10, -1]])
def test_bins_that_do_not_fit(n_bins):
    bins = np.array(n_bins, dtype=np.int32)
    hist = np.zeros((9, 8), dtype=np.int32)
    calls = [
        (_native.scan_stump, hist[: 9 - (n_bins == [9])], bins, 0),
        (_native.scan_stumps, hist[: 9 - (n_bins == [9])], bins),
        (_native.scan_splits, np.zeros((2, 8, 2), dtype=np.int64), None, bins, 0.0),
        (_native.scan_nodes, np.zeros((2, 8, 8), dtype=np.int32), bins, 8, 1, 1.0),
    ]
    for function, *arguments in calls:
        with pytest.raises(ValueError, match="n_bins"):
            function(*arguments)


def test_scans_say_what_is_wrong():
    bins = np.array([4, 4], dtype=np.int32)
    hist = np.zeros((1, 8, 8), dtype=np.int32)
    for arguments, word in [
        ((hist, bins, 4, 1, 1.0), "lanes"),
        ((hist, bins, 16, 1, 1.0), "lanes"),
        ((np.zeros((1, 8, 40), dtype=np.int32), bins, 8, 1, 1.0), "lanes"),
        ((hist, bins, 8, 0, 1.0), "least_count"),
        ((hist, bins, 8, 1, 0.0), "smoothing"),
    ]:
        with pytest.raises(ValueError, match=word):
            _native.scan_nodes(*arguments)
    with pytest.raises(ValueError, match="criterion"):
        _native.scan_stump(hist[0], bins, 3)
    with pytest.raises(ValueError, match="column"):
        _native.scan_stump(hist[0][:, :0], bins, 0)
    masses = np.zeros((1, 8, 2), dtype=np.int64)
    with pytest.raises(ValueError, match="weights"):
        _native.scan_splits(masses, np.zeros((1, 7)), bins, 0.0)
    with pytest.raises(ValueError, match="label"):
        _native.scan_splits(masses[:, :, :0], None, bins, 0.0)


def test_trees_say_what_is_wrong():
    data = problem(3, "plain")
    engine = NativeStumpEngine()
    engine.load(data, Weighting(LOSSES["exponential"]))
    with pytest.raises(ValueError, match="no tree"):
        engine.tree_histograms()
    with pytest.raises(ValueError, match="no tree"):
        engine.move_rows([0], [0], [~0], [~1])
    engine.start_tree(0)
    for arguments, word in [
        (([0, 1], [0], [~0], [~1]), "one entry"),
        (([6], [0], [~0], [~1]), "n_features"),
        (([-2], [0], [~0], [~1]), "n_features"),
        (([0], [0], [0], [2]), "next level"),
    ]:
        with pytest.raises(ValueError, match=word):
            engine.move_rows(*arguments)
    with pytest.raises(ValueError, match="best_splits"):
        engine.apply_splits([~0], [~1])


def test_vector_trees_say_what_is_wrong():
    engine = NativeTreeEngine()
    engine.load(problem(3, "plain"), LOSSES["logistic"], Slots(3), RowView())
    features = np.arange(6, dtype=np.int32)
    with pytest.raises(ValueError, match="nodes"):
        engine.node_histograms([0])  # no tree
    with pytest.raises(ValueError, match="ascend"):
        engine.begin_tree(features[::-1].copy(), RowSample())
    engine.begin_tree(features, RowSample())
    with pytest.raises(ValueError, match="move_rows"):
        engine.split([0], [0], [1], [True])
    for arguments, word in [
        (([1], [0], [0]), "nodes"),
        (([0, 0], [0, 0], [0, 0]), "each named once"),
        (([0], [6], [0]), "n_features"),
        (([0], [0], []), "length"),
    ]:
        with pytest.raises(ValueError, match=word):
            engine.move_rows(*arguments)
    engine.move_rows([0], [0], [3])  # what was refused has changed nothing
    for nodes in ([0], [1, 1], [3], [-1]):
        with pytest.raises(ValueError, match="nodes"):
            engine.node_histograms(nodes)
    engine.start_tree(features, RowSample(), 1, 1.0)
    with pytest.raises(ValueError, match="split"):
        engine.move_rows([0], [0], [3])


def test_no_rows_at_all():
    """Every question has an answer, of zeros."""
    data = problem(3, "plain")
    nothing = part_of(data, np.zeros(0, dtype=np.int64))
    ones = np.ones((2, 3))
    for make in ENGINES:
        engine = make()
        engine.load(nothing, Weighting(LOSSES["logistic"]))
        assert engine.advance(ones, ones, 10) == 0
        engine.place_stump(0, 2, True)
        assert not engine.sides().size
        for sums in (engine.sums(10), *engine.sums_and_curvature(10, ones, ones)):
            np.testing.assert_array_equal(sums, np.zeros((2, 3, 3)))
        np.testing.assert_array_equal(engine.edges(), np.zeros(3))
        assert not engine.histogram(0).any()
        assert not engine.histogram(0, True).any()
        assert engine.best_stump()[3] == 0
        engine.set_exponentials(np.zeros((0, 3)))
        engine.place_tree([0], [2], [~0], [~1], [0, 1])
    one = np.ones((1, 3), dtype=np.float32)
    for make in VECTOR_ENGINES:
        engine = make()
        engine.load(nothing, LOSSES["logistic"], Slots(3), RowView())
        assert engine.advance(one, one, one[0], 10, 10) == (0, 0)
        assert engine.start_tree(np.arange(6, dtype=np.int32), RowSample(), 1, 1.0) == (
            -1,
            0,
            0,
            0.0,
        )
        for sums in engine.finish_tree(np.zeros(1, dtype=np.int32), 10):
            np.testing.assert_array_equal(sums, np.zeros((1, 3)))
