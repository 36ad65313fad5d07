"""Scans of sums that several parts of the rows, or owners of features, have added up."""

import numpy as np
import pytest
from partial_support import ENGINES, VECTOR_ENGINES, problem, searched
from support import part_of

from marginboost import _native
from marginboost.data.row_view import RowView
from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

KERNELS = pytest.mark.parametrize("kernels", ["portable", "avx2", "avx512", "neon"])


@pytest.fixture
def kernels_in_use():
    """Put back the kernels that were there."""
    yield _native.use_kernels
    _native.use_kernels("auto")


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
        _native.scan_nodes(hist[:, bins], n_bins[features], 4, 1.0)
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
    for lanes in (8, 16):
        hist = rng.integers(-900, 900, (5, n_bins.sum(), lanes), dtype=np.int32)
        hist[:, :, lanes - 2] = rng.integers(0, 50, hist.shape[:2])
        hist[:, :, lanes - 1] = rng.integers(0, 3, hist.shape[:2])
        arguments.append((hist, n_bins, 4, 0.5))
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


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("masked", [False, True])
def test_parts_are_added_up_subtracted_and_scanned(lanes, masked):
    rng = np.random.default_rng(0)
    n_bins = np.array([40, 1, 7, 2], dtype=np.int32)
    parts = [rng.integers(0, 90, (3, n_bins.sum(), lanes), dtype=np.int32) for _ in range(3)]
    kept = rng.integers(300, 900, (6, n_bins.sum(), lanes), dtype=np.int32)
    sums, rests = sum(parts), kept[[5, 0]] - sum(parts)[:2]
    mask = rng.integers(0, 2, (5, 4), dtype=np.uint8) if masked else None
    expected = _native.scan_nodes(np.concatenate([sums, rests]), n_bins, 4, 0.5, mask)
    untouched = kept[4].copy()
    places, of_rests = np.array([2, 3, 1]), np.array([5, 0])
    found = _native.search_parts(kept, parts, places, of_rests, n_bins, 4, 0.5, mask)
    np.testing.assert_equal(found, expected)
    np.testing.assert_array_equal(kept[places], sums)
    np.testing.assert_array_equal(kept[of_rests], rests)
    np.testing.assert_array_equal(kept[4], untouched)


@pytest.mark.parametrize(
    ("places", "rests", "n_parts"),
    [([0, 1], [1], 2), ([0, 6], [], 2), ([0, -1], [], 2), ([0], [], 2), ([0, 1], [], 0)],
)
def test_places_that_do_not_fit(places, rests, n_parts):
    kept = np.zeros((6, 5, 8), dtype=np.int32)
    parts = [np.zeros((2, 5, 8), dtype=np.int32)] * n_parts
    where = np.array(places, dtype=np.int64), np.array(rests, dtype=np.int64)
    with pytest.raises(ValueError, match="must"):
        _native.search_parts(kept, parts, *where, np.array([5], dtype=np.int32), 1, 1.0)


def test_nothing_to_choose_from():
    """Features of one bin, and nodes without rows."""
    n_bins = np.ones(2, dtype=np.int32)
    hist = np.array([[5, -7], [5, -7]], dtype=np.int32)
    for criterion in Criterion:
        assert _native.scan_stump(hist, n_bins, criterion)[0] == -1
    empty = np.zeros((2, 8, 8), dtype=np.int32)
    found = _native.scan_nodes(empty, np.array([5, 3], dtype=np.int32), 1, 1.0)
    for values, expected in zip(found, [-1, 0, -1, 0, 0, 0], strict=True):
        np.testing.assert_array_equal(values, [expected] * 2)
    assert all(len(of) == 0 for of in _native.scan_nodes(empty[:0], n_bins * 4, 1, 1.0))


@pytest.mark.parametrize("n_bins", [[], [3, 4], [9], [4, 5, 0], [10, -1]])
def test_bins_that_do_not_fit(n_bins):
    bins = np.array(n_bins, dtype=np.int32)
    hist = np.zeros((9, 8), dtype=np.int32)
    calls = [
        (_native.scan_stump, hist[: 9 - (n_bins == [9])], bins, 0),
        (_native.scan_nodes, np.zeros((2, 8, 8), dtype=np.int32), bins, 1, 1.0),
    ]
    for function, *arguments in calls:
        with pytest.raises(ValueError, match="n_bins"):
            function(*arguments)


def test_scans_say_what_is_wrong():
    bins = np.array([4, 4], dtype=np.int32)
    hist = np.zeros((1, 8, 8), dtype=np.int32)
    for arguments, word in [
        ((hist[:, :, :4], bins, 1, 1.0), "8 or 16 columns"),
        ((np.zeros((1, 8, 40), dtype=np.int32), bins, 1, 1.0), "8 or 16 columns"),
        ((hist, bins, 0, 1.0), "least_count"),
        ((hist, bins, 1, 0.0), "smoothing"),
    ]:
        with pytest.raises(ValueError, match=word):
            _native.scan_nodes(*arguments)
    with pytest.raises(ValueError, match="criterion"):
        _native.scan_stump(hist[0], bins, 3)
    with pytest.raises(ValueError, match="output"):
        _native.scan_stump(hist[0][:, :0], bins, 0)


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
        for sums in (engine.sums(10), *engine.sums_and_curvature(10, ones, ones)):
            np.testing.assert_array_equal(sums, np.zeros((2, 3, 3)))
        np.testing.assert_array_equal(engine.edges(), np.zeros(3))
        assert not engine.histograms().any()
        assert engine.best_stump()[3] == 0
        engine.set_exponentials(np.zeros((0, 3)))
        engine.place_tree([0], [2], [~0], [~1], [0, 1])
        assert engine.start_tree(0) == (-1, 0, 0, 0.0)
        np.testing.assert_array_equal(engine.finish_tree(np.zeros(1, dtype=np.int32)), [[0, 0]])
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
