"""Many rows, scored by ranks: equal to the last bit to a walk in plain NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from marginboost import _native
from marginboost.model.builder import EnsembleBuilder

TYPES = ["f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "?", "f2", ">f8", ">f4", ">i2"]


@pytest.fixture(params=["avx512", "avx2", "neon", "portable"])
def kernels(request):
    before = _native.kernels()
    try:
        _native.use_kernels(request.param)
    except ValueError:
        pytest.skip(f"this CPU has no {request.param}")
    yield request.param
    _native.use_kernels(before)


def grown(rng, builder, n_leaves, thresholds, *, sparse_vectors=False):
    """A tree with a vector a leaf, its leaves in a random order."""
    left, right, open_ends = [], [], [None]
    for node in range(n_leaves - 1):
        end = open_ends.pop(rng.integers(len(open_ends)))
        if end is not None:
            end[0][end[1]] = node
        left.append(0)
        right.append(0)
        open_ends += [(left, node), (right, node)]
    for leaf, end in zip(rng.permutation(n_leaves).tolist(), open_ends, strict=True):
        if end is not None:
            end[0][end[1]] = ~leaf
    feature = rng.integers(len(thresholds), size=n_leaves - 1).tolist()
    threshold = [float(rng.choice(thresholds[f])) for f in feature]
    vectors = []
    for _ in range(n_leaves):
        row = rng.normal(size=builder._n_classes)
        if sparse_vectors:
            row[np.arange(len(row)) != rng.integers(len(row))] = 0.0
        vectors.append(builder.add_vector(row))
    weak = SimpleNamespace(
        feature=feature, threshold=threshold, left=left, right=right, leaf_value=[1.0] * n_leaves
    )
    builder.append(weak, vectors)


def forest(seed, n_classes, sizes, thresholds, **options):
    rng = np.random.default_rng(seed)
    builder = EnsembleBuilder(len(thresholds), n_classes)
    for size in sizes:
        grown(rng, builder, size, thresholds, **options)
        builder.end_round()
    return builder.build()


def plain(model, X):
    scores = np.zeros((X.shape[0], model.n_classes))
    for j in range(model.n_trees):
        leaves = model.tree_outputs(X, j)
        scores += model.leaf_value[leaves, None] * model.vectors[model.leaf_vector[leaves]]
    return scores


def same_bits(a, b):
    assert a.dtype == b.dtype == np.float64
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 10, 17, 26, 32, 33, 61, 100])
def test_any_number_of_classes(kernels, n_classes):
    rng = np.random.default_rng(n_classes)
    thresholds = [np.arange(0.5, 9.5)] * 5
    model = forest(n_classes, n_classes, [1, 2, 7, 31, 64, 3, 128], thresholds)
    for n in (0, 1, 23, 24, 64, 65, 256, 257, 700):
        X = rng.integers(0, 11, size=(n, 5)).astype(np.float32)
        expected = plain(model, X)
        same_bits(model.decision_function(X), expected)
        same_bits(model.decision_function(X, n_threads=3), expected)


@pytest.mark.parametrize("n_values", [9, 300])  # ranks of one byte, and of two
@pytest.mark.parametrize("n_features", [5, 700])  # several blocks of rows together, and one
def test_blocks_of_rows_that_go_through_groups_of_trees(kernels, n_values, n_features):
    """Trees of more than one near cache, more than are searched together, and rows of several blocks."""
    rng = np.random.default_rng(n_values)
    thresholds = [np.arange(n_values) + 0.5] * n_features
    model = forest(3, 9, [2, 200, 1, 31] * 35, thresholds)
    X = rng.integers(0, n_values + 1, size=(5000, n_features)).astype(np.float32)
    expected = plain(model, X)
    for n in (255, 300, 2047, 2048, 2049, 5000):
        same_bits(model.decision_function(X[:n]), expected[:n])
    same_bits(model.decision_function(X, n_threads=3), expected)
    same_bits(model.decision_function(sparse.csr_matrix(X), n_threads=2), expected)


@pytest.mark.parametrize("n_thresholds", [1, 3, 15, 16, 31, 32, 100, 255, 256, 300, 2000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_thresholds(kernels, n_thresholds, dtype):
    rng = np.random.default_rng(n_thresholds)
    thresholds = [np.sort(rng.normal(size=n_thresholds)) for _ in range(3)]
    model = forest(1, 6, [40] * (1 + n_thresholds // 6), thresholds)
    at = np.concatenate(thresholds).astype(dtype)
    near = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max], dtype=dtype)
    X = rng.choice(np.concatenate([near, special]), size=(600, 3)).astype(dtype)
    same_bits(model.decision_function(X), plain(model, X))


def test_float32_next_to_thresholds_that_are_no_float32(kernels):
    rng = np.random.default_rng(0)
    exact = rng.normal(size=40).astype(np.float32)
    thresholds = np.concatenate(
        [
            np.nextafter(exact.astype(np.float64), -np.inf),  # just below a float32
            exact.astype(np.float64),
            np.nextafter(exact.astype(np.float64), np.inf),
            [1e300, -1e300, 3.5e38, -3.5e38, 1e-50, -1e-50, 0.0, -0.0],  # beyond float32
        ]
    )
    model = forest(2, 4, [60] * 20, [thresholds])
    largest = np.finfo(np.float32).max
    values = np.concatenate(
        [
            exact,
            np.nextafter(exact, np.float32(-np.inf)),
            np.nextafter(exact, np.float32(np.inf)),
            np.array([largest, -largest, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45]),
        ]
    ).astype(np.float32)[:, None]
    expected = plain(model, values)
    same_bits(model.decision_function(values), expected)
    same_bits(model.decision_function(values.astype(np.float64)), expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["C", "F", "strided", "backwards"])
def test_every_type_and_layout(dtype, layout):
    rng = np.random.default_rng(0)
    top = 2 if dtype == "?" else 100
    model = forest(3, 5, [31] * 10, [np.arange(-0.5, top, 1.0)] * 40)
    X = rng.integers(0, top, size=(300, 40)).astype(dtype)
    wide = np.zeros((600, 80), dtype=dtype)
    wide[::2, ::2] = X
    laid_out = {
        "C": X,
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    }[layout]
    same_bits(model.decision_function(laid_out), plain(model, X))


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_large_whole_numbers_are_compared_as_float64(dtype):
    rng = np.random.default_rng(0)
    top = np.iinfo(dtype).max
    values = top - np.arange(200, dtype=dtype)
    values = np.concatenate([values, np.array([0, 1, 2**24, 2**24 + 1], dtype=dtype)])
    thresholds = np.concatenate([values.astype(np.float64) - 0.5, values.astype(np.float64)])
    model = forest(4, 3, [31] * 10, [thresholds] * 2)
    X = rng.choice(values, size=(300, 2))
    same_bits(model.decision_function(X), plain(model, X))


def test_trees_that_are_no_trees_and_large_ones_are_walked():
    rng = np.random.default_rng(0)
    thresholds = [np.arange(50.0)] * 3
    X = rng.integers(0, 51, size=(400, 3)).astype(np.float64)
    same_bits((m := forest(5, 3, [900, 3, 40], thresholds)).decision_function(X), plain(m, X))
    builder = EnsembleBuilder(3, 3)
    for left, right in [([1, 2, ~0], [2, 2, ~1]), ([~1, 2, ~0], [1, ~1, ~2])]:
        weak = SimpleNamespace(
            feature=[0, 1, 2], threshold=[20.0, 25.0, 30.0], left=left, right=right,
            leaf_value=[1.0] * 3,
        )  # fmt: skip
        builder.append(weak, [builder.add_vector(rng.normal(size=3)) for _ in range(3)])
        builder.end_round()
    model = builder.build()
    same_bits(model.decision_function(X), plain(model, X))


@pytest.mark.parametrize("sizes", [[2] * 20, [1, 1, 1, 5], [33] * 300])
def test_vectors_with_one_class_each(sizes):
    rng = np.random.default_rng(0)
    model = forest(6, 12, sizes, [np.arange(9.0)] * 4, sparse_vectors=True)
    X = rng.integers(0, 10, size=(300, 4)).astype(np.float64)
    same_bits(model.decision_function(X), plain(model, X))


def test_stages():
    rng = np.random.default_rng(0)
    model = forest(7, 5, [31] * 9, [np.arange(9.0)] * 4)
    X = rng.integers(0, 10, size=(300, 4)).astype(np.float64)
    stages = list(model.staged(X))
    same_bits(stages[-1], plain(model, X))
    for t, scores in enumerate(stages, start=1):
        same_bits(scores, model.decision_function(X, n_rounds=t))


def stumps(seed, n_classes, n_stumps, n_features, *, own):
    """Stumps: a vector a leaf, or one for both."""
    rng = np.random.default_rng(seed)
    builder = EnsembleBuilder(n_features, n_classes)
    for _ in range(n_stumps):
        weak = SimpleNamespace(
            feature=[int(rng.integers(n_features))], threshold=[float(rng.integers(-3, 4)) / 2],
            left=[~0], right=[~1], leaf_value=[-1.0, 1.0],
        )  # fmt: skip
        vectors = [builder.add_vector(rng.normal(size=n_classes)) for _ in range(1 + own)]
        builder.append(weak, vectors if own else vectors[0])
        builder.end_round()
    return builder.build()


SPARSE_MODELS = {
    "trees": lambda: forest(8, 4, [20] * 30, [np.array([-1.0, -0.5, 0.0, 0.5, 1.0])] * 60),
    "large": lambda: forest(8, 4, [900], [np.linspace(-2, 2, 50)] * 60),
    "shared": lambda: stumps(9, 4, 50, 60, own=False),
    "own": lambda: stumps(9, 4, 50, 60, own=True),
    "none": lambda: EnsembleBuilder(60, 4).build(),
}


def sparse_rows(n, dtype=np.float64):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n, 60)) < 0.1, rng.integers(-4, 5, size=(n, 60)) / 2, 0.0)
    return X.astype(dtype)


@pytest.mark.parametrize("name", SPARSE_MODELS)
@pytest.mark.parametrize("n", [0, 1, 23, 24, 300, 1000])
def test_sparse_rows_score_as_dense_ones(kernels, name, n):
    model = SPARSE_MODELS[name]()
    X = sparse_rows(n)
    expected = model.decision_function(X)
    same_bits(model.decision_function(sparse.csr_matrix(X)), expected)
    same_bits(model.decision_function(sparse.csr_array(X), n_threads=3), expected)
    if n == 300:
        same_bits(expected, plain(model, X))


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "?", "i8"])
@pytest.mark.parametrize("container", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_types(dtype, container):
    model = SPARSE_MODELS["trees"]()
    X = np.abs(sparse_rows(200)).astype(dtype)
    matrix = getattr(sparse, container)(X)
    same_bits(model.decision_function(matrix), model.decision_function(X))


def test_sparse_layouts():
    model = SPARSE_MODELS["trees"]()
    X = sparse_rows(300)
    matrix = sparse.csr_array(X)
    long = matrix.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    same_bits(model.decision_function(long), model.decision_function(X))
    doubled = sparse.csr_array(
        (
            np.repeat(matrix.data / 2, 2),
            np.repeat(matrix.indices, 2),
            2 * matrix.indptr,
        ),
        shape=X.shape,
    )
    before = doubled.nnz
    same_bits(model.decision_function(doubled), model.decision_function(X))
    assert doubled.nnz == before  # it is not ours to change
    special = X.copy()
    special[::7, ::3] = np.nan
    special[1::7, ::3] = -np.inf
    same_bits(model.decision_function(sparse.csr_array(special)), plain(model, special))
    for dense, some in zip(model.staged(X), model.staged(matrix), strict=True):
        same_bits(some, dense)


def test_wrong_sparse_input():
    model = SPARSE_MODELS["trees"]()
    with pytest.raises(ValueError, match="X must have 60 columns, got 3"):
        model.decision_function(sparse.csr_array(np.zeros((2, 3))))
    with pytest.raises(
        ValueError, match="A sparse X must have two dimensions and real numbers, go"
    ):
        model.decision_function(sparse.csr_array(np.zeros((2, 60), dtype=complex)))
    arguments = [np.ones(2), np.array([0, 1], dtype=np.int32), np.array([0, 2], dtype=np.int32), 60]
    for place, wrong, message in [
        (1, [0, 60], "indices must be at least 0 and below 60, got 60"),
        (1, [-1, 0], "got -1"),
        (1, [0], "data and indices must have the same length"),
        (2, [0, 3], "indptr must ascend from 0 to at most 2, got 3 after 0"),
        (2, [2, 1], "got 1 after 2"),
        (2, [-1, 1], "got -1 after 0"),
        (2, [0, 1, 2], "scores must have a row for every row of X"),
    ]:
        changed = list(arguments)
        changed[place] = np.array(wrong, dtype=np.int32)
        with pytest.raises(ValueError, match=message):
            model._compiled.add_sparse_scores(*changed, np.zeros((1, 4)), 0, 1, 1)
