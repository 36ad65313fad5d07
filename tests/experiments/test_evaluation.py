"""The evaluation functions as written, against the classifiers whose they are."""

import numpy as np
import pytest
from support import embedded

from experiments.evaluation import FORMULAS, MultiLabelCode, SingleLabelCode, Stumps, best_classes
from experiments.methods import METHODS
from marginboost import MCBoostClassifier, SAMMEClassifier

ROUNDS = 9


def fitted(method, n_classes=4):
    X, y = embedded("digits")
    rows = y < n_classes
    X, y = X[rows][:120], y[rows][:120]
    return METHODS[method].make(ROUNDS, 0, 1, {}).fit(X, y), X


@pytest.mark.parametrize("method", FORMULAS)
def test_scores_and_classes_are_those_of_the_classifier(method):
    model, X = fitted(method)
    formula = FORMULAS[method](model.ensemble_)
    np.testing.assert_allclose(formula.scores(X), model.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.classes_[best_classes(formula, X)], model.predict(X))
    np.testing.assert_array_equal(best_classes(formula, X[3:4]), best_classes(formula, X)[3:4])


@pytest.mark.parametrize("method", FORMULAS)
def test_sizes_are_those_of_the_table(method):
    k, k_columns = 4, 7
    model, _ = fitted(method, k)
    formula = FORMULAS[method](model.ensemble_)
    n = model.n_iter_
    weak, coefficients = {
        "mo": (k_columns * n, k_columns * k + n),
        "mh": (n, n * k + n),
        "ecc": (n, n * k + n),
    }.get(method, (n, n * k))
    assert (formula.n_weak, formula.n_coefficients) == (weak, coefficients)


@pytest.mark.parametrize("method", ["mh", "ecc", "mo"])
def test_codes_are_minus_and_plus_one_and_outputs_at_most_one(method):
    model, X = fitted(method)
    formula = FORMULAS[method](model.ensemble_)
    assert set(np.unique(formula.M)) == {-1.0, 1.0}
    assert (formula.w > 0).all()
    said = np.abs(formula.stumps.outputs(X))
    assert said.max() == 1.0
    if method != "ecc":  # its two votes differ in size
        assert said.min() == 1.0


def test_rows_are_taken_some_at_a_time(monkeypatch):
    model, X = fitted("exp")
    formula = FORMULAS["exp"](model.ensemble_)
    whole = best_classes(formula, X)
    monkeypatch.setattr("experiments.evaluation._VALUES_AT_ONCE", 3 * ROUNDS)
    np.testing.assert_array_equal(best_classes(formula, X), whole)


def test_what_does_not_fit_is_an_error():
    X, y = embedded("iris")
    deep = MCBoostClassifier(3, max_depth=2).fit(X, y).ensemble_
    with pytest.raises(ValueError, match="must be stumps"):
        Stumps.of(deep)
    naming = SAMMEClassifier(3).fit(X, y).ensemble_
    with pytest.raises(ValueError, match="share a vector"):
        Stumps.of(naming)
    matrix = MCBoostClassifier(5).fit(X, y).ensemble_
    with pytest.raises(ValueError, match=r"-1 and \+1"):
        SingleLabelCode.of(matrix)
    codewords = METHODS["ecc"].make(5, 0, 1, {}).fit(X, y).ensemble_
    with pytest.raises(ValueError, match="one weak classifier per column"):
        MultiLabelCode.of(codewords)
