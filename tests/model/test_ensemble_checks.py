"""Arrays and calls that are wrong are refused before anything is read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_ensembles import plain_scores, same_bits, sound_arrays

from marginboost.model import ensemble as module
from marginboost.model.ensemble import Ensemble


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
    predictor = Ensemble(**sound_arrays())._compiled
    with pytest.raises(ValueError, match="scores must have a row for every row of X"):
        predictor.add_scores(np.zeros((4, 3)), np.zeros((3, 2)), 0, 2, 1)
    with pytest.raises(ValueError, match="X must have 3 columns, got 2"):
        predictor.add_scores(np.zeros((4, 2)), np.zeros((4, 2)), 0, 2, 1)
