"""Compiled models against the classifiers that they come from."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

import marginboost
from marginboost import MCBoostClassifier
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.compiled import CompiledModel
from marginboost.model.link import Softmax

CLASSIFIERS = sorted(name for name in marginboost.__all__ if name.endswith("Classifier"))


def made(name, **settings):
    return getattr(marginboost, name)(n_estimators=15, **settings)


def iris(n_classes=3):
    X, y = load_iris(return_X_y=True)
    keep = y < n_classes
    return X[keep], np.array(["setosa", "versicolor", "virginica"])[y[keep]]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_predicts_as_its_classifier_does(name, depth, n_classes):
    X, y = iris(n_classes)
    settings = {"max_depth": depth} if "max_depth" in made(name).get_params() else {}
    model = made(name, **settings).fit(X[::2], y[::2])
    compiled = model.compile()
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    labels = model.predict(X)
    np.testing.assert_array_equal(compiled.decision_function(X), scores)
    np.testing.assert_array_equal(compiled.predict_proba(X), probabilities)
    assert compiled.predict(X).tolist() == labels.tolist()
    both = compiled(X)
    assert both[0].tolist() == labels.tolist()
    np.testing.assert_allclose(both[1], probabilities, rtol=0, atol=1e-12)
    for i in range(0, len(X), 7):
        for row in (X[i], X[i].tolist(), tuple(X[i].tolist())):
            label, shares = compiled(row)
            assert label == compiled.predict(row) == labels[i]
            assert type(label) is type(labels[i])
            np.testing.assert_allclose(shares, probabilities[i], rtol=0, atol=1e-12)
            assert compiled.predict_proba(row).tobytes() == shares.tobytes()
            single = compiled.decision_function(row)
            np.testing.assert_array_equal(single, scores[i])
            assert np.shape(single) == np.shape(scores[i])


def test_trees_score_to_the_bit():
    X, y = load_digits(return_X_y=True)
    model = MCBoostClassifier(20, max_depth=3).fit(X, y)
    compiled = model.compile()
    assert compiled.form == "trees"
    scores = model.decision_function(X)
    assert compiled.decision_function(X).tobytes() == scores.tobytes()
    assert compiled.decision_function(X[3]).tobytes() == scores[3].tobytes()
    assert compiled.decision_function(sparse.csr_array(X)).tobytes() == scores.tobytes()


def test_stumps_collapse():
    X, y = load_digits(return_X_y=True)
    model = MCBoostClassifier(200).fit(X, y)
    compiled = model.compile()
    assert compiled.form == "steps"
    assert "steps" in repr(compiled)
    size = np.abs(model.coef_).sum(axis=0)
    assert (
        np.abs(compiled.decision_function(X) - model.decision_function(X)) <= 1e-12 * size
    ).all()
    np.testing.assert_allclose(
        compiled.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12
    )


def test_a_snapshot():
    X, y = iris()
    model = made("MCBoostClassifier").fit(X, y)
    compiled = model.compile()
    before = compiled.predict_proba(X)
    classes = model.classes_.copy()
    model.classes_[:] = model.classes_[::-1]
    model.set_params(loss="logistic", n_estimators=2).fit(X[::3], y[::3])
    assert compiled.predict_proba(X).tobytes() == before.tobytes()
    assert compiled.classes_.tolist() == classes.tolist()
    with pytest.raises(ValueError, match="read-only"):
        compiled.classes_[0] = "x"
    with pytest.raises(NotFittedError):
        MCBoostClassifier().compile()


class Own(MCBoostClassifier):
    """A rule of its own, which follows a parameter."""

    def _probabilities(self, scores):
        shares = np.exp(scores * (2.0 if self.loss == "exponential" else 1.0)) + 0.5
        return shares / shares.sum(axis=1, keepdims=True)


def test_a_rule_of_its_own():
    X, y = iris()
    model = Own(10).fit(X, y)
    compiled = model.compile()
    expected = model.predict_proba(X)
    model.loss = "logistic"
    np.testing.assert_allclose(compiled.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_allclose(compiled(X[80])[1], expected[80], atol=1e-12)


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.parametrize("depth", [1, 2])
def test_copies(copier, depth):
    X, y = iris()
    compiled = made("AdaBoostMHClassifier", max_depth=depth).fit(X, y).compile()
    other = copier(compiled)
    assert other.form == compiled.form
    assert other.n_threads == compiled.n_threads
    assert other.predict_proba(X).tobytes() == compiled.predict_proba(X).tobytes()
    assert other(X[0])[0] == compiled(X[0])[0]


@pytest.mark.parametrize("depth", [1, 3])
def test_many_threads_at_once(depth):
    X, y = load_digits(return_X_y=True)
    compiled = MCBoostClassifier(30, max_depth=depth).fit(X, y).compile()
    expected = [compiled(x) for x in X[:300]]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(compiled, X[:300]))
    for (label, shares), (other, others) in zip(expected, found, strict=True):
        assert label == other
        assert shares.tobytes() == others.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f2", ">f8", "i4", "u1", "?", "g"])
def test_rows_of_any_type(dtype):
    X, y = iris()
    compiled = made("MCBoostClassifier").fit(X, y).compile()
    row = X[70].astype(dtype)
    expected = compiled.decision_function(row.astype(np.float64))
    assert compiled.decision_function(row).tobytes() == expected.tobytes()
    assert compiled.decision_function(np.repeat(row, 3)[::3]).tobytes() == expected.tobytes()
    assert compiled.decision_function(row[None, :])[0].tobytes() == expected.tobytes()


def test_values_that_are_missing_or_infinite():
    X, y = iris()
    model = made("MCBoostClassifier", max_depth=2).fit(X, y)
    compiled = model.compile()
    for value in (np.nan, np.inf, -np.inf):
        row = [value, 1.0, value, 0.2]
        filled = model.encoding_.apply(np.array([row]))
        expected = model.ensemble_.decision_function(filled)[0]
        assert compiled.decision_function(row).tobytes() == expected.tobytes()
        assert model.decision_function([row])[0].tobytes() == expected.tobytes()


def test_no_rows_and_no_rounds():
    X, y = iris()
    compiled = made("MCBoostClassifier").fit(X, y).compile()
    assert compiled.predict(X[:0]).shape == (0,)
    assert compiled.predict_proba(X[:0]).shape == (0, 3)
    empty = CompiledModel(EnsembleBuilder(2, 4).build(), np.arange(4), Softmax())
    label, shares = empty([1.0, 2.0])
    assert label == 0
    assert shares.tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0] * 3, "A row must have 4 numbers, one per feature, got 3"),
        ((1.0,) * 5, "one per feature, got 5"),
        ([], "one per feature, got 0"),
        (np.zeros((2, 5)), "one per feature, got 5"),
        (["1", "2", "3", "4"], "A row must hold real numbers, got <U1"),
        ([1.0, 2.0, 3.0, "x"], "A row must hold real numbers, got <U"),
        (np.array([1.0, 2.0, 3.0, "x"], dtype=object), "numbers, as in fit; got text such as 'x'"),
        (pd.DataFrame(np.zeros((1, 3))), "X has 3 features, but CompiledModel is expecting 4"),
        ([1.0, 2.0, 3.0, 4j], "A row must hold real numbers, got complex128"),
        ("abcd", "Input must be one row or a table of rows, got 0 dimensions"),
        (1.0, "Input must be one row or a table of rows, got 0 dimensions"),
        (np.zeros((1, 1, 4)), "got 3 dimensions"),
        (
            [1.0, [2.0], 3.0, 4.0],
            "A row must be a sequence of numbers, and many rows must have the",
        ),
        ([[1.0] * 4, [1.0] * 3], "many rows must have the same length"),
        (sparse.csr_array(np.zeros((1, 3))), "X has 3 features, but CompiledModel is expecting 4"),
    ],
)
@pytest.mark.parametrize("call", ["__call__", "predict", "predict_proba", "decision_function"])
def test_wrong_rows(row, message, call):
    X, y = iris()
    compiled = made("MCBoostClassifier").fit(X, y).compile()
    with pytest.raises(ValueError, match=message):
        getattr(compiled, call)(row)


def test_wrong_classes():
    with pytest.raises(ValueError, match=r"classes must have 4 entries, got .* shape \(3,\)"):
        CompiledModel(EnsembleBuilder(2, 4).build(), np.arange(3), Softmax())
