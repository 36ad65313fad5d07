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
    assert model.feature_importances([1.0, 2.0, 1.0]).tolist() == [0.0, 0.5, 0.0, 0.5]
    assert model.feature_importances([1e308, 1e308, 1e308]).sum() == pytest.approx(1)
    assert model.feature_importances([0.0, 0.0, 0.0]).tolist() == [0.0] * 4
    with pytest.raises(
        ValueError, match=r"gains must have shape \(3,\), one per split, got \(2,\)"
    ):
        model.feature_importances([1.0, 2.0])
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="gains must be finite and not negative"):
            model.feature_importances([1.0, 2.0, wrong])
