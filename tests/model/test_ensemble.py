"""The compiled predictor against a walk in plain Python: equal to the last bit."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginboost.model import ensemble as module
from marginboost.model.ensemble import Ensemble, EnsembleBuilder

N_FEATURES = 6


def random_tree(rng, n_nodes, n_features=N_FEATURES):
    """A tree of `n_nodes` internal nodes: each new node takes the place of a leaf."""
    left, right = [None] * n_nodes, [None] * n_nodes
    open_ends = []
    for node in range(n_nodes):
        if node:
            parent, side = open_ends.pop(rng.integers(len(open_ends)))
            side[parent] = node
        open_ends += [(node, left), (node, right)]
    for leaf, (parent, side) in enumerate(open_ends):
        side[parent] = ~leaf
    return SimpleNamespace(
        feature=rng.integers(n_features, size=n_nodes).tolist(),
        threshold=(rng.integers(-8, 8, size=n_nodes) / 4).tolist(),  # ties with the values of X
        left=left,
        right=right,
        leaf_value=rng.choice([-1.0, 1.0], size=n_nodes + 1).tolist(),
    )


def random_ensemble(rng, sizes, n_classes=3, n_features=N_FEATURES):
    builder = EnsembleBuilder(n_features, n_classes)
    for n_nodes in sizes:
        builder.append(random_tree(rng, n_nodes, n_features), rng.exponential(size=n_classes))
    return builder.build()


def random_rows(rng, n, dtype=np.float64, n_features=N_FEATURES):
    return (rng.integers(-10, 10, size=(n, n_features)) / 4).astype(dtype)


def walk(model, x, j):
    """h_j(x), one step after the other."""
    first, last = model.node_offsets[j : j + 2]
    place = 0 if last > first else -1
    while place >= 0:
        node = first + place
        goes_left = float(x[model.feature[node]]) <= model.threshold[node]
        place = int(model.left[node] if goes_left else model.right[node])
    return model.leaf_value[model.leaf_offsets[j] - place - 1]


def plain_scores(model, X, n_rounds=None):
    scores = np.zeros((len(X), model.n_classes))
    for j in range(model.n_rounds if n_rounds is None else n_rounds):
        for i, x in enumerate(X):
            scores[i] += walk(model, x, j) * model.coef[j]
    return scores


def stump(feature=0, threshold=0.5, below=-1.0, above=1.0):
    return SimpleNamespace(
        feature=[feature], threshold=[threshold], left=[~0], right=[~1], leaf_value=[below, above]
    )


def same_bits(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@settings(deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 7), max_size=11),
    st.integers(0, 150),
    st.integers(1, 9),
    st.sampled_from([np.float32, np.float64, np.int8]),
)
def test_scores_equal_the_plain_walk(seed, sizes, n, n_classes, dtype):
    rng = np.random.default_rng(seed)
    model = random_ensemble(rng, sizes, n_classes)
    X = random_rows(rng, n, dtype)
    expected = plain_scores(model, X)
    same_bits(model.decision_function(X), expected)
    by_numpy = np.zeros_like(expected)
    for j in range(model.n_rounds):
        by_numpy += model.weak_outputs(X, j)[:, None] * model.coef[j]
    same_bits(by_numpy, expected)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "g", ">f8"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "backwards", "unaligned"])
def test_every_type_and_layout(dtype, layout, monkeypatch):
    monkeypatch.setattr(module, "_VALUES_AT_ONCE", 50 * N_FEATURES)  # several parts
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, [1, 3, 0, 1, 1, 6])
    X = np.abs(random_rows(rng, 130)).astype(dtype)
    wide = np.zeros((260, 2 * N_FEATURES), dtype=dtype)
    wide[::2, ::2] = X
    odd = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(dtype).reshape(X.shape)
    odd[...] = X
    laid_out = {
        "C": X,
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "unaligned": odd,
    }[layout]
    laid_out.flags.writeable = False
    same_bits(model.decision_function(laid_out), plain_scores(model, X))
    same_bits(model.weak_outputs(laid_out, 5), np.array([walk(model, x, 5) for x in X]))


def test_float32_is_compared_as_float64():
    # 0.1 as float32 is above 0.1 as float64; rounding the threshold would hide it.
    builder = EnsembleBuilder(1, 1)
    builder.append(stump(threshold=0.1), [1.0])
    X = np.array([[0.1]], dtype=np.float32)
    model = builder.build()
    assert model.decision_function(X) == 1.0
    assert model.weak_outputs(X, 0) == 1.0
    assert model.decision_function(X.astype(np.float64) * 0 + 0.1) == -1.0


def test_threads_and_blocks_change_nothing():
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, rng.integers(0, 4, size=50), n_classes=7)
    X = random_rows(rng, 3000)
    scores = model.decision_function(X)
    same_bits(model.decision_function(X, n_threads=3), scores)
    same_bits(
        np.concatenate([model.decision_function(X[i : i + 1]) for i in range(100)]), scores[:100]
    )
    same_bits(scores[-80:], plain_scores(model, X[-80:]))


def test_sums_are_taken_in_the_order_of_the_rounds():
    # (1 + 1e16) - 1e16 is 0 in doubles; 1 + (1e16 - 1e16) is 1.
    builder = EnsembleBuilder(1, 1)
    for sign, coefficient in [(1.0, 1.0), (1.0, 1e16), (-1.0, 1e16), (1.0, 3.0), (1.0, 0.0)]:
        builder.append(stump(below=sign, above=sign), [coefficient])
    assert builder.build().decision_function(np.zeros((1, 1))) == 3.0


def test_first_rounds_and_stages():
    rng = np.random.default_rng(3)
    model = random_ensemble(rng, [1, 2, 1, 1, 0, 1, 5, 1, 1])
    X = random_rows(rng, 70)
    stages = list(model.staged(X))
    assert len(stages) == model.n_rounds == 9
    for j, scores in enumerate(stages, start=1):
        same_bits(scores, model.decision_function(X, n_rounds=j))
        same_bits(scores, plain_scores(model, X, j))
    assert not model.decision_function(X, n_rounds=0).any()
    stages[0][:] = np.nan
    assert np.isfinite(stages[1]).all()


def test_stages_of_another_type():
    model = random_ensemble(np.random.default_rng(0), [1, 2])
    X = np.arange(5 * N_FEATURES).reshape(5, N_FEATURES) % 3
    same_bits(list(model.staged(X))[-1], plain_scores(model, X))


def test_no_rounds():
    model = EnsembleBuilder(2, 4).build()
    assert (model.n_rounds, model.n_classes, model.n_features) == (0, 4, 2)
    scores = model.decision_function(np.ones((3, 2)))
    assert scores.shape == (3, 4)
    assert not scores.any()
    assert list(model.staged(np.ones((3, 2)))) == []
    assert model.split_counts().tolist() == [0, 0]
    assert model.feature_importances([]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_predict_the_same(copier):
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, [1, 3, 0])
    X = random_rows(rng, 20)
    other = copier(model)
    assert other is not model
    same_bits(other.decision_function(X), model.decision_function(X))
    assert not other.coef.flags.writeable


def test_a_change_to_the_given_arrays_changes_nothing():
    arrays = sound_arrays()
    model = Ensemble(**arrays)
    arrays["feature"][:] = 99
    arrays["coef"][:] = 0
    assert model.feature.max() == 2
    assert model.decision_function(np.zeros((1, 3))).any()
    with pytest.raises(ValueError, match="read-only"):
        model.coef[0] = 1.0
    with pytest.raises(AttributeError):
        model.n_features = 7


def test_importances():
    builder = EnsembleBuilder(4, 2)
    builder.append(random_tree(np.random.default_rng(0), 0), [1.0, 0.0])
    for feature in (1, 3, 1):
        builder.append(stump(feature), [1.0, 0.0])
    model = builder.build()
    assert model.split_counts().tolist() == [0, 2, 0, 1]
    assert model.feature_importances([1.0, 2.0, 1.0]).tolist() == [0.0, 0.5, 0.0, 0.5]
    assert model.feature_importances([1e308, 1e308, 1e308]).sum() == pytest.approx(1)
    assert model.feature_importances([0.0, 0.0, 0.0]).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match=r"gains must have shape \(3,\), one a split, got \(2,\)"):
        model.feature_importances([1.0, 2.0])
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="gains must be finite and not negative"):
            model.feature_importances([1.0, 2.0, wrong])


def test_builder_copies_and_goes_on():
    builder = EnsembleBuilder(2, 2)
    row = np.array([1.0, 2.0])
    builder.append(stump(0), row)
    first = builder.build()
    row[:] = 7.0
    builder.append(stump(1), row)
    second = builder.build()
    assert (len(builder), first.n_rounds, second.n_rounds) == (2, 1, 2)
    assert second.coef.tolist() == [[1.0, 2.0], [7.0, 7.0]]
    assert second.node_offsets.tolist() == [0, 1, 2]
    assert second.leaf_offsets.tolist() == [0, 2, 4]


def test_builder_takes_arrays():
    tree = random_tree(np.random.default_rng(0), 5)
    arrays = SimpleNamespace(**{name: np.array(value) for name, value in vars(tree).items()})
    models = []
    for weak in (tree, arrays):
        builder = EnsembleBuilder(N_FEATURES, 1)
        builder.append(weak, [2.0])
        models.append(builder.build())
    X = random_rows(np.random.default_rng(1), 30)
    same_bits(models[0].decision_function(X), models[1].decision_function(X))


def test_builder_wants_whole_rows_of_coefficients():
    builder = EnsembleBuilder(2, 2)
    builder.append(stump(0), [1.0])
    with pytest.raises(ValueError, match="must have 2 entries, got 1 for 1 rounds"):
        builder.build()


def sound_arrays():
    """A stump, a tree of two nodes and a constant, on three features and two classes."""
    return {
        "coef": np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]]),
        "node_offsets": np.array([0, 1, 3, 3], dtype=np.int64),
        "feature": np.array([0, 1, 2], dtype=np.int32),
        "threshold": np.array([0.5, 1.5, 2.5]),
        "left": np.array([~0, 1, ~0], dtype=np.int32),
        "right": np.array([~1, ~2, ~1], dtype=np.int32),
        "leaf_offsets": np.array([0, 2, 5, 6], dtype=np.int64),
        "leaf_value": np.array([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0]),
        "n_features": 3,
    }


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("node_offsets", 0, 1, "node_offsets must begin with 0, got 1"),
        ("node_offsets", 1, 9, "node_offsets must not descend below 9, got 3"),
        ("node_offsets", 1, -1, "node_offsets must not descend below 0, got -1"),
        ("node_offsets", 3, 4, "node_offsets must end with the number of entries, 3, got 4"),
        ("leaf_offsets", 3, 5, "leaf_offsets must end with the number of entries, 6, got 5"),
        ("leaf_offsets", 2, 6, "every weak classifier must have at least one leaf, got 0"),
        ("feature", 1, 3, "feature must be at least 0 and below 3, got 3"),
        ("feature", 1, -1, "feature must be at least 0 and below 3, got -1"),
        ("left", 1, 0, "a child of node 0 of weak classifier 1 must be a later one .* got 0"),
        ("left", 2, 0, "a child of node 1 of weak classifier 1 .* got 0"),
        ("left", 2, 1, "a child of node 1 .* got 1"),
        ("left", 1, 2, "its 2 nodes, or ~leaf for one of its 3 leaves, got 2"),
        ("right", 0, ~2, "a child of node 0 of weak classifier 0 .* got -3"),
        ("right", 0, 2**31 - 1, "got 2147483647"),
        ("right", 0, -(2**31), "got -2147483648"),
        ("threshold", 0, np.nan, "threshold must be finite"),
        ("threshold", 0, np.inf, "threshold must be finite"),
        ("coef", 0, np.nan, "coef must be finite"),
        ("leaf_value", 0, 0.5, "leaf_value must be -1 or [+]1, got 0.5"),
        ("leaf_value", 0, np.nan, "leaf_value must be -1 or [+]1"),
    ],
)
def test_a_wrong_entry_is_found(name, index, value, message):
    arrays = sound_arrays()
    assert Ensemble(**arrays).n_rounds == 3
    arrays[name][index] = value
    with pytest.raises(ValueError, match=message):
        Ensemble(**arrays)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef", np.zeros((3, 0)), "coef must have at least one column, got 0"),
        (
            "coef",
            np.zeros((2, 2)),
            "node_offsets must have one entry a round and one more, 3, got 4",
        ),
        (
            "coef",
            np.zeros(6),
            "coef must be a NumPy array of float64 with 2 dimensions, got float64",
        ),
        ("feature", np.zeros(3), "feature must be a NumPy array of int32 with 1 dim"),
        ("left", np.zeros(2, dtype=np.int32), "left and right must have the same length"),
        ("threshold", [0.0, 0.0, 0.0], "threshold must be a NumPy array of float64 .* got list"),
        ("leaf_offsets", np.zeros(0, dtype=np.int64), "leaf_offsets must have one entry a round"),
        ("n_features", -1, "n_features must not be negative, got -1"),
    ],
)
def test_a_wrong_array_is_found(name, value, message):
    with pytest.raises(ValueError, match=message):
        Ensemble(**sound_arrays() | {name: value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.decision_function(np.zeros((2, 4))), "X must have 3 columns, got 4"),
        (lambda m: m.decision_function(np.zeros(3)), "X must be a two-dimensional NumPy array"),
        (lambda m: m.decision_function([[0.0] * 3]), "real numbers, got list"),
        (lambda m: m.decision_function(np.zeros((2, 3), dtype="M8[s]")), "got datetime64"),
        (
            lambda m: m.decision_function(np.zeros((2, 3)), n_rounds=4),
            "between 0 and 3, got 0 to 4",
        ),
        (lambda m: m.decision_function(np.zeros((2, 3)), n_rounds=-1), "got 0 to -1"),
        (lambda m: m.decision_function(np.zeros((2, 3)), n_threads=0), "n_threads must be from 1"),
        (lambda m: m.weak_outputs(np.zeros((2, 3)), 3), "j must be from 0 to 2, got 3"),
        (lambda m: m.weak_outputs(np.zeros((2, 2)), 0), "X must have 3 columns, got 2"),
        (lambda m: next(m.staged(np.zeros((2, 2)))), "X must have 3 columns, got 2"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call(Ensemble(**sound_arrays()))


def test_native_code_checks_the_shape_of_its_output():
    predictor = Ensemble(**sound_arrays())._predictor
    with pytest.raises(ValueError, match="scores must have a row for every row of X"):
        predictor.add_scores(np.zeros((4, 3)), np.zeros((3, 2)), 0, 3, 1)
    with pytest.raises(ValueError, match="X must have 3 columns, got 2"):
        predictor.add_scores(np.zeros((4, 2)), np.zeros((4, 2)), 0, 3, 1)
