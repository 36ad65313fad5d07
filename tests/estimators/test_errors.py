"""Bad input gets a ValueError that says what must hold and what was got."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from support import most_traced_bytes

from marginboost import MarginBoostClassifier, MCBoostClassifier

X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0),
        ("n_estimators", -3),
        ("n_estimators", 2.5),
        ("n_estimators", True),
        ("n_estimators", None),
        ("n_estimators", "10"),
        ("loss", "hinge"),
        ("loss", None),
        ("loss", 1),
        ("learning_rate", 0),
        ("learning_rate", -0.1),
        ("learning_rate", 1.5),
        ("learning_rate", np.nan),
        ("learning_rate", np.inf),
        ("learning_rate", "fast"),
        ("learning_rate", None),
        ("regularization", -1e-9),
        ("regularization", np.nan),
        ("regularization", None),
        ("max_step", 0),
        ("max_step", -1.0),
        ("max_step", np.inf),
        ("max_step", "small"),
        ("max_depth", 0),
        ("max_depth", 1.0),
        ("max_depth", None),
        ("max_bins", 1),
        ("max_bins", 65536),
        ("max_bins", 255.0),
        ("max_bins", "all"),
        ("min_weight_fraction_leaf", -0.1),
        ("min_weight_fraction_leaf", 0.6),
        ("min_weight_fraction_leaf", None),
        ("min_weight_fraction_leaf", "most"),
        ("class_weight", "equal"),
        ("class_weight", {0: -1.0, 1: 1.0, 2: 1.0}),
        ("class_weight", {0: np.nan, 1: 1.0, 2: 1.0}),
        ("class_weight", {0: np.inf}),
        ("class_weight", [1.0, 1.0, 1.0]),
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("n_jobs", -1.5),
        ("n_jobs", "all"),
        ("n_jobs", True),
        ("engine", "cuda"),
        ("engine", None),
        ("verbose", -1),
        ("verbose", None),
        ("verbose", "yes"),
        ("verbose", 0.5),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else value,
)
def test_a_setting_out_of_range_is_named_with_its_value(parameter, value):
    with pytest.raises(ValueError, match=f"(?s){parameter}.* must .*[Gg]ot") as caught:
        MCBoostClassifier(**{parameter: value}).fit(X, Y)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [
        {"n_estimators": np.int64(3)},
        {"learning_rate": 1},
        {"learning_rate": np.float32(0.5)},
        {"regularization": 0},
        {"max_step": np.float64(0.1)},
        {"max_bins": np.int32(2)},
        {"max_bins": 65535},
        {"max_depth": np.uint8(2)},
        {"class_weight": {0: 2.0}},
        {"n_jobs": -1},
        {"n_jobs": -2},
        {"n_jobs": np.int64(2)},
        {"verbose": False},
    ],
    ids=str,
)
def test_numbers_of_any_type_within_range_are_taken(setting):
    model = MCBoostClassifier(**({"n_estimators": 2} | setting)).fit(X, Y)
    assert model.n_iter_ >= 2


@pytest.mark.parametrize("make", [MCBoostClassifier, MarginBoostClassifier])
def test_rows_beyond_what_the_sums_resolve(make, monkeypatch):
    monkeypatch.setattr("marginboost.boosting.train.SHARP_ROWS", 29)
    with pytest.warns(
        UserWarning, match=r"30 rows\. Sums over rows are of 32 bits: with more than 29"
    ):
        make(2).fit(X, Y)


def test_nothing_is_checked_before_fit():
    assert MCBoostClassifier(n_estimators=-1, loss="none").get_params()["n_estimators"] == -1


def test_one_class():
    with pytest.raises(ValueError, match="at least two classes; got one class, 7"):
        MCBoostClassifier().fit(X, np.full(30, 7))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((30, 0)), "0 feature"),
        (np.zeros(30), "Expected 2D"),
        (X * 1j, "[Cc]omplex"),
        (
            np.full((30, 2), "a"),
            r"got text such as 'a' in column 0\. Pass categorical_features=\[0, 1\]",
        ),
        (X[:29], "inconsistent numbers of samples"),
    ],
    ids=["no rows", "no columns", "1d", "complex", "text", "short"],
)
def test_bad_features(bad, says):
    labels = Y[: len(bad)] if bad.shape[0] in (0, 30) else Y
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier().fit(bad, labels)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (np.linspace(0, 1, 30), "Unknown label type"),
        (np.where(np.arange(30) == 3, np.nan, Y), "NaN"),
        (np.zeros((30, 2)), "y should be a 1d array"),
        (None, "requires y to be passed"),
    ],
    ids=["real numbers", "nan", "2d", "none"],
)
def test_bad_labels(labels, says):
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier().fit(X, labels)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (np.where(np.arange(30) == 4, -0.5, 1.0), r"no negative number; got -0.5 at row 4"),
        (np.zeros(30), "at least two classes; got 0|at least one non-zero"),
        (np.where(Y == 1, 1.0, 0.0), "at least two classes; got 1"),
        (np.where(np.arange(30) == 4, np.nan, 1.0), "NaN"),
        (np.where(np.arange(30) == 4, np.inf, 1.0), "infinity"),
        (np.ones(29), r"sample_weight.*shape"),
        (np.ones((30, 2)), "1D array"),
    ],
    ids=["negative", "all zero", "one class", "nan", "inf", "short", "2d"],
)
def test_bad_weights(weight, says):
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier().fit(X, Y, sample_weight=weight)


def test_a_failed_fit_leaves_the_old_model():
    model = MCBoostClassifier(5).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="Complex"):
        model.fit(X * 1j, Y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "staged_predict"]
)
def test_prediction_checks_its_input(method):
    model = MCBoostClassifier(3)
    with pytest.raises(NotFittedError):
        list(getattr(model, method)(X))
    model.fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* expecting 3"):
        list(getattr(model, method)(X[:, :2]))
    with pytest.raises(ValueError, match="Complex"):
        list(getattr(model, method)(X * 1j))


def test_columns_in_another_order():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = MCBoostClassifier(3).fit(frame, Y)
    np.testing.assert_array_equal(model.predict(frame[["b", "a", "c"]]), model.predict(frame))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 1000)
    says = r"needs about .* MiB .*\(30 rows, 3 features, 3 classes\).* MiB is available"
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier().fit(X, Y)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("depth", [1, 2])
def test_a_class_a_row_is_refused_before_anything_large_is_made(depth):
    n = 200_000
    with (
        most_traced_bytes(200 * n),
        pytest.raises(ValueError, match=r"needs about [\d,]+\.\d GiB .*200,000 classes"),
    ):
        MCBoostClassifier(max_depth=depth).fit(np.arange(n)[:, None], np.arange(n))


def test_settings_are_checked_before_the_data():
    with pytest.raises(ValueError, match="learning_rate"):
        MCBoostClassifier(learning_rate=-1).fit(X * 1j, Y)


def test_an_unknown_setting_is_refused():
    with pytest.raises(TypeError, match="n_rounds"):
        MCBoostClassifier(n_rounds=3)


def test_threads_that_can_be_asked_for():
    says = (
        r"positive integer, a negative one \(-1 for every CPU, .*\), or None for every CPU; got 0\."
    )
    with pytest.raises(ValueError, match=says):
        MCBoostClassifier(n_jobs=0).fit(X, Y)
