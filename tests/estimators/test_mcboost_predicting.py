"""MCBoostClassifier, fitted: probabilities, stages, importances, copies, threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import BOTH_LOSSES, assert_same_model, embedded, random_problem

from marginboost import MCBoostClassifier

DEPTHS = pytest.mark.parametrize("depth", [1, 2])


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    """Three classes that stumps do not tell apart, values shared by several rows."""
    X, y = random_problem(150, 4, 3, n_values=30)
    return X, np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)


@BOTH_LOSSES
@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_probabilities_follow_from_the_scores(name, loss):
    X, y = embedded(name)
    model = MCBoostClassifier(30, loss=loss).fit(X, y)
    F = model.ensemble_.decision_function(X)
    c = 2 if loss == "exponential" else 1
    np.testing.assert_allclose(model.predict_proba(X), softmax(c * F, axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X)
    )
    shown = model.decision_function(X)
    expected = F[:, 1] - F[:, 0] if len(model.classes_) == 2 else F
    np.testing.assert_array_equal(shown, expected)


@BOTH_LOSSES
def test_probabilities_of_a_group_are_its_shares(loss):
    """Rows that look alike: the pairwise losses are least where softmax gives the shares."""
    X = np.repeat([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [60, 30, 10, 15, 35, 50])[:, None]
    y = np.repeat([0, 1, 2, 0, 1, 2], [60, 30, 10, 15, 35, 50])
    # One stump is odd around zero, so two columns give the constant that it lacks.
    X = np.hstack([X, np.zeros_like(X)])
    X = np.vstack([X, [[0, 1], [1, 1]]])
    y = np.append(y, [0, 0])
    weight = np.append(np.ones(200), [1e-9, 1e-9])
    model = MCBoostClassifier(400, loss=loss, learning_rate=1.0, regularization=0.0)
    model.fit(X, y, sample_weight=weight)
    found = model.predict_proba([[0, 0], [1, 0]])
    np.testing.assert_allclose(found, [[0.6, 0.3, 0.1], [0.15, 0.35, 0.5]], atol=0.02)


@BOTH_LOSSES
def test_probabilities_beat_the_class_shares(loss):
    X, y = embedded("wine")
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = MCBoostClassifier(20, loss=loss).fit(X_train, y_train)
    dummy = DummyClassifier(strategy="prior").fit(X_train, y_train)
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.5 * log_loss(
        y_test, dummy.predict_proba(X_test)
    )


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@DEPTHS
def test_stages_end_in_the_model(name, depth):
    X, y = embedded(name)
    model = MCBoostClassifier(25, max_depth=depth).fit(X, y)
    scores = list(model.staged_decision_function(X))
    labels = list(model.staged_predict(X))
    assert len(scores) == len(labels) == model.n_iter_ == 25
    np.testing.assert_array_equal(scores[-1], model.decision_function(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    short = MCBoostClassifier(10, max_depth=depth).fit(X, y)
    np.testing.assert_array_equal(scores[9], short.decision_function(X))
    np.testing.assert_array_equal(labels[9], short.predict(X))
    np.testing.assert_array_equal(model.coef_[:10], short.coef_)
    assert not np.shares_memory(scores[0], scores[1])


@DEPTHS
def test_training_errors_count_margins_of_zero_or_less(noisy, depth):
    X, y = noisy
    model = MCBoostClassifier(30, max_depth=depth).fit(X, y)
    for error, F in zip(model.train_errors_, model.staged_decision_function(X), strict=True):
        rest = np.where(np.arange(3) == y[:, None], -np.inf, F).max(axis=1)
        assert error == np.mean(F[np.arange(len(y)), y] <= rest)


def test_feature_importances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 4))
    y = (X[:, 2] > 0).astype(int) + (X[:, 2] > 1) + (X[:, 0] > 1.5)
    X[:, 3] = 1.0
    for depth in (1, 3):
        model = MCBoostClassifier(30, max_depth=depth).fit(X, y)
        assert model.feature_importances_.shape == (4,)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert (model.feature_importances_ >= 0).all()
        assert model.feature_importances_.argmax() == 2
        assert model.feature_importances_[3] == 0
    stumps = MCBoostClassifier(30).fit(X, y)
    sizes = stumps.explain(X).importances()  # all rows are in the sample
    np.testing.assert_allclose(stumps.feature_importances_, sizes / sizes.sum(), rtol=1e-4)


@pytest.mark.parametrize("copy", ["pickle", "joblib"])
@DEPTHS
def test_a_copy_predicts_the_same(iris, copy, depth, tmp_path):
    X, y = iris
    model = MCBoostClassifier(15, max_depth=depth).fit(X, y)
    if copy == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model")
        loaded = joblib.load(tmp_path / "model")
    assert_same_model(model, loaded)
    np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_clone_is_unfitted_with_equal_settings(iris):
    model = MCBoostClassifier(15, loss="logistic", max_depth=2, max_step=0.3).fit(*iris)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")
    assert_same_model(copy.fit(*iris), model)


def test_a_second_fit_forgets_the_first(iris, noisy):
    model = MCBoostClassifier(15).fit(*noisy).fit(*iris)
    assert_same_model(model, MCBoostClassifier(15).fit(*iris))


def test_predictions_in_several_threads_at_once(iris):
    model = MCBoostClassifier(50, n_jobs=2).fit(*iris)
    X = np.tile(iris[0], (50, 1))
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        for F in pool.map(lambda _: model.decision_function(X), range(20)):
            np.testing.assert_array_equal(F, expected)
