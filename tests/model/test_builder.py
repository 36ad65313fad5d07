"""Ensembles are built round by round, and built on."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from plain_ensembles import append, plain_scores, same_bits, stump, walk
from random_ensembles import KINDS, N_FEATURES, random_ensemble, random_rows, random_tree

from marginboost.model.builder import EnsembleBuilder


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
    with pytest.raises(
        ValueError, match="A vector must have 2 entries, one per class, got an array"
    ):
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
    message = f"A tree of 2 leaves must have 2 vectors and values, got {got}"
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
