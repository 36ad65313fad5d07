"""MarginBoostClassifier, fitted: stages, copies, a second fit, checks of what is predicted."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support import assert_same_margin_boost as assert_same
from support import embedded, noisy_problem
from support import small_margin_boost as small


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    return noisy_problem(150, 4, 3, n_values=30)


SPARSE = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix]


@pytest.fixture(scope="module")
def counts():
    X, y = noisy_problem(200, 8, 3, n_values=6)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    return X, y


@pytest.mark.parametrize("form", SPARSE)
def test_predictions_for_sparse_rows(form, counts):
    X, y = counts
    model = small().fit(form(X), y)
    np.testing.assert_array_equal(model.decision_function(form(X)), model.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(form(X)), model.predict_proba(X))
    np.testing.assert_array_equal(
        list(model.staged_predict(form(X))), list(model.staged_predict(X))
    )


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_stages_end_in_the_model(name):
    X, y = embedded(name)
    model = small(12).fit(X, y)
    scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(labels) == model.n_iter_ == len(model.train_errors_) == 12
    np.testing.assert_array_equal(scores[-1], model.decision_function(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    short = small(5).fit(X, y)
    np.testing.assert_array_equal(scores[4], short.decision_function(X))
    np.testing.assert_array_equal(labels[4], short.predict(X))


def test_training_errors_count_margins_of_zero_or_less(noisy):
    X, y = noisy
    model = small(12).fit(X, y)
    for error, F in zip(model.train_errors_, model.staged_decision_function(X), strict=True):
        rest = np.where(np.arange(3) == y[:, None], -np.inf, F).max(axis=1)
        assert error == np.mean(F[np.arange(len(y)), y] <= rest)


def test_a_copy_predicts_the_same(iris):
    X, y = iris
    model = small().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert_same(model, loaded)
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "ensemble_")
    assert_same(copy.fit(X, y), model)
    # Nothing as long as the data stays behind.
    assert max(np.size(value) for value in vars(model).values()) < len(y)


def test_a_second_fit_forgets_the_first(iris, noisy):
    assert_same(small().fit(*noisy).fit(*iris), small().fit(*iris))
    twice = small().fit(*noisy)
    twice.set_params(calibrate=False).fit(*noisy)
    assert twice.probability_scale_ == 2.0


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "staged_predict"]
)
def test_prediction_checks_its_input(method, iris):
    X, y = iris
    model = small(3)
    with pytest.raises(NotFittedError):
        list(getattr(model, method)(X))
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* expecting 4"):
        list(getattr(model, method)(X[:, :2]))
    with pytest.raises(ValueError, match="Complex"):
        list(getattr(model, method)(X * 1j))
