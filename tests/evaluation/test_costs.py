"""Mean costs, and what one class for all rows would have cost."""

import numpy as np
import pytest

from marginboost import MarginBoostClassifier, mean_cost
from marginboost.evaluation.costs import decided
from marginboost.evaluation.evaluate import evaluate


def test_mean_cost_by_hand():
    costs = [[0, 1, 5], [2, 0, 1], [1, 1, 0]]
    assert mean_cost([0, 1, 2, 0], [2, 0, 2, 0], costs) == 7 / 4
    assert mean_cost([0, 1], [2, 0], costs, sample_weight=[3, 1], labels=[0, 1, 2]) == 17 / 4
    assert mean_cost([0, 1, 2], [0, 0, 0], "equal") == pytest.approx(2 / 3)


def test_labels_say_what_the_rows_of_the_matrix_are():
    costs = [[0, 1, 5], [2, 0, 1], [1, 1, 0]]
    assert mean_cost(["z"], ["x"], costs, labels=["z", "y", "x"]) == 5
    assert mean_cost(["b"], ["a"], "ordinal", classes_order=["a", "c", "b"]) == 2
    with pytest.raises(ValueError, match="it lacks 'w'"):
        mean_cost(["w"], ["x"], costs, labels=["z", "y", "x"])
    with pytest.raises(ValueError, match="must have 2 rows and columns"):
        mean_cost(["z"], ["x"], costs)


@pytest.mark.parametrize("given", [([], []), ([1], [1, 2]), ([[1]], [[1]])])
def test_labels_must_match(given):
    with pytest.raises(ValueError, match="same number of labels"):
        mean_cost(*given, "equal")


def test_a_model_beside_one_class_for_all_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = y[:, None] + rng.normal(size=(200, 2))
    costs = np.array([[0, 1, 4], [1, 0, 1], [4, 1, 0.0]])
    model = MarginBoostClassifier(5, random_state=0, cost_matrix=costs, classes_order=[0, 1, 2])
    model.fit(X, y)
    rows = evaluate(model, X, np.append(y[:-1], 7))  # a class that was not seen is left out
    found = decided(model, rows)
    assert found.mean == mean_cost(y[:-1], model.predict(X)[:-1], costs)
    assert found.label == 1
    assert found.constant == np.mean(y[:-1] != 1)
    off = decided(model, rows, steps=True)
    assert off.mean == np.abs(y - model.predict(X))[:-1].mean()
    plain = MarginBoostClassifier(5, random_state=0).fit(X, y)
    assert decided(plain, evaluate(plain, X, y)) is None
    assert decided(plain, evaluate(plain, X, y), steps=True) is None
