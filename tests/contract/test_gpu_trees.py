"""The engine of vector-leaf trees on a CUDA device gives the bits of the others.

Every test runs on a device that the host emulates, with the kernels as they are, and on a real one
where there is one. Nothing here has a tolerance.
"""

import functools

import numpy as np
import pytest
from cuda_on_host import HostDevice, host_device
from engine_contract import TreeResult
from scipy import sparse
from support import drawn_copies, noisy_problem, row_weights, training_set

from marginboost.data.dense_bins import dense_bins
from marginboost.data.row_view import RowView
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.gpu.device import cuda_device
from marginboost.engine.gpu.feature_layout import FeatureLayout
from marginboost.engine.gpu.rows import to_device
from marginboost.engine.gpu.trees import engine as tree_engine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.growth import GrowthRules, grow_in_batches
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

SMALLEST = 2.0**-60


@pytest.fixture(params=["emulated", "cuda"])
def device(request):
    if request.param == "emulated":
        return host_device()
    try:
        return cuda_device()
    except (ImportError, RuntimeError) as missing:
        pytest.skip(str(missing))


Result = functools.partial(TreeResult, n_rounds=3)


def problem(n_classes=3, *, kind="plain", n_rows=None, n_features=5, n_values=40, seed=0):
    """Make rows of any kind: plain, wide (bins of two bytes), with weights, with multiplicities."""
    n_rows = 100 + 4 * n_classes if n_rows is None else n_rows
    if kind == "wide":
        n_values, n_rows = None, max(n_rows, 280)
    X, y = noisy_problem(n_rows, n_features, n_classes, n_values=n_values, seed=seed)
    rng = np.random.default_rng(seed + 1)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.7] = 0.0
        X = sparse.csr_array(X)
    weight = row_weights(kind, n_rows, rng)
    return training_set(X, y, weight=weight, n_classes=n_classes)


def check_fit(device, data, loss="exponential", *, pool_bytes=None, **settings):
    """Fit on the host and on the device, and compare all there is; return the host's rounds."""
    native = Result(NativeTreeEngine(), data, loss, **settings)
    engine = GpuTreeEngine(device, pool_bytes)
    native.assert_same(Result(engine, data, loss, **settings))
    return native.rounds


# --- whole fits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [3, 7, 15, 31])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("kind", ["plain", "multiplicities"])
def test_pairs_of_ordered_classes(device, n_classes, loss, kind):
    ranks = np.random.default_rng(0).permutation(n_classes)
    check_fit(device, problem(n_classes, kind=kind), loss, ranks=ranks)


# 8 and 16 lanes; where classes are more than lanes, some share one with signs.
@pytest.mark.parametrize("n_classes", [2, 6, 7, 15, 43])
@pytest.mark.parametrize("kind", ["plain", "extreme weights", "multiplicities"])
def test_shapes_and_weights(device, n_classes, kind):
    data = problem(n_classes, kind=kind)
    rounds = check_fit(device, data, subsample=0.8, max_leaf_nodes=9)
    assert sum(len(finished.weak.leaf_value) for finished in rounds) > 6


SETTINGS = {
    "subsample": {"subsample": 0.6},
    "both": {"subsample": 0.6, "max_features": 0.5},
    "max_depth": {"max_depth": 2},
    "least rows": {"min_samples_leaf": 7},
    "all": {"subsample": 0.6, "max_features": 0.5, "max_depth": 3, "min_samples_leaf": 7},
    "two leaves": {"max_leaf_nodes": 2},
    "many leaves": {"max_leaf_nodes": 70, "pseudo_count": 0.01},
    "long steps": {"eta": 1.0, "pseudo_count": 0.0},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["weights", "multiplicities"])
def test_settings(device, setting, kind):
    data = problem(3, kind=kind, n_rows=250, n_features=7)
    check_fit(device, data, "logistic", **({"max_leaf_nodes": 8} | SETTINGS[setting]))


@pytest.mark.parametrize("kind", ["wide", "sparse"])
@pytest.mark.parametrize("max_features", [1.0, 0.6])
def test_kinds_of_bins(device, kind, max_features):
    data = problem(6, kind=kind)
    assert data.binned.bins.dtype == (np.uint16 if kind == "wide" else np.uint8)
    check_fit(device, data, max_features=max_features, subsample=0.8)


@pytest.mark.parametrize("max_leaf_nodes", [6, 20])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_many_rows(device, max_leaf_nodes, subsample):
    """Several chunks of rows a node, in every kernel."""
    data = problem(6, n_rows=6000, n_values=30)
    settings = {"max_leaf_nodes": max_leaf_nodes, "subsample": subsample, "n_rounds": 2}
    rounds = check_fit(device, data, **settings)
    assert all(len(finished.weak.leaf_value) == max_leaf_nodes for finished in rounds)


@pytest.mark.parametrize("room", [2, 3, 5, 11])
@pytest.mark.parametrize("kind", ["plain", "multiplicities"])
def test_little_room_for_histograms(device, room, kind):
    """Where they can't be kept, both children of a node are added up from their rows."""
    data = problem(3, kind=kind, n_rows=400)
    pool_bytes = room * (int(data.binned.n_bins.sum()) + 1) * 8 * 4
    check_fit(device, data, pool_bytes=pool_bytes, max_leaf_nodes=12, subsample=0.9)


@pytest.mark.parametrize("shared_bytes", [48 << 10, 54 << 10, 227 << 10])
def test_features_that_no_block_can_hold(shared_bytes):
    """Sums that are too many for shared memory are added where they lie."""
    X, y = noisy_problem(400, 5, 3)
    X[:, 2:] = np.rint(3.0 * X[:, 2:])  # few bins, beside many
    data = training_set(X, y)
    check_fit(HostDevice(3, shared_bytes), data, max_leaf_nodes=9)
    most = shared_bytes // 2 - 1024
    features = np.arange(5, dtype=np.int32)
    layout = FeatureLayout.of(features, data.binned.n_bins, 8, 2, most)
    assert (0 in layout.groups[:, 3]) == (shared_bytes < 50_000)


def test_no_room_for_two_histograms(device):
    engine = GpuTreeEngine(device, pool_bytes=100)
    with pytest.raises(MemoryError, match="GiB of GPU memory for two nodes"):
        Result(engine, problem(3), "exponential")


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_rows_that_are_held_out(device, subsample, kind):
    data = problem(4, kind=kind, n_rows=200)
    settings = {"subsample": subsample, "held_out": data.hash_bounds(0, 0.2)}
    native, there = NativeTreeEngine(), GpuTreeEngine(device)
    result = Result(native, data, "exponential", **settings)
    result.assert_same(Result(there, data, "exponential", **settings))
    ours, theirs = native.held_out().in_order(), there.held_out().in_order()
    assert len(ours.labels) > 20
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_rows_that_are_there_already(device):
    data = problem(5, kind="weights")
    native = Result(NativeTreeEngine(), data, "exponential", subsample=0.7)
    rows = to_device(device, data)
    native.assert_same(Result(GpuTreeEngine(device), rows, "exponential", subsample=0.7))


@pytest.mark.parametrize("n_rows", [3, 4, 9])
def test_few_rows(device, n_rows):
    check_fit(device, problem(3, n_rows=n_rows))


def test_nothing_to_divide(device):
    """One leaf, which shifts the classes or doesn't."""
    X = np.full((60, 3), 2.5)
    X[0, 0] = 3.0
    data = training_set(X, np.minimum(np.arange(60) % 5, 2))
    rounds = check_fit(device, data, min_samples_leaf=7)
    assert rounds
    assert all(len(finished.weak.leaf_value) == 1 for finished in rounds)


# --- operation by operation -----------------------------------------------------------------------


class Engines:
    """The reference and the device's engine on the same rows."""

    def __init__(self, device, k=3, kind="plain", *, loss="exponential", seed=0, **more):
        self.rng = np.random.default_rng(seed)
        self.data = data = problem(k, kind=kind, seed=seed, **more)
        self.slots, self.k, self.view = Slots(k), k, RowView(5)
        self.engines = [ReferenceTreeEngine(), GpuTreeEngine(device)]
        for engine in self.engines:
            engine.load(data, LOSSES[loss], self.slots, self.view)
        self.bins = np.array([dense_bins(data.binned, f) for f in range(data.binned.n_features)])
        self.node = np.zeros(data.n_rows, dtype=int)

    @property
    def there(self):
        return self.engines[1]

    def ask(self, name, *arguments):
        """Ask both, and return what they both say."""
        one, other = (getattr(engine, name)(*arguments) for engine in self.engines)
        np.testing.assert_equal(other, one)
        return one

    def advance(self, n_leaves=1, exponent=12, mass_exponent=11):
        up = np.exp(self.rng.normal(size=(n_leaves, self.k))).astype(np.float32)
        signs = np.ones(self.k, dtype=np.float32)
        if self.slots.shares_lanes:
            signs = self.rng.choice(np.array([-1.0, 1.0], dtype=np.float32), self.k)
        self.ask("advance", up, (1 / up).astype(np.float32), signs, exponent, mass_exponent)
        return self.ask("state")


@pytest.mark.parametrize(("k", "loss"), [(3, "exponential"), (3, "logistic"), (15, "logistic")])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_moves_and_sums(device, k, loss, kind):
    engines = Engines(device, k, kind, loss=loss)
    engines.advance()
    features = np.arange(5, dtype=np.int32)
    engines.ask("start_tree", features, RowSample(), 1, 1.0)
    engines.ask("split", [0], [1], [12], [False])
    engines.ask("split", [2], [3], [9], [False])
    engines.ask("finish_tree", np.array([-1, 1, -1, 0, 2], dtype=np.int32), 10)
    engines.advance(3)
    engines.ask("start_tree", features, RowSample(), 1, 1.0)
    engines.ask("finish_tree", np.array([0], dtype=np.int32), 10)
    engines.advance(1)


@pytest.mark.parametrize("least", [1, 15])
@pytest.mark.parametrize("limit", [2**64 - 1, int(0.6 * 2**64), 0])
def test_searches(device, least, limit):
    """Any nodes in any order, searched or not, on features that are searched or not."""
    engines = Engines(device, 6, kind="multiplicities", n_rows=300)
    engines.advance()
    features = np.array([0, 1, 3], dtype=np.int32)
    root = engines.ask("start_tree", features, RowSample(17, limit), least, 3.0)
    assert (root.feature >= 0) == (limit > 0)
    engines.ask("split", [0], [2], [17], [True])
    engines.ask("split", [2, 1], [0, 2], [11, 9], [True, False])
    # The last two had no histogram; now both of each are searched.
    engines.ask("split", [5, 6, 3], [1, 1, 3], [15, 15, 20], [True, True, True])
    leaves = np.array([-1, -1, -1, -1, 0, -1, -1, 3, 2, 4, 1, 5, 6], dtype=np.int32)
    engines.ask("finish_tree", leaves, 10)
    engines.advance(7)


def test_more_nodes_than_there_was_room_for(device):
    engines = Engines(device, 3, n_rows=2000, n_features=3)
    engines.advance()
    rules = GrowthRules(1, 1.0, 700, None)
    sample, features = RowSample(), np.arange(3, dtype=np.int32)
    reference, there = engines.engines
    grown = grow_in_batches(there, features, sample, rules)
    assert len(grown.counts) > 300
    for ours, theirs in zip(
        grown, grow_in_batches(reference, features, sample, rules), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    engines.ask("finish_tree", grown.leaf_of_node, 10)


def test_where_the_host_chooses(device, monkeypatch):
    monkeypatch.setattr(tree_engine, "MOST_CHOSEN_THERE", 5)
    check_fit(device, problem(3), max_leaf_nodes=9)


def test_ties_go_to_the_first_feature_and_bin(device):
    y = np.repeat(np.arange(3), 12)
    column = np.where(y == 0, 0.0, 9.0)
    filler = np.tile(np.arange(12.0), 3)  # says nothing of the class
    data = training_set(np.column_stack([filler, column, column, column]), y)
    engine = GpuTreeEngine(device)
    engine.load(data, LOSSES["exponential"], Slots(3), RowView())
    one = np.ones((1, 3), dtype=np.float32)
    engine.advance(one, one, one[0], 10, 10)
    assert engine.start_tree(np.arange(4, dtype=np.int32), RowSample(), 1, 1.0)[:2] == (1, 0)
    features = np.array([0, 2, 3], dtype=np.int32)
    assert engine.start_tree(features, RowSample(), 1, 1.0)[:2] == (2, 0)


def test_exponentials_stay_within_their_bounds(device):
    engines = Engines(device)
    huge = np.full((1, 3), 2.0**30, dtype=np.float32)
    one = np.ones((1, 3), dtype=np.float32)
    for up, bound in ((huge, 2.0**60), (1 / huge, SMALLEST)):
        for _ in range(5):
            engines.ask("advance", up, one, one[0], -50, -50)
        e, _ = engines.ask("state")
        assert (e[np.eye(3)[engines.data.labels] == 0] == bound).all()


# --- a part of the rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "wide", "multiplicities"])
def test_sums_of_nodes(device, kind):
    engines = Engines(device, 6, kind=kind, n_rows=700)
    _, g = engines.advance()
    there, sample = engines.there, RowSample(3, int(0.7 * 2**64))
    features = np.array([0, 2, 3], dtype=np.int32)
    there.begin_tree(features, sample)
    there.move_rows([0], [1], [15])
    there.move_rows([2, 1], [0, 4], [10, 20])
    bins = engines.bins
    node = np.where(bins[1] <= 15, 1, 2)
    node = np.where(node == 2, np.where(bins[0] <= 10, 3, 4), np.where(bins[4] <= 20, 5, 6))
    drawn = drawn_copies(engines.data, 5, sample)
    copies = engines.data.multiplicity
    g = g.astype(int) // (1 if copies is None else copies[:, None]) * drawn[:, None]
    n_bins = engines.data.binned.n_bins
    nodes = [6, 3, 4]
    expected = np.zeros((3, n_bins[features].sum(), g.shape[1]), dtype=np.int64)
    for place, number in enumerate(nodes):
        rows = (drawn > 0) & (node == number)
        begin = 0
        for f in features:
            np.add.at(expected[place, begin : begin + n_bins[f]], bins[f][rows], g[rows])
            begin += n_bins[f]
    found = there.node_histograms(nodes)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    own, against = there.finish_tree(np.array([-1, -1, -1, 0, 1, 2, 3], dtype=np.int32), 10)
    assert own.shape == against.shape == (4, 6)
    assert own.sum() > 0


def test_a_part_without_rows(device):
    data = problem(3)
    empty = np.zeros((data.binned.n_features, 0), dtype=np.uint8)
    part = type(data)(
        type(data.binned)(empty, data.binned.thresholds), np.zeros(4, dtype=np.int64),
        None, None, np.zeros(3),
    )  # fmt: skip
    engine = GpuTreeEngine(device)
    engine.load(part, LOSSES["exponential"], Slots(3), RowView(1))
    one = np.ones((1, 3), dtype=np.float32)
    assert engine.advance(one, one, one[0], 10, 10) == (0, 0)
    features = np.arange(5, dtype=np.int32)
    engine.begin_tree(features, RowSample())
    assert not engine.node_histograms([0]).any()
    engine.move_rows([0], [1], [15])
    assert engine.node_histograms([1, 2]).shape == (2, data.binned.n_bins.sum(), 8)
    own, against = engine.finish_tree(np.array([-1, 0, 1], dtype=np.int32), 10)
    assert not own.any()
    assert not against.any()
    assert engine.start_tree(features, RowSample(), 1, 1.0) == (-1, 0, 0, 0.0)
