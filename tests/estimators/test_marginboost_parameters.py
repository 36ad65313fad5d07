"""The parameters of MarginBoostClassifier: what they may be, and what they bound."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.model_selection import train_test_split
from support import BOTH_LOSSES, embedded, noisy_problem
from support import small_margin_boost as small

from marginboost import MarginBoostClassifier


@pytest.fixture(scope="module")
def iris():
    return embedded("iris")


@pytest.fixture(scope="module")
def noisy():
    """Three classes that no tree tells apart, values shared by several rows."""
    return noisy_problem(150, 4, 3, n_values=30)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0), ("n_estimators", 2.5), ("n_estimators", True), ("n_estimators", None),
        ("loss", "hinge"), ("loss", None), ("loss", "softmax"),
        ("learning_rate", 0), ("learning_rate", 1.5), ("learning_rate", np.nan),
        ("learning_rate", None),
        ("max_leaf_nodes", 1), ("max_leaf_nodes", 65536),
        ("max_leaf_nodes", 8.0), ("max_leaf_nodes", "many"),
        ("max_depth", 0), ("max_depth", 2.0), ("max_depth", "deep"), ("max_depth", True),
        ("min_samples_leaf", 0), ("min_samples_leaf", 0.1), ("min_samples_leaf", None),
        ("min_samples_leaf", 2**31),
        ("l2_regularization", -1e-9), ("l2_regularization", np.nan), ("l2_regularization", np.inf),
        ("l2_regularization", None),
        ("max_features", 0.0), ("max_features", 1.01), ("max_features", "sqrt"),
        ("max_features", None), ("max_features", True),
        ("subsample", 0.0), ("subsample", 1.5), ("subsample", None), ("subsample", -0.5),
        ("max_bins", 1), ("max_bins", 65536), ("max_bins", None), ("max_bins", 255.0),
        ("calibrate", 1), ("calibrate", None), ("calibrate", "yes"),
        ("class_weight", "equal"), ("class_weight", {0: -1.0}), ("class_weight", {0: np.nan}),
        ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", "all"),
        ("engine", "cuda"), ("engine", None), ("verbose", -1), ("verbose", "yes"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else value,
)  # fmt: skip
def test_a_setting_out_of_range_is_named_with_its_value(parameter, value, iris):
    with pytest.raises(ValueError, match=f"(?s){parameter}.* must .*[Gg]ot") as caught:
        MarginBoostClassifier(**{parameter: value}).fit(*iris)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [
        {"n_estimators": np.int64(3)}, {"learning_rate": 1}, {"learning_rate": np.float32(0.5)},
        {"max_leaf_nodes": np.int64(4)}, {"max_leaf_nodes": 65535}, {"max_leaf_nodes": None},
        {"max_depth": np.uint8(2)},
        {"max_depth": 10**12}, {"min_samples_leaf": np.int32(2)}, {"min_samples_leaf": 2**30},
        {"l2_regularization": 0}, {"l2_regularization": np.float64(3)}, {"max_features": 1},
        {"max_features": 1e-9}, {"subsample": 1}, {"subsample": np.float32(0.5)},
        {"subsample": 1e-9}, {"subsample": 1 - 2.0**-53}, {"max_bins": np.int32(2)},
        {"max_bins": 65535}, {"calibrate": np.bool_(False)}, {"class_weight": {0: 2.0}},
        {"n_jobs": -1}, {"verbose": False}, {"random_state": np.random.RandomState(0)},
        {"random_state": None},
    ],
    ids=lambda setting: str(setting).split(" at ")[0],  # no address: it differs in every process
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:subsample=1e-09 lets a tree grow")
def test_numbers_of_any_type_within_range_are_taken(setting, iris):
    model = small(**({"n_estimators": 2} | setting))
    if setting == {"min_samples_leaf": 2**30}:
        with pytest.warns(UserWarning, match="large leaves"):
            model.fit(*iris)
        return
    model.fit(*iris)
    assert model.n_iter_ >= 2
    assert model.score(*iris) > 0.6


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_settings_bound_the_trees(noisy, engine):
    X, y = noisy
    model = small(3, max_leaf_nodes=6, min_samples_leaf=9, subsample=1.0, engine=engine).fit(X, y)
    ensemble = model.ensemble_
    assert (np.diff(ensemble.leaf_offsets) <= 6).all()
    assert ensemble.n_trees == 3
    shallow = small(3, max_depth=1, engine=engine).fit(X, y)
    assert (np.diff(shallow.ensemble_.leaf_offsets) == 2).all()


def test_max_bins_limits_the_thresholds(noisy):
    model = small(20, max_bins=4).fit(*noisy)
    for f in range(4):
        assert len(np.unique(model.ensemble_.threshold[model.ensemble_.feature == f])) <= 3


def test_learning_rate_shortens_the_first_step(noisy):
    full = small(1, learning_rate=1.0, calibrate=False).fit(*noisy)
    quarter = small(1, learning_rate=0.25, calibrate=False).fit(*noisy)
    vectors = 0.25 * full.ensemble_.vectors
    np.testing.assert_allclose(quarter.ensemble_.vectors, vectors, rtol=0, atol=2.0**-40)


@pytest.mark.parametrize(("name", "most"), [("iris", 0.1), ("wine", 0.08), ("digits", 0.05)])
@BOTH_LOSSES
def test_defaults(name, most, loss):
    X, y = embedded(name)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    settings = {} if name != "digits" else {"n_estimators": 60}
    model = MarginBoostClassifier(loss=loss, random_state=0, **settings).fit(X_train, y_train)
    assert 1 - model.score(X_test, y_test) <= most
    p = model.predict_proba(X_test)
    F = model.decision_function(X_test)
    np.testing.assert_allclose(p, softmax(model.probability_scale_ * F, axis=1))
    assert -np.log(p[np.arange(len(y_test)), y_test]).mean() < 0.3


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_few_different_rows(n_features, seed):
    """However few cells there are, samples of rows tell them apart."""
    X = np.random.default_rng(seed).integers(0, 2, (400, n_features))
    model = MarginBoostClassifier(10, random_state=seed).fit(X, X[:, 0])
    assert model.n_iter_ == 10
    assert model.score(X, X[:, 0]) == 1


@BOTH_LOSSES
@pytest.mark.parametrize("max_leaf_nodes", [8, 127])
def test_long_steps_on_separable_data(loss, max_leaf_nodes):
    X, y = embedded("digits")
    settings = {"learning_rate": 1.0, "calibrate": False, "max_leaf_nodes": max_leaf_nodes}
    model = small(30, loss=loss, l2_regularization=0.01, **settings).fit(X, y)
    assert model.score(X, y) > 0.99
    model = small(30, loss=loss, l2_regularization=0.0, **settings).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.97
