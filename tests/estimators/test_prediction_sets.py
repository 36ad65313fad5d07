"""`predict_set`: on every engine the same, from rows that the fit did not see."""

import pickle

import numpy as np
import pytest
from saved_models import KEPT
from sklearn.datasets import load_iris, make_classification
from support import assert_same_model

import marginboost
from marginboost import (
    MarginBoostClassifier,
    MarginBoostClassifierCV,
    MCBoostClassifier,
    ModelFileError,
    SAMMEClassifier,
)
from marginboost.estimators.saving import from_bytes, to_bytes
from marginboost.evaluation.sets import set_coverage, set_sizes
from marginboost.model.file import pack, unpack
from marginboost.model.set_rule import KINDS

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


def problem(n_rows=600, n_classes=3, seed=0):
    return make_classification(
        n_rows, 8, n_informative=5, n_classes=n_classes, flip_y=0.2, random_state=seed
    )


@pytest.fixture(scope="module")
def fitted():
    X, y = problem()
    return MarginBoostClassifier(random_state=0).fit(X[:400], y[:400]), X, y


@ALL_KINDS
def test_sets_of_the_default_fit_have_about_their_coverage(kind):
    X, y = problem(6000)
    model = MarginBoostClassifier(random_state=0).fit(X[:1500], y[:1500])
    before = np.zeros((4500, 3), dtype=bool)
    for coverage in (0.8, 0.9, 0.95):
        sets = model.predict_set(X[1500:], coverage, kind)
        assert sets.dtype == bool
        assert sets.any(axis=1).all()
        assert (sets >= before).all()
        before = sets
        found, by_class = set_coverage(sets, y[1500:])
        assert abs(found - coverage) < 0.04  # of 600 held-out rows, about three standard errors
        if kind == "class":
            assert np.abs(by_class - coverage).max() < 0.08
        assert 1.0 <= set_sizes(sets).mean() < 3.0


@ALL_KINDS
def test_validation_rows_give_split_conformal_sets(kind):
    """With calibrate=False nothing but the sets depends on the validation rows: coverage is exact."""
    X, y = problem(1500)
    model = MarginBoostClassifier(20, calibrate=False, random_state=0)
    model.fit(X[:300], y[:300], X_val=X[300:699], y_val=y[300:699])
    shares, labels = model.predict_proba(X[300:699]), y[300:699]
    own = shares[np.arange(399), labels]
    if kind == "marginal":
        own[shares.argmax(axis=1) == labels] = np.inf
        least = np.full(3, np.sort(own)[::-1][360 - 1])
    else:
        counts = np.bincount(labels)
        ranked = [np.sort(own[labels == k])[::-1] for k in range(3)]
        least = np.array([ranked[k][int(np.ceil(0.9 * (counts[k] + 1))) - 1] for k in range(3)])
    new = model.predict_proba(X[700:])
    sets = model.predict_set(X[700:], 0.9, kind)
    exact = new >= least
    clear = (np.abs(new / least - 1.0) > 2e-3) & exact.any(axis=1)[
        :, None
    ]  # probabilities are rounded
    if kind == "marginal":
        exact[np.arange(len(new)), new.argmax(axis=1)] = True
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(sets[clear], exact[clear])


@pytest.mark.parametrize(
    ("n", "settings"), [(120, {}), (240, {"n_estimators": 8}), (240, {"early_stopping": True})]
)
def test_engines_threads_and_order_of_rows_give_the_same_sets(n, settings):
    X, y = problem(n)
    model = MarginBoostClassifier(random_state=0, n_jobs=2, **settings)
    expected = model.fit(X, y)
    sets = expected.predict_set(X, 0.8, "class")
    order = np.random.default_rng(1).permutation(n)
    for change in ({"engine": "reference"}, {"n_jobs": 1}, {}):
        other = MarginBoostClassifier(**{**model.get_params(), **change})
        other.fit(X[order], y[order])
        assert_same_model(other, expected)
        np.testing.assert_array_equal(other.predict_set(X, 0.8, "class"), sets)


def test_validation_rows_in_any_order_and_integer_weights():
    X, y = problem(400)
    weight = np.random.default_rng(0).integers(1, 4, 200).astype(float)
    again = np.repeat(np.arange(200), weight.astype(int))
    order = np.random.default_rng(1).permutation(len(again))
    model = MarginBoostClassifier(10, random_state=0)
    X_val, y_val = X[200:], y[200:]
    one = model.fit(X[:200], y[:200], X_val=X_val, y_val=y_val, sample_weight_val=weight)
    sets = [one.predict_set(X, 0.9, kind) for kind in KINDS]
    other = model.fit(X[:200], y[:200], X_val=X_val[again][order], y_val=y_val[again][order])
    for kind, expected in zip(KINDS, sets, strict=True):
        np.testing.assert_array_equal(other.predict_set(X, 0.9, kind), expected)


def test_integer_weights_of_training_rows_are_repeated_rows():
    X, y = problem(200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    again = np.repeat(np.arange(200), weight)
    model = MarginBoostClassifier(10, random_state=0)
    sets = model.fit(X, y, weight.astype(float)).predict_set(X, 0.85, "class")
    np.testing.assert_array_equal(model.fit(X[again], y[again]).predict_set(X, 0.85, "class"), sets)


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(8, random_state=0),
        MarginBoostClassifier(random_state=0, class_weight="balanced"),
        MarginBoostClassifierCV(0.2, cv=3, random_state=0),
    ],
    ids=["given", "chosen", "cv"],
)
def test_files_copies_and_compiled_models_make_the_same_sets(model, tmp_path):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    model.fit(X[::2], y[::2])
    model.save(tmp_path / "model")
    compiled = model.compile()
    for kind in KINDS:
        sets = model.predict_set(X, 0.8, kind)
        for other in (marginboost.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict_set(X, 0.8, kind), sets)
        for served in (compiled, pickle.loads(pickle.dumps(compiled))):
            np.testing.assert_array_equal(served.predict_set(X, 0.8, kind), sets)
            np.testing.assert_array_equal(served.predict_set(X[7], 0.8, kind), sets[7])


def test_the_stage_wise_method_has_sets_from_validation_rows():
    X, y = problem(600)
    model = MCBoostClassifier(20).fit(X[:300], y[:300], X_val=X[300:450], y_val=y[300:450])
    sets = model.predict_set(X[450:], 0.8)
    assert set_coverage(sets, y[450:])[0] > 0.7
    with pytest.raises(
        ValueError, match="needs rows that the fit held out, and this model has none"
    ):
        model.fit(X, y).predict_set(X)
    assert not hasattr(SAMMEClassifier(), "predict_set")


def test_no_rows_no_sets(fitted):
    _, X, y = fitted
    model = MarginBoostClassifier(5, random_state=0).fit(X, y)
    assert model.predict_set(X).shape == (600, 3)
    model.set_params(calibrate=False).fit(X, y)
    with pytest.raises(
        ValueError, match=r"predict_set needs rows that .* Fit it with calibrate=True"
    ):
        model.predict_set(X)
    with pytest.raises(ValueError, match="the compiled classifier had none"):
        model.compile().predict_set(X)


def test_old_files_load_and_say_what_they_lack():
    model = marginboost.load(KEPT / "format_1_vector_leaves.safetensors")
    X = np.zeros((2, model.n_features_in_))
    assert len(model.predict(X)) == 2
    with pytest.raises(ValueError, match="file of an earlier version must be fitted again"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="file of an earlier version, lacks them: fit it again"):
        model.with_class_frequencies(dict.fromkeys(model.classes_, 1.0))


def test_what_is_asked_for_is_checked(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="coverage must be a number above 0 and below 1; got 90"):
        model.predict_set(X, 90)
    with pytest.raises(ValueError, match="kind must be one of 'marginal', 'class'; got 'row'"):
        model.compile().predict_set(X, kind="row")


def test_few_held_out_rows_are_worth_a_warning(fitted):
    model, X, _ = fitted
    with pytest.warns(UserWarning, match="A coverage of 0.999 needs at least 999 held-out rows"):
        assert model.predict_set(X, 0.999).all()


def test_collections_of_rows(fitted):
    da = pytest.importorskip("dask.array")
    model, X, _ = fitted
    found = model.predict_set(da.from_array(X, chunks=(200, 8)), 0.9, "class")
    np.testing.assert_array_equal(found.compute(), model.predict_set(X, 0.9, "class"))


WRONG = {
    "class_rows": ("calibration_rows_.class_rows", lambda a: a + 1, "must add up to its rows"),
    "negative": (
        "calibration_rows_.class_rows",
        lambda a: a + np.array([1, -1 - a[1], a[1]]),
        "must add up to its rows",
    ),
    "none": ("calibration_rows_.steps", lambda a: a[:0], "must add up to its rows, at least one"),
    "classes": ("calibration_rows_.steps", lambda a: a[:, :2], "entries for 3 classes, got 2"),
    "weight": ("calibration_rows_.weight", lambda a: a * 0.0, "numbers above 0, at most 1"),
    "nan": ("calibration_rows_.weight", lambda a: a * np.nan, "numbers above 0, at most 1"),
    "weights": ("calibration_rows_.weight", lambda a: np.ones(2), "entries for .*, got 2"),
    "copies": ("calibration_rows_.copies", lambda a: a - a, "from 1 to 2\\*\\*40"),
    "frequencies": ("class_frequencies_", lambda a: a * 2.0, "must add up to 1, got 2"),
    "training": ("training_frequencies_", lambda a: -a, "at least 0, got less"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused(case, fitted):
    name, change, message = WRONG[case]
    document, arrays = unpack(to_bytes(fitted[0]))
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(ModelFileError, match=message):
        from_bytes(MarginBoostClassifier, pack(document, arrays))


def test_randomised_sets_follow_the_seed(fitted):
    model, X, _ = fitted
    one, same, other = (
        model.predict_set(X, 0.7, randomized=True, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    assert set_sizes(one).mean() < set_sizes(model.predict_set(X, 0.7)).mean()
    with pytest.raises(ValueError, match="randomized must be"):
        model.predict_set(X, randomized="yes")


def test_randomised_sets_of_a_collection_are_refused(fitted):
    array = pytest.importorskip("dask.array")
    model, X, _ = fitted
    with pytest.raises(ValueError, match="X must be in memory for randomised sets"):
        model.predict_set(array.from_array(X), randomized=True)
