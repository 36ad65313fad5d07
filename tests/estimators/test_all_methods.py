"""What every classifier of the package keeps to, whatever its method."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from support import (
    assert_same_model,
    embedded,
    leaf_of,
    noisy_problem,
    random_problem,
    tree_of,
)

import marginboost
from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)

MODELS = {
    "MarginBoost": MarginBoostClassifier(10, min_samples_leaf=1, random_state=0),
    "MarginBoost logistic": MarginBoostClassifier(
        10, loss="logistic", min_samples_leaf=1, random_state=0, subsample=1.0
    ),
    "MCBoost": MCBoostClassifier(10),
    "MCBoost logistic": MCBoostClassifier(10, loss="logistic"),
    "MultiBoost": MultiBoostClassifier(4),
    "MultiBoost exponential": MultiBoostClassifier(4, loss="exponential"),
    "SAMME": SAMMEClassifier(10),
    "MH": AdaBoostMHClassifier(10),
    "ECC": AdaBoostECCClassifier(10, random_state=0),
    "ECC max-cut": AdaBoostECCClassifier(10, code="max-cut", random_state=0),
    "SIP": AdaBoostSIPClassifier(10),
    "MO": AdaBoostMOClassifier(4),
    "GradBoost": GradBoostClassifier(10),
    "GradBoost penalty": GradBoostClassifier(10, regularization=0.01),
    "JointBoost": JointBoostClassifier(6),
}
ALL = pytest.mark.parametrize("name", MODELS)
STUMPS_AND_TREES = pytest.mark.parametrize(
    "name", [name for name, model in MODELS.items() if "min_weight_fraction_leaf" in model.get_params()]
)
DEPTHS = pytest.mark.parametrize("depth", [1, 2])


def fit(name, X, y, weight=None, **settings):
    if "Margin" in name and settings.get("max_bins", 0) is None:
        settings["max_bins"] = 65535  # has no word for a bin a value
    return clone(MODELS[name]).set_params(**settings).fit(X, y, sample_weight=weight)


@pytest.fixture(scope="module")
def noisy():
    """Classes that stumps do not tell apart, values shared by several rows."""
    return noisy_problem(150, 4, 4, n_values=30)


def test_all_classifiers_are_here():
    public = {name for name in marginboost.__all__ if name.endswith("Classifier")}
    assert {type(model).__name__ for model in MODELS.values()} == public


# --- the same bits --------------------------------------------------------------------------------


def weight_of(kind, n):
    rng = np.random.default_rng(9)
    return {"weights": rng.uniform(0, 3, n), "multiplicities": rng.integers(1, 6, n)}.get(kind)


@ALL
@DEPTHS
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_threads_and_engine_change_nothing(name, depth, kind):
    # Enough rows x features that the work is shared among threads.
    X, y = random_problem(4000, 5, 5, n_values=40)
    settings = {"weight": weight_of(kind, len(y)), "max_depth": depth, "n_estimators": 3}
    one = fit(name, X, y, n_jobs=1, **settings)
    assert one.n_iter_ == 3
    for other in ({"n_jobs": 2}, {"n_jobs": 5}, {"engine": "reference"}):
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
@pytest.mark.parametrize("kernel", ["portable", "avx2", "avx512"])
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


# --- weights --------------------------------------------------------------------------------------


@ALL
@DEPTHS
@pytest.mark.parametrize("max_bins", [None, 8])
def test_an_integer_weight_repeats_the_row(name, depth, max_bins, noisy):
    X, y = noisy
    times = np.random.default_rng(2).integers(0, 4, len(y))
    settings = {"max_depth": depth, "max_bins": max_bins}
    weighted = fit(name, X, y, times, **settings)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    if "Multi" in name:
        np.testing.assert_array_equal(weighted.ensemble_.feature, repeated.ensemble_.feature)
        np.testing.assert_array_equal(weighted.ensemble_.threshold, repeated.ensemble_.threshold)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    else:
        assert_same_model(weighted, repeated)


@ALL
def test_a_row_of_weight_zero_is_absent(name, noisy):
    X, y = noisy
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    weight[::3] = 0
    kept = weight > 0
    assert_same_model(fit(name, X, y, weight), fit(name, X[kept], y[kept], weight[kept]))


@ALL
def test_weights_of_one_are_no_weights(name, noisy):
    assert_same_model(fit(name, *noisy), fit(name, *noisy, np.ones(len(noisy[1]))))


@ALL
def test_class_weight_is_a_factor_on_the_rows(name, noisy):
    X, y = noisy
    factors = {0: 0.5, 1: 2.25, 2: 1.0, 3: 0.8}
    by_row = fit(name, X, y, np.array([factors[label] for label in y]))
    assert_same_model(fit(name, X, y, class_weight=factors), by_row)
    balanced = len(y) / (4 * np.bincount(y))
    assert_same_model(fit(name, X, y, class_weight="balanced"), fit(name, X, y, balanced[y]))


@ALL
def test_a_class_of_weight_zero_does_not_count(name, noisy):
    X, y = noisy
    model = fit(name, X, y, class_weight={1: 0, 2: 0.0})
    assert_same_model(model, fit(name, X, y, np.where((y == 1) | (y == 2), 0.0, 1.0)))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.class_count_[1] == model.class_count_[2] == 0
    both = fit(name, X, y, np.arange(len(y)) % 3 / 2.0, class_weight={1: 0, 0: 2.0})
    weight = np.arange(len(y)) % 3 / 2.0 * np.array([2.0, 0.0, 1.0, 1.0])[y]
    assert_same_model(both, fit(name, X, y, weight))
    with pytest.raises(ValueError, match="positive for rows of at least two classes; got 1 such class"):
        fit(name, X, y, class_weight={0: 0, 1: 0, 3: 0})


# Codes of -1 and +1 (MH, ECC, SIP) say for which half of the classes a row is: they can't say never. And
# GradBoost's weights fade before it does.
@pytest.mark.parametrize(
    "name", [name for name in MODELS if not name.startswith(("MH", "ECC", "SIP", "Grad"))]
)
def test_a_class_of_weight_zero_has_hardly_any_probability(name):
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    model = fit(name, X, y, n_estimators=50, class_weight={2: 0})
    assert not (model.predict(X) == 2).any()
    assert model.predict_proba(X)[:, 2].mean() < 0.02


@ALL
def test_a_heavy_class_is_predicted_more_often(name, noisy):
    X, y = noisy
    plain, heavy = fit(name, X, y), fit(name, X, y, class_weight={1: 6.0})
    assert (heavy.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


@ALL
@DEPTHS
def test_extreme_weights_stay_finite_and_equal_on_both_engines(name, depth, noisy):
    X, y = noisy
    weight = 10.0 ** np.random.default_rng(6).uniform(-12, 12, len(y))
    native = fit(name, X, y, weight, max_depth=depth)
    assert np.isfinite(native.ensemble_.vectors).all()
    assert np.isfinite(native.ensemble_.leaf_value).all()
    assert_same_model(native, fit(name, X, y, weight, max_depth=depth, engine="reference"))


# --- the least weight of a leaf -------------------------------------------------------------------


@STUMPS_AND_TREES
@DEPTHS
@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_every_leaf_holds_its_share_of_the_weight(name, depth, share, kind, noisy):
    X, y = noisy
    weight = weight_of(kind, len(y))
    settings = {"max_depth": depth, "min_weight_fraction_leaf": share}
    model = fit(name, X, y, weight, **settings)
    assert model.n_iter_ > 0
    of_row = np.ones(len(y)) if weight is None else weight
    lightest = min(
        np.bincount(leaf_of(tree, X), weights=of_row, minlength=len(tree.leaf_value)).min()
        for tree in (tree_of(model.ensemble_, j) for j in range(model.ensemble_.n_trees))
    )
    assert lightest >= share * of_row.sum() * (1 - 1e-9)
    assert_same_model(model, fit(name, X, y, weight, engine="reference", **settings))
    assert_same_model(model, fit(name, X, y, weight, n_jobs=3, **settings))


@STUMPS_AND_TREES
def test_the_least_weight_of_a_leaf_leaves_other_thresholds_alone(name, noisy):
    """A share below one row forbids nothing."""
    X, y = noisy
    for depth in (1, 2):
        tiny = fit(name, X, y, max_depth=depth, min_weight_fraction_leaf=0.9 / len(y))
        assert_same_model(tiny, fit(name, X, y, max_depth=depth))


@STUMPS_AND_TREES
def test_a_weighted_leaf_is_that_of_repeated_rows(name, noisy):
    X, y = noisy
    times = np.random.default_rng(8).integers(0, 4, len(y))
    settings = {"max_depth": 2, "min_weight_fraction_leaf": 0.07}
    weighted = fit(name, X, y, times, **settings)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    np.testing.assert_array_equal(weighted.ensemble_.feature, repeated.ensemble_.feature)
    np.testing.assert_array_equal(weighted.ensemble_.threshold, repeated.ensemble_.threshold)


def test_a_half_in_every_leaf():
    X, y = np.array([[0.0, 0], [0, 1], [1, 2], [1, 3]]), [0, 0, 1, 1]
    model = MCBoostClassifier(1, min_weight_fraction_leaf=0.5).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.warns(UserWarning, match="enough weight on both sides"):
        model.fit(X[:, :1], y, sample_weight=[1, 1, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X[:1, :1]), [[0.4, 0.6]])


# --- labels and predictions -----------------------------------------------------------------------


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


# --- degenerate data ------------------------------------------------------------------------------


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
def test_a_class_of_weight_zero_is_not_predicted(name, noisy):
    X, y = noisy
    model = fit(name, X, y, (y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, range(4))
    assert np.isfinite(model.decision_function(X)).all()
    # Four corrected rounds cannot push the score of a class without rows down everywhere.
    most = 0.05 if "Multi" in name else 0.0
    assert np.mean(model.predict(X[y != 1]) == 1) <= most


@ALL
def test_two_rows(name):
    model = fit(name, [[0.0], [1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.predict([[-1.0], [2.0]]), ["a", "b"])
