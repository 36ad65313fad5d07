"""The compiled predictor against a walk in plain Python: equal to the last bit."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_ensembles import append, plain_scores, same_bits, sound_arrays, stump, walk
from random_ensembles import KINDS, N_FEATURES, random_ensemble, random_rows, random_tree

from marginboost.model import ensemble as module
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.ensemble import Ensemble


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(0, 7), max_size=11),
    shape=st.tuples(st.integers(0, 150), st.integers(1, 9)),
    kind=st.sampled_from(sorted(KINDS)),
    round_size=st.integers(1, 4),
)
def test_scores_equal_the_plain_walk(seed, sizes, shape, kind, round_size):
    rng = np.random.default_rng(seed)
    n, n_classes = shape
    dtype = [np.float32, np.float64, np.int8][seed % 3]
    model = random_ensemble(rng, sizes, n_classes, kind=kind, round_size=round_size)
    assert model.n_trees == len(sizes)
    assert model.n_rounds == -(-len(sizes) // round_size)
    X = random_rows(rng, n, dtype)
    expected = plain_scores(model, X)
    same_bits(model.decision_function(X), expected)
    by_numpy = np.zeros_like(expected)
    for j in range(model.n_trees):
        vectors = model.vectors[model.leaf_vector[model.tree_outputs(X, j)]]
        by_numpy += model.weak_outputs(X, j)[:, None] * vectors
    same_bits(by_numpy, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [60, 513, 1000])
def test_many_classes(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    model = random_ensemble(rng, [1, 0, 3, 1, 1, 2, 1], n_classes, kind=kind, round_size=3)
    X = random_rows(rng, 150)
    expected = plain_scores(model, X)
    same_bits(model.decision_function(X), expected)
    same_bits(model.decision_function(X, n_threads=2), expected)
    same_bits(list(model.staged(X))[-1], expected)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "g", ">f8"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "backwards", "unaligned"])
@pytest.mark.parametrize("kind", ["shared", "mixed"])
def test_every_type_and_layout(dtype, layout, kind, monkeypatch):
    monkeypatch.setattr(module, "_VALUES_AT_ONCE", 50 * N_FEATURES)  # several parts
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, [1, 3, 0, 1, 1, 6], kind=kind)
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
    leaves = np.array([walk(model, x, 5) for x in X], dtype=np.int64)
    same_bits(model.tree_outputs(laid_out, 5), leaves)
    same_bits(model.weak_outputs(laid_out, 5), model.leaf_value[leaves])


def test_float32_is_compared_as_float64():
    # 0.1 as float32 is above 0.1 as float64; rounding the threshold would hide it.
    builder = EnsembleBuilder(1, 1)
    append(builder, stump(threshold=0.1), [1.0])
    X = np.array([[0.1]], dtype=np.float32)
    model = builder.build()
    assert model.decision_function(X) == 1.0
    assert model.weak_outputs(X, 0) == 1.0
    assert model.decision_function(X.astype(np.float64) * 0 + 0.1) == -1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [7, 100])
def test_threads_and_blocks_change_nothing(kind, n_classes):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 4, size=50)
    model = random_ensemble(rng, sizes, n_classes, kind=kind, round_size=7)
    X = random_rows(rng, 3000)
    scores = model.decision_function(X)
    same_bits(model.decision_function(X, n_threads=3), scores)
    same_bits(
        np.concatenate([model.decision_function(X[i : i + 1]) for i in range(100)]), scores[:100]
    )
    same_bits(scores[-80:], plain_scores(model, X[-80:]))


@pytest.mark.parametrize("own_vectors", [False, True])
def test_sums_are_taken_in_the_order_of_the_trees(own_vectors):
    # (1 + 1e16) - 1e16 is 0 in doubles; 1 + (1e16 - 1e16) is 1.
    builder = EnsembleBuilder(1, 1)
    for sign, coefficient in [(1.0, 1.0), (1.0, 1e16), (-1.0, 1e16), (1.0, 3.0), (1.0, 0.0)]:
        first = builder.add_vector([coefficient])
        second = builder.add_vector([coefficient]) if own_vectors else first
        builder.append(stump(below=sign, above=sign), [first, second])
    builder.end_round()
    assert builder.build().decision_function(np.zeros((1, 1))) == 3.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("round_size", [1, 2, 9])
def test_first_rounds_and_stages(kind, round_size):
    rng = np.random.default_rng(3)
    model = random_ensemble(rng, [1, 2, 1, 1, 0, 1, 5, 1, 1], kind=kind, round_size=round_size)
    X = random_rows(rng, 70)
    stages = list(model.staged(X))
    assert len(stages) == model.n_rounds == -(-9 // round_size)
    for t, scores in enumerate(stages, start=1):
        same_bits(scores, model.decision_function(X, n_rounds=t))
        same_bits(scores, plain_scores(model, X, t))
    assert not model.decision_function(X, n_rounds=0).any()
    stages[0][:] = np.nan
    assert np.isfinite(np.array(stages[1:])).all()


def test_stages_of_another_type():
    model = random_ensemble(np.random.default_rng(0), [1, 2])
    X = np.arange(5 * N_FEATURES).reshape(5, N_FEATURES) % 3
    same_bits(list(model.staged(X))[-1], plain_scores(model, X))


def test_a_round_may_have_no_trees():
    builder = EnsembleBuilder(1, 1)
    builder.end_round()
    append(builder, stump(), [2.0])
    builder.end_round()
    model = builder.build()
    assert (model.n_rounds, model.n_trees) == (3, 1)
    assert [scores.item() for scores in model.staged(np.ones((1, 1)))] == [0.0, 2.0, 2.0]


def test_no_rounds():
    model = EnsembleBuilder(2, 4).build()
    assert (model.n_rounds, model.n_trees, model.n_classes, model.n_features) == (0, 0, 4, 2)
    scores = model.decision_function(np.ones((3, 2)))
    assert scores.shape == (3, 4)
    assert not scores.any()
    assert list(model.staged(np.ones((3, 2)))) == []
    assert model.split_counts().tolist() == [0, 0]
    assert model.feature_importances([]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.parametrize("kind", ["shared", "mixed"])
def test_copies_predict_the_same(copier, kind):
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, [1, 3, 0], kind=kind, round_size=2)
    X = random_rows(rng, 20)
    other = copier(model)
    assert other is not model
    same_bits(other.decision_function(X), model.decision_function(X))
    assert other.n_rounds == model.n_rounds
    assert not any(getattr(other, name).flags.writeable for name in module.DTYPES)


def test_a_change_to_the_given_arrays_changes_nothing():
    arrays = sound_arrays()
    model = Ensemble(**arrays)
    arrays["feature"][:] = 99
    arrays["vectors"][:] = 0
    assert model.feature.max() == 2
    assert model.decision_function(np.zeros((1, 3))).any()
    with pytest.raises(ValueError, match="read-only"):
        model.vectors[0] = 1.0
    with pytest.raises(AttributeError):
        model.n_features = 7


def test_importances():
    builder = EnsembleBuilder(4, 2)
    append(builder, random_tree(np.random.default_rng(0), 0), [1.0, 0.0])
    for feature in (1, 3, 1):
        append(builder, stump(feature), [1.0, 0.0])
    model = builder.build()
    assert model.split_counts().tolist() == [0, 2, 0, 1]
    assert model.feature_importances([1.0, 2.0, 1.0]).tolist() == [0.0, 0.5, 0.0, 0.5]
    assert model.feature_importances([1e308, 1e308, 1e308]).sum() == pytest.approx(1)
    assert model.feature_importances([0.0, 0.0, 0.0]).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match=r"gains must have shape \(3,\), one per split, got \(2,\)"):
        model.feature_importances([1.0, 2.0])
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="gains must be finite and not negative"):
            model.feature_importances([1.0, 2.0, wrong])
<<<<<<< HEAD
=======


def test_builder_copies_and_goes_on():
    builder = EnsembleBuilder(2, 2)
    row = np.array([1.0, 2.0])
    append(builder, stump(0), row)
    first = builder.build()
    row[:] = 7.0
    append(builder, stump(1), row)
    second = builder.build()
    assert (len(builder), first.n_rounds, second.n_rounds) == (2, 1, 2)
    assert second.vectors.tolist() == [[1.0, 2.0], [7.0, 7.0]]
    assert second.round_offsets.tolist() == [0, 1, 2]
    assert second.node_offsets.tolist() == [0, 1, 2]
    assert second.leaf_offsets.tolist() == [0, 2, 4]
    assert second.leaf_vector.tolist() == [0, 0, 1, 1]
    assert second.leaf_value.tolist() == [-1.0, 1.0, -1.0, 1.0]


def test_builder_takes_arrays():
    tree = random_tree(np.random.default_rng(0), 5)
    arrays = SimpleNamespace(**{name: np.array(value) for name, value in vars(tree).items()})
    models = []
    for weak, kind in [(tree, list), (arrays, np.array)]:
        builder = EnsembleBuilder(N_FEATURES, 1)
        for row in ([2.0], [3.0]):
            builder.add_vector(kind(row))
        builder.append(weak, kind([0, 1, 0, 1, 1, 0]), kind([0.5] * 6))
        builder.append(weak, kind([1])[0])
        builder.end_round()
        models.append(builder.build())
    X = random_rows(np.random.default_rng(1), 30)
    same_bits(models[0].decision_function(X), models[1].decision_function(X))
    same_bits(models[0].decision_function(X), plain_scores(models[0], X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_builder_goes_on_where_an_ensemble_ends(kind):
    rng = np.random.default_rng(0)
    model = random_ensemble(rng, [1, 3, 0, 2, 1], kind=kind, round_size=2)
    before = pickle.dumps(model)
    builder = EnsembleBuilder.of(model)
    assert len(builder) == 3
    assert pickle.dumps(builder.build()) == before
    vector = builder.add_vector([1.0, 2.0, 3.0])
    assert vector == len(model.vectors)
    tree = random_tree(rng, 2)
    builder.append(tree, [vector, 0, vector], [0.5, 0.25, 2.0])
    builder.end_round()
    longer = builder.build()
    assert pickle.dumps(model) == before
    assert (len(builder), longer.n_rounds, longer.n_trees) == (4, 4, 6)
    X = random_rows(rng, 100)
    same_bits(longer.decision_function(X), plain_scores(longer, X))
    same_bits(longer.decision_function(X, n_rounds=3), model.decision_function(X))
    same_bits(longer.tree_outputs(X, 5), np.array([walk(longer, x, 5) for x in X]))


def test_a_builder_of_an_ensemble_without_rounds():
    builder = EnsembleBuilder.of(EnsembleBuilder(2, 4).build())
    append(builder, stump(1), np.ones(4))
    model = builder.build()
    assert (model.n_features, model.n_classes, model.n_rounds) == (2, 4, 1)


@pytest.mark.parametrize("row", [[1.0], [1.0] * 3, 1.0, [[1.0, 2.0]]])
def test_builder_wants_an_entry_a_class(row):
    builder = EnsembleBuilder(2, 2)
    with pytest.raises(ValueError, match="A vector must have 2 entries, one per class, got an array"):
        builder.add_vector(row)
    assert builder.add_vector([1.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("leaf_vector", "leaf_value", "got"),
    [
        ([0], None, "1 and 2"),
        ([0] * 3, None, "3 and 2"),
        (0, [1.0], "2 and 1"),
        ([0, 0], [1.0] * 3, "2 and 3"),
        ([0], [1.0], "1 and 1"),
    ],
)
def test_builder_wants_a_vector_and_a_value_a_leaf(leaf_vector, leaf_value, got):
    builder = EnsembleBuilder(2, 2)
    append(builder, stump(), [1.0, 2.0])
    message = f"A tree of 2 leaves must have as many vectors and values, got {got}"
    with pytest.raises(ValueError, match=message):
        builder.append(stump(), leaf_vector, leaf_value)
    assert builder.build().n_trees == 1  # nothing of it has stayed


def test_builder_wants_its_round_ended():
    builder = EnsembleBuilder(2, 2)
    builder.append(stump(), builder.add_vector([1.0, 2.0]))
    assert len(builder) == 0
    with pytest.raises(ValueError, match=r"must be ended before .* got 1 trees since"):
        builder.build()
    builder.end_round()
    assert builder.build().n_rounds == len(builder) == 1


def test_builder_checks_vector_numbers():
    builder = EnsembleBuilder(2, 2)
    builder.append(stump(), 0)
    builder.end_round()
    with pytest.raises(ValueError, match="leaf_vector must be at least 0 and below 0, got 0"):
        builder.build()


def sound_arrays():
    """A stump and a tree of two nodes in a round, a constant in another; two classes."""
    return {
        "vectors": np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]]),
        "round_offsets": np.array([0, 2, 3], dtype=np.int64),
        "node_offsets": np.array([0, 1, 3, 3], dtype=np.int64),
        "feature": np.array([0, 1, 2], dtype=np.int32),
        "threshold": np.array([0.5, 1.5, 2.5]),
        "left": np.array([~0, 1, ~0], dtype=np.int32),
        "right": np.array([~1, ~2, ~1], dtype=np.int32),
        "leaf_offsets": np.array([0, 2, 5, 6], dtype=np.int64),
        "leaf_vector": np.array([0, 0, 1, 2, 0, 2], dtype=np.int32),
        "leaf_value": np.array([-1.0, 1.0, 0.25, -1.0, 3.0, 1.0]),
        "n_features": 3,
    }


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("round_offsets", 0, 1, "round_offsets must begin with 0, got 1"),
        ("round_offsets", 1, 4, "round_offsets must not descend below 4, got 3"),
        ("round_offsets", 1, -1, "round_offsets must not descend below 0, got -1"),
        ("round_offsets", 2, 2, "round_offsets must end with the number of entries, 3, got 2"),
        ("round_offsets", 2, 2**63 - 1, "must end with the number of entries, 3, got 9223372"),
        ("node_offsets", 0, 1, "node_offsets must begin with 0, got 1"),
        ("node_offsets", 1, 9, "node_offsets must not descend below 9, got 3"),
        ("node_offsets", 1, -1, "node_offsets must not descend below 0, got -1"),
        ("node_offsets", 3, 4, "node_offsets must end with the number of entries, 3, got 4"),
        ("leaf_offsets", 0, -1, "leaf_offsets must begin with 0, got -1"),
        ("leaf_offsets", 1, 6, "leaf_offsets must not descend below 6, got 5"),
        ("leaf_offsets", 3, 5, "leaf_offsets must end with the number of entries, 6, got 5"),
        ("leaf_offsets", 2, 6, "every tree must have at least one leaf, got 0"),
        ("feature", 1, 3, "feature must be at least 0 and below 3, got 3"),
        ("feature", 1, -1, "feature must be at least 0 and below 3, got -1"),
        ("left", 1, 0, "a child of node 0 of tree 1 must be a later one .* got 0"),
        ("left", 2, 0, "a child of node 1 of tree 1 .* got 0"),
        ("left", 2, 1, "a child of node 1 .* got 1"),
        ("left", 1, 2, "its 2 nodes, or ~leaf for one of its 3 leaves, got 2"),
        ("right", 0, ~2, "a child of node 0 of tree 0 .* got -3"),
        ("right", 0, 2**31 - 1, "got 2147483647"),
        ("right", 0, -(2**31), "got -2147483648"),
        ("threshold", 0, np.nan, "threshold must be finite"),
        ("threshold", 0, np.inf, "threshold must be finite"),
        ("vectors", 0, np.nan, "vectors must be finite"),
        ("vectors", (2, 1), -np.inf, "vectors must be finite, got inf or nan"),
        ("leaf_vector", 5, 3, "leaf_vector must be at least 0 and below 3, got 3"),
        ("leaf_vector", 0, -1, "leaf_vector must be at least 0 and below 3, got -1"),
        ("leaf_value", 0, np.inf, "leaf_value must be finite"),
        ("leaf_value", 5, np.nan, "leaf_value must be finite, got inf or nan"),
    ],
)
def test_a_wrong_entry_is_found(name, index, value, message):
    arrays = sound_arrays()
    assert Ensemble(**arrays).n_trees == 3
    arrays[name][index] = value
    with pytest.raises(ValueError, match=message):
        Ensemble(**arrays)


@given(st.sampled_from(sorted(module.DTYPES)), st.integers(0, 8), st.integers(-5, 9))
def test_no_change_of_an_entry_reads_where_it_should_not(name, index, value):
    """An ensemble with any other entry is refused, or predicts what the plain walk predicts."""
    arrays = sound_arrays()
    flat = arrays[name].reshape(-1)
    flat[index % flat.size] = value
    try:
        model = Ensemble(**arrays)
    except ValueError:
        return
    X = np.random.default_rng(0).integers(0, 4, size=(20, 3)).astype(np.float64)
    same_bits(model.decision_function(X), plain_scores(model, X))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("vectors", np.zeros((3, 0)), "vectors must have at least one column, got 0"),
        ("vectors", np.zeros((2, 2)), "leaf_vector must be at least 0 and below 2, got 2"),
        ("vectors", np.zeros(6), "vectors must be a NumPy array of float64 with 2 dimensions, got"),
        ("round_offsets", np.zeros(0, dtype=np.int64), "round_offsets must have at least one"),
        ("round_offsets", np.zeros(1, dtype=np.int64), "the number of entries, 3, got 0"),
        ("round_offsets", np.array([0, 3], dtype=np.int32), "round_offsets must be a NumPy array"),
        ("node_offsets", np.zeros(0, dtype=np.int64), "node_offsets must have at least one entry"),
        ("node_offsets", np.array([0, 1, 3]), "round_offsets must end .* entries, 2, got 3"),
        ("feature", np.zeros(3), "feature must be a NumPy array of int32 with 1 dim"),
        ("left", np.zeros(2, dtype=np.int32), "left and right must have the same length"),
        ("threshold", [0.0, 0.0, 0.0], "threshold must be a NumPy array of float64 .* got list"),
        ("leaf_offsets", np.zeros(0, dtype=np.int64), "leaf_offsets must have one entry a tree"),
        ("leaf_offsets", np.array([0, 2, 6]), "one entry a tree and one more, 4, got 3"),
        ("leaf_vector", np.zeros(5, dtype=np.int32), "leaf_vector and leaf_value must have the"),
        ("leaf_vector", np.zeros(6, dtype=np.int64), "leaf_vector must be a NumPy array of int32"),
        ("leaf_value", np.zeros(7), "leaf_vector and leaf_value must have the same length"),
        ("leaf_value", np.zeros(6, dtype=np.float32), "leaf_value must be a NumPy array of"),
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
            lambda m: m.decision_function(np.zeros((2, 3)), n_rounds=3),
            "between 0 and 2, got 0 to 3",
        ),
        (lambda m: m.decision_function(np.zeros((2, 3)), n_rounds=-1), "got 0 to -1"),
        (lambda m: m.decision_function(np.zeros((2, 3)), n_threads=0), "n_threads must be from 1"),
        (lambda m: m.weak_outputs(np.zeros((2, 3)), 3), "j must be from 0 to 2, got 3"),
        (lambda m: m.tree_outputs(np.zeros((2, 3)), -1), "j must be from 0 to 2, got -1"),
        (lambda m: m.tree_outputs(np.zeros((2, 2)), 0), "X must have 3 columns, got 2"),
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
        predictor.add_scores(np.zeros((4, 3)), np.zeros((3, 2)), 0, 2, 1)
    with pytest.raises(ValueError, match="X must have 3 columns, got 2"):
        predictor.add_scores(np.zeros((4, 2)), np.zeros((4, 2)), 0, 2, 1)
>>>>>>> h_words
