"""What every classifier of the package keeps to, whatever its method."""

import pickle

import numpy as np
import pytest
from method_fits import ALL, DEPTHS, MODELS, fit, weight_of
from sklearn.base import clone
from support import (
    assert_same_model,
    embedded,
    noisy_problem,
    random_problem,
)

import marginboost


@pytest.fixture(scope="module")
def noisy():
    """Classes that stumps do not tell apart, values shared by several rows."""
    return noisy_problem(150, 4, 4, n_values=30)


def test_all_classifiers_are_here():
    public = {name for name in marginboost.__all__ if name.endswith("Classifier")}
    assert {type(model).__name__ for model in MODELS.values()} == public


@ALL
@DEPTHS
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_threads_and_engine_change_nothing(name, depth, kind):
    # Enough rows x features that the work is shared among threads.
    X, y = random_problem(4000, 5, 5, n_values=40)
    settings = {"weight": weight_of(kind, len(y)), "max_depth": depth, "n_estimators": 3}
    one = fit(name, X, y, n_jobs=1, **settings)
    assert one.n_iter_ == 3
    for other in ({"n_jobs": 5}, {"engine": "reference"}):
        assert_same_model(one, fit(name, X, y, **other, **settings))


@ALL
@pytest.mark.parametrize("k", [2, 3, 9, 17])
def test_engine_changes_nothing_for_any_number_of_classes(name, k):
    if name == "MO" and k > 9:
        pytest.skip("65,535 columns")
    X, y = random_problem(250, 6, k, n_values=25)
    for depth in (1, 2):
        native = fit(name, X, y, max_depth=depth, n_estimators=3)
        assert_same_model(
            native, fit(name, X, y, max_depth=depth, n_estimators=3, engine="reference")
        )


@ALL
@pytest.mark.parametrize("kernel", ["portable", "avx2", "avx512", "neon"])
def test_kernels_change_nothing(name, kernel, kernels, noisy):
    best = fit(name, *noisy)
    kernels(kernel)
    assert_same_model(best, fit(name, *noisy))


@ALL
def test_order_of_rows_changes_nothing(name, noisy):
    X, y = noisy
    order = np.random.default_rng(4).permutation(len(y))
    straight, shuffled = fit(name, X, y), fit(name, X[order], y[order])
    if "Multi" in name:  # sums m x k real numbers on the host
        np.testing.assert_allclose(straight.coef_, shuffled.coef_, atol=1e-4)
    else:
        assert_same_model(straight, shuffled)


@ALL
@pytest.mark.parametrize("labels", [["b", "c", "x", "y"], [-7, 3, 10, 1000]], ids=["text", "gaps"])
def test_labels_of_any_kind(name, labels, noisy):
    X, y = noisy
    labels = np.array(labels)
    plain, named = fit(name, X, y), fit(name, X, labels[y])
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.ensemble_.vectors, plain.ensemble_.vectors)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))


@ALL
@DEPTHS
@pytest.mark.parametrize("k", [2, 4])
def test_probabilities(name, depth, k):
    X, y = noisy_problem(150, 4, k, n_values=30)
    model = fit(name, X, y, max_depth=depth)
    p = model.predict_proba(X)
    assert p.shape == (len(y), k)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    first, second = np.sort(p, axis=1)[:, :-3:-1].T
    clear = first - second > 1e-12
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(p.argmax(axis=1)[clear], model.predict(X)[clear])
    shown = model.decision_function(X)
    assert shown.shape == ((len(y),) if k == 2 else (len(y), k))
    best = (shown > 0).astype(int) if k == 2 else shown.argmax(axis=1)
    np.testing.assert_array_equal(best, model.predict(X))


@ALL
def test_very_sure_probabilities_stay_finite(name):
    X, y = np.repeat(np.arange(3.0), 5)[:, None], np.repeat(np.arange(3), 5)
    model = fit(name, X, y, n_estimators=30)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), y)


@ALL
@DEPTHS
def test_stages_end_in_the_model(name, depth, noisy):
    X, y = noisy
    path = {"keep_path": True} if "Multi" in name else {}
    model = fit(name, X, y, max_depth=depth, **path)
    scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(labels) == model.n_iter_
    np.testing.assert_allclose(scores[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    probabilities = list(model.staged_predict_proba(X))
    assert len(probabilities) == model.n_iter_
    np.testing.assert_allclose(probabilities[-1], model.predict_proba(X), rtol=1e-10, atol=1e-12)
    for found, expected in zip(probabilities, labels, strict=True):
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], expected)
    short = fit(name, X, y, max_depth=depth, n_estimators=3)
    np.testing.assert_allclose(scores[2], short.decision_function(X), rtol=1e-12, atol=1e-12)


@ALL
def test_a_copy_predicts_the_same(name, noisy):
    X, y = noisy
    model = fit(name, X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_model(model, copy)
    np.testing.assert_array_equal(model.predict_proba(X), copy.predict_proba(X))
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "ensemble_")


@ALL
def test_feature_importances(name):
    X, y = random_problem(200, 3, 3)
    X = np.column_stack([X, np.ones(200)])
    model = fit(name, X, y, max_depth=2)
    assert model.feature_importances_.shape == (4,)
    assert (model.feature_importances_ >= 0).all()
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[3] == 0


@ALL
def test_accuracy_is_that_of_a_boosted_classifier(name):
    X, y = embedded("wine")
    model = fit(name, X[::2], y[::2], n_estimators=20)
    assert model.score(X[1::2], y[1::2]) > 0.85


@ALL
@DEPTHS
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_constant_columns_warn_and_give_class_frequencies(name, depth, engine):
    X, y = np.full((30, 3), 2.5), np.repeat(np.arange(3), [5, 12, 13])
    with pytest.warns(UserWarning, match="constant"):
        model = fit(name, X, y, max_depth=depth, engine=engine)
    assert model.n_iter_ == 1
    assert model.stop_reason_ == "no_violated_constraint"
    np.testing.assert_allclose(model.predict_proba(X), np.tile([5 / 30, 12 / 30, 13 / 30], (30, 1)))
    assert (model.predict(X) == 2).all()
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))


@ALL
def test_two_rows(name):
    model = fit(name, [[0.0], [1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.predict([[-1.0], [2.0]]), ["a", "b"])
