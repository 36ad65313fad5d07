"""Validation rows, and fits that end by what they say."""

import numpy as np
import pytest
from cuda_on_host import named_device
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from support import assert_same_ensemble, assert_same_model, embedded, noisy_problem

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
from marginboost.backends import choose

ALL = [
    MarginBoostClassifier(random_state=0),
    MarginBoostClassifier(random_state=0, loss="logistic", calibrate=False),
    MCBoostClassifier(),
    MCBoostClassifier(loss="logistic", max_depth=2, calibrate=False),
    MultiBoostClassifier(keep_path=True),
    SAMMEClassifier(max_depth=3),
    AdaBoostMHClassifier(),
    AdaBoostECCClassifier(random_state=0),
    AdaBoostMOClassifier(),
    AdaBoostSIPClassifier(),
    GradBoostClassifier(),
    JointBoostClassifier(),
]
EVERY = pytest.mark.parametrize("model", ALL, ids=str)
SCALES = 2.0 ** (np.arange(-14 * 32, 4 * 32 + 1) / 32)


@pytest.fixture(scope="module")
def noisy():
    X, y = noisy_problem(300, 4, 4, n_values=30)
    return X[:200], y[:200], X[200:], y[200:]


def log_losses(F, y):
    """Return the log loss of scores times each of the scales."""
    logs = log_softmax(SCALES[:, None, None] * F, axis=2)
    return -logs[:, np.arange(len(y)), y].mean(axis=1)


@EVERY
def test_curves_are_those_of_the_stages(noisy, model):
    X, y, X_val, y_val = noisy
    model = clone(model).set_params(n_estimators=8).fit(X, y, X_val=X_val, y_val=y_val)
    stages = list(model._staged_scores(np.asarray(X_val)))
    assert len(stages) == model.n_iter_ == len(model.validation_losses_)
    errors = [np.mean(model.classes_[F.argmax(axis=1)] != y_val) for F in stages]
    np.testing.assert_allclose(model.validation_errors_, errors, rtol=1e-15)
    for number in (0, model.n_iter_ // 2, model.n_iter_ - 1):
        losses = log_losses(stages[number], y_val)
        found = model.validation_losses_[number]
        assert min(losses) - 1e-3 < found < min(losses) + 1e-4
    assert model.validation_score_ == pytest.approx(model.score(X_val, y_val), rel=1e-15)


@EVERY
def test_validation_rows_move_no_round(noisy, model):
    """Without early stopping they are only looked at; the scale of probabilities is theirs."""
    X, y, X_val, y_val = noisy
    here = clone(model).set_params(n_estimators=6).fit(X, y)
    there = clone(model).set_params(n_estimators=6).fit(X, y, X_val=X_val, y_val=y_val)
    assert_same_ensemble(here.ensemble_, there.ensemble_)
    np.testing.assert_array_equal(here.train_errors_, there.train_errors_)
    np.testing.assert_array_equal(here.train_losses_, there.train_losses_)
    assert here.validation_errors_.shape == here.validation_losses_.shape == (0,)
    assert np.isnan(here.validation_score_)
    assert here.stop_reason_ == there.stop_reason_ == "max_rounds"
    assert (np.diff(there.fit_seconds_) > 0).all()


@EVERY
def test_early_stopping_keeps_the_best_rounds(noisy, model):
    X, y, X_val, y_val = noisy
    model = clone(model).set_params(n_estimators=60, early_stopping=True, n_iter_no_change=4)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    done = len(model.validation_losses_)
    assert model.n_iter_ == np.argmin(model.validation_losses_) + 1
    assert len(model.train_errors_) == len(model.fit_seconds_) == done
    if model.stop_reason_ == "early_stopping":
        assert model.n_iter_ < done < 60
        assert done - model.n_iter_ <= 4 or not isinstance(model, MultiBoostClassifier)
    plain = clone(model).set_params(n_estimators=model.n_iter_, early_stopping=False).fit(X, y)
    assert_same_ensemble(model.ensemble_, plain.ensemble_)
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)
    for name in ("coef_", "votes_", "code_", "optimality_errors_"):
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(model, name), getattr(plain, name))
    assert model.validation_score_ == pytest.approx(model.score(X_val, y_val), rel=1e-15)


def test_a_fit_that_ends_in_time_is_a_good_one():
    X, y = embedded("digits")
    model = MarginBoostClassifier(
        1000, early_stopping=True, validation_fraction=0.2, random_state=0
    )
    model.fit(X[:1200], y[:1200])
    assert model.stop_reason_ == "early_stopping"
    assert 10 < model.n_iter_ < 300
    assert model.score(X[1200:], y[1200:]) > 0.9


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_the_scale_is_the_best_for_the_validation_rows(noisy, make, calibrate):
    X, y, X_val, y_val = noisy
    model = make(8, calibrate=calibrate).fit(X, y, X_val=X_val, y_val=y_val)
    if not calibrate:
        assert model.probability_scale_ == 2.0
        return
    probabilities = model.predict_proba(X_val)
    assert log_loss(y_val, probabilities) == pytest.approx(model.validation_losses_[-1], rel=1e-4)
    F = model.decision_function(X_val)
    best = SCALES[np.argmin(log_losses(F, y_val))]
    assert abs(np.log2(model.probability_scale_ / best)) <= 1.001 / 32


@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_frames_with_categories_and_gaps(make):
    pd = pytest.importorskip("pandas")
    X, y = noisy_problem(300, 3, 3, n_values=9)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.where(rng.random(X.shape) < 0.2, np.nan, X), columns=["a", "b", "c"])
    frame["text"] = np.where(
        rng.random(300) < 0.2, None, np.array(["x", "y", "z"], dtype=object)[y]
    )
    given = frame.iloc[200:].copy()
    given.iloc[0, 3] = "never seen"
    settings = {"random_state": 0} if make is MarginBoostClassifier else {}
    model = make(6, warm_start=True, **settings)
    model.fit(frame[:200], y[:200], X_val=given, y_val=y[200:])
    errors = [np.mean(found != y[200:]) for found in model.staged_predict(given)]
    np.testing.assert_allclose(model.validation_errors_, errors)
    with pytest.raises(ValueError, match="feature names"):
        make(3).fit(frame[:200], y[:200], X_val=given.rename(columns={"a": "z"}), y_val=y[200:])
    long = make(9, **settings).fit(frame[:200], y[:200], X_val=given, y_val=y[200:])
    again = model.set_params(n_estimators=9).fit(frame[:200], y[:200], X_val=given, y_val=y[200:])
    assert_same_model(again, long)
    # Of its own rows: what stands for their values treats gaps and categories as they do.
    apart = make(9, early_stopping=True, n_iter_no_change=9, **settings)
    if make is MarginBoostClassifier:
        apart.set_params(random_state=1)  # more than one round is kept
    apart.fit(frame, y)
    errors = np.array([np.sum(found != y) for found in apart.staged_predict(frame)])
    n_apart = round(300 * 0.1) - 3  # up to one less a class
    shown = apart.train_errors_[: apart.n_iter_] * 270
    assert (np.abs(errors - shown - apart.validation_errors_[: apart.n_iter_] * n_apart) < 8).all()


# --- rows that the fit sets apart -----------------------------------------------------------------


@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_the_split_goes_by_what_is_in_the_rows(make):
    X, y = noisy_problem(300, 3, 3, n_values=7)
    settings = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 3}
    # MCBoost's rounds add nothing here: calibrated, it would settle for the class frequencies.
    settings |= {"random_state": 0} if make is MarginBoostClassifier else {"calibrate": False}
    model = make(20, n_jobs=1, **settings).fit(X, y)
    order = np.random.default_rng(0).permutation(300)
    for other in (
        make(20, n_jobs=3, **settings).fit(X[order], y[order]),
        make(20, engine="reference", **settings).fit(X, y),
    ):
        assert_same_model(other, model)
        np.testing.assert_array_equal(other.validation_losses_, model.validation_losses_)
    times = np.random.default_rng(1).integers(1, 4, 300)
    repeated = make(20, **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = make(20, **settings).fit(X, y, times)
    assert_same_model(weighted, repeated)
    np.testing.assert_allclose(weighted.validation_losses_, repeated.validation_losses_)


def test_the_split_of_sparse_rows():
    X, y = noisy_problem(300, 4, 3, n_values=9)
    X = np.where(X > 4, X, 0.0)
    settings = {"early_stopping": True, "random_state": 0, "n_iter_no_change": 3}
    model = MarginBoostClassifier(15, **settings).fit(X, y)
    other = MarginBoostClassifier(15, **settings).fit(sparse.csr_array(X), y)
    assert_same_model(other, model)
    np.testing.assert_array_equal(other.validation_losses_, model.validation_losses_)


def test_rows_that_are_set_apart_are_not_learned_from():
    X, y = noisy_problem(400, 3, 2)
    model = MCBoostClassifier(30, early_stopping=True, n_iter_no_change=30).fit(X, y)
    # Noise is learned by heart, but not that of rows that were not seen.
    errors = np.array([np.mean(found != y) for found in model.staged_predict(X)])
    shown = (errors * 400 - model.validation_errors_[: model.n_iter_] * 40) / 360
    np.testing.assert_allclose(shown, model.train_errors_[: model.n_iter_], atol=0.02)


@pytest.mark.parametrize("device", ["emulated", "cuda"])
@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_on_a_gpu(monkeypatch, device, make):
    there = named_device(device)
    monkeypatch.setattr(choose, "cuda_device", lambda: there)
    X, y = noisy_problem(200, 4, 3, n_values=20)
    model = make(6, early_stopping=True, n_iter_no_change=3)
    if make is MarginBoostClassifier:
        model.set_params(random_state=0)
    here = clone(model).fit(X, y)
    found = clone(model).set_params(device="cuda").fit(X, y)
    assert_same_model(found, here)
    np.testing.assert_array_equal(found.validation_losses_, here.validation_losses_)


@pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")
@pytest.mark.parametrize("make", [MarginBoostClassifier, MCBoostClassifier])
def test_on_a_cluster(client, make):
    da = pytest.importorskip("dask.array")
    X, y = noisy_problem(400, 4, 3, n_values=20)
    model = make(6, early_stopping=True, n_iter_no_change=3)
    if make is MarginBoostClassifier:
        model.set_params(random_state=0, max_leaf_nodes=6)  # each split is a message
    rows = da.from_array(X, chunks=((150, 0, 250), 4)), da.from_array(y, chunks=((150, 0, 250),))
    here, there = clone(model).fit(X, y), clone(model).fit(*rows)
    assert_same_model(there, here)
    np.testing.assert_array_equal(there.validation_losses_, here.validation_losses_)
    given = clone(model).fit(*rows, X_val=da.from_array(X[:100], chunks=(30, 2)), y_val=y[:100])
    assert_same_ensemble(
        given.ensemble_, clone(model).fit(*rows, X_val=X[:100], y_val=y[:100]).ensemble_
    )


# --- what is given --------------------------------------------------------------------------------


def test_a_class_that_was_not_trained_is_an_error(noisy):
    X, y, X_val, y_val = noisy
    texts = np.array(["a", "b", "c", "d"])
    other = np.where(np.arange(100) % 4 == 0, "z", texts[y_val])
    message = r"25 row\(s\) of 1 class\(es\) that y lacks \('z'\): they"
    with pytest.warns(UserWarning, match=message) as told:
        model = MCBoostClassifier(5).fit(X, texts[y], X_val=X_val, y_val=other)
    assert len(told) == 1
    assert told[0].filename == __file__
    np.testing.assert_allclose(
        model.validation_errors_, [np.mean(found != other) for found in model.staged_predict(X_val)]
    )
    known = other != "z"
    seen = MCBoostClassifier(5).fit(X, texts[y], X_val=X_val[known], y_val=other[known])
    np.testing.assert_array_equal(model.validation_losses_, seen.validation_losses_)


@EVERY
def test_weights_of_validation_rows(noisy, model):
    X, y, X_val, y_val = noisy
    times = np.random.default_rng(0).integers(0, 4, len(y_val))
    rows = {"X_val": X_val, "y_val": y_val}
    model = clone(model).set_params(n_estimators=6)
    weighted = clone(model).fit(X, y, **rows, sample_weight_val=times)
    repeated = clone(model).fit(
        X, y, X_val=np.repeat(X_val, times, axis=0), y_val=np.repeat(y_val, times)
    )
    assert_same_model(weighted, repeated)
    np.testing.assert_allclose(weighted.validation_errors_, repeated.validation_errors_)
    np.testing.assert_allclose(weighted.validation_losses_, repeated.validation_losses_)
    assert weighted.validation_score_ == pytest.approx(weighted.score(X_val, y_val, times))
    huge = clone(model).fit(X, y, **rows, sample_weight_val=times * 2.0**1000)
    np.testing.assert_array_equal(huge.validation_losses_, weighted.validation_losses_)


def test_weights_of_validation_rows_that_are_sparse_or_unseen(noisy):
    X, y, X_val, y_val = noisy
    weight = np.random.default_rng(0).random(len(y_val)) * (y_val != 3)
    for make in (sparse.csr_array, sparse.csc_array):
        model = MarginBoostClassifier(4, random_state=0)
        model.fit(make(X), y, X_val=make(X_val), y_val=y_val, sample_weight_val=weight)
        dense = MarginBoostClassifier(4, random_state=0)
        dense.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
        np.testing.assert_array_equal(model.validation_losses_, dense.validation_losses_)
    # Rows of a class that was not trained are errors by their weight, none where that is zero.
    known = y != 3
    model = MCBoostClassifier(4).fit(
        X[known], y[known], X_val=X_val, y_val=y_val, sample_weight_val=weight
    )
    errors = [np.average(found != y_val, weights=weight) for found in model.staged_predict(X_val)]
    np.testing.assert_allclose(model.validation_errors_, errors)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"X_val": np.ones((3, 4))}, "given together; got X_val without y_val"),
        ({"sample_weight_val": [1.0]}, "must come with X_val and y_val"),
        (
            {"X_val": np.ones((3, 4)), "y_val": [0, 1, 2], "sample_weight_val": [1.0]},
            r"sample_weight_val must have one number per row, 3; got shape \(1,\)",
        ),
        (
            {"X_val": np.ones((3, 4)), "y_val": [0, 1, 2], "sample_weight_val": [1.0, -1.0, 2.0]},
            "sample_weight_val must hold finite numbers, 0 or more",
        ),
        (
            {"X_val": np.ones((3, 4)), "y_val": [0, 1, 2], "sample_weight_val": np.zeros(3)},
            "sample_weight_val must be positive for some row",
        ),
        ({"y_val": [0]}, "given together; got y_val without X_val"),
        ({"X_val": np.ones((3, 4)), "y_val": [0, 1]}, "same number of rows; got 3 and 2"),
        (
            {"X_val": np.ones((3, 4)), "y_val": ["0", "1", "2"]},
            "of the kind of y, numbers; got text",
        ),
        ({"X_val": np.ones((3, 4)), "y_val": [7, 8, 9]}, "some class of y"),
        ({"X_val": np.ones((3, 5)), "y_val": [0, 1, 2]}, "5 features"),
    ],
)
@pytest.mark.filterwarnings("ignore:y_val has")
def test_what_validation_rows_must_be(noisy, more, message):
    with pytest.raises(ValueError, match=message):
        MCBoostClassifier(3).fit(*noisy[:2], **more)


def test_too_few_rows_to_set_apart():
    with pytest.raises(ValueError, match=r"enough rows to spare 0\.1 of them\. Set a larger valid"):
        MCBoostClassifier(3, early_stopping=True).fit(np.arange(8.0)[:, None], [0, 1] * 4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("early_stopping", "auto"), ("validation_fraction", 0.0), ("validation_fraction", 1.0),
        ("n_iter_no_change", 0), ("tol", -1.0), ("max_time", 0.0), ("warm_start", 1),
        ("callbacks", print), ("callbacks", [1]),
    ],
)  # fmt: skip
def test_what_parameters_must_be(noisy, name, value):
    for make in (MarginBoostClassifier, MCBoostClassifier):
        with pytest.raises(ValueError, match=f"{name} must be"):
            make(**{name: value}).fit(*noisy[:2])
