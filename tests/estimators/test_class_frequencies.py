"""`with_class_frequencies`: Bayes' rule, wherever the copy goes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV, MCBoostClassifier
from marginboost.model.frequency_shift import shift

NEW = {"a": 0.7, "b": 0.25, "c": 0.05}
SHARES = np.array(list(NEW.values()))


def problem(n_rows=500, seed=0):
    X, y = make_classification(
        n_rows,
        6,
        n_informative=4,
        n_classes=3,
        n_clusters_per_class=1,
        flip_y=0.2,
        random_state=seed,
    )
    return X, np.array(["a", "b", "c"])[y]


def shifted(model, X, shares=SHARES):
    """Return probabilities by the formula."""
    odds = model.predict_proba(X) * shares / model.training_frequencies_
    return odds / odds.sum(axis=1)[:, None]


@pytest.fixture(scope="module")
def fitted():
    X, y = problem()
    return MarginBoostClassifier(20, random_state=0).fit(X, y), X, y


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(20, random_state=0),
        MarginBoostClassifier(20, random_state=0, calibrate=False),
        MarginBoostClassifier(random_state=0, class_weight={"a": 3.0, "b": 1.0, "c": 1.0}),
        MCBoostClassifier(30),
        MarginBoostClassifierCV(0.2, cv=3, random_state=0),
    ],
    ids=["given", "uncalibrated", "chosen", "stumps", "cv"],
)
def test_probabilities_follow_bayes_rule(model, tmp_path):
    X, y = problem()
    model.fit(X, y)
    before = model.predict_proba(X)
    copy = model.with_class_frequencies(NEW)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    expected = shifted(model, X)
    np.testing.assert_allclose(copy.predict_proba(X), expected, rtol=0, atol=1e-11)
    assert copy.predict(X).tolist() == model.classes_[expected.argmax(axis=1)].tolist()
    assert (copy.predict(X) != model.predict(X)).any()
    np.testing.assert_allclose(copy.class_frequencies_, SHARES, rtol=1e-15)
    np.testing.assert_array_equal(copy.training_frequencies_, model.training_frequencies_)
    copy.save(tmp_path / "model")
    loaded = marginboost.load(tmp_path / "model")
    compiled = copy.compile()
    for other in (loaded, compiled):
        np.testing.assert_array_equal(other.predict_proba(X), copy.predict_proba(X))
        assert other.predict(X).tolist() == copy.predict(X).tolist()
    np.testing.assert_array_equal(loaded.class_frequencies_, copy.class_frequencies_)
    np.testing.assert_allclose(compiled.predict_proba(X[3]), expected[3], atol=1e-11)


def test_training_frequencies_are_those_of_the_weights():
    X, y = problem(300)
    weight = np.where(y == "a", 2.0, 0.5)
    model = MarginBoostClassifier(5, random_state=0)
    counts = np.unique(y, return_counts=True)[1] / 300
    np.testing.assert_allclose(model.fit(X, y).training_frequencies_, counts, rtol=1e-12)
    mass = counts * [2.0, 0.5, 0.5]
    found = model.fit(X, y, weight).training_frequencies_
    np.testing.assert_allclose(found, mass / mass.sum(), rtol=1e-9)
    model.set_params(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.training_frequencies_, np.full(3, 1 / 3), rtol=1e-9)
    np.testing.assert_array_equal(model.class_frequencies_, model.training_frequencies_)


def test_copies_of_copies_refer_to_training(fitted):
    model, X, _ = fitted
    twice = model.with_class_frequencies({"a": 0.2, "b": 0.0, "c": 0.8}).with_class_frequencies(NEW)
    np.testing.assert_allclose(twice.predict_proba(X), shifted(model, X), rtol=0, atol=1e-11)
    trained = dict(zip("abc", model.training_frequencies_.tolist(), strict=True))
    back = twice.with_class_frequencies(trained)
    np.testing.assert_allclose(back.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-11)


def test_counts_and_zeros(fitted):
    model, X, _ = fitted
    copy = model.with_class_frequencies({"a": 30, "b": 0, "c": 10})
    assert (copy.predict_proba(X)[:, 1] == 0.0).all()
    expected = shifted(model, X, np.array([0.75, 0.0, 0.25]))
    np.testing.assert_allclose(copy.predict_proba(X), expected, rtol=0, atol=1e-10)
    assert "b" not in copy.predict(X)
    for kind in ("marginal", "class"):
        sets = copy.predict_set(X, 0.95, kind)
        assert not sets[:, 1].any()
        assert sets.any(axis=1).all()


def test_a_tiny_scale_becomes_one(fitted):
    model, X, _ = fitted
    ensemble, scale = model.ensemble_, 2.0**-30
    change = np.array([0.0, -3.0, 2.0])
    found, one = shift(ensemble, scale, change)
    assert one == 1.0
    scores = ensemble.decision_function(X) * scale + change
    np.testing.assert_allclose(found.decision_function(X), scores, rtol=0, atol=1e-10)
    assert len(found.leaf_cover) == len(ensemble.leaf_cover) + 1
    small = shift(ensemble, 0.5, change)
    assert small[1] == 0.5
    again = shift(*small, -change)[0]
    np.testing.assert_array_equal(again.decision_function(X), ensemble.decision_function(X))
    assert len(again.vectors) == len(ensemble.vectors) + 1


def test_sets_cover_rows_of_the_new_frequencies():
    """Rows of the old frequencies, weighted by the ratio of the new ones to them."""
    found, sizes = [], []
    for seed in range(4):
        X, y = problem(5000, seed)
        model = MarginBoostClassifier(20, random_state=0).fit(X[:2000], y[:2000])
        copy = model.with_class_frequencies(NEW)
        numbers = np.searchsorted(model.classes_, y[2000:])
        weight = (SHARES / model.training_frequencies_)[numbers]
        sets, plain = (one.predict_set(X[2000:], 0.9) for one in (copy, model))
        held = sets[np.arange(3000), numbers]
        found.append(np.average(held, weights=weight))
        sizes.append([np.average(one.sum(axis=1), weights=weight) for one in (sets, plain)])
    assert abs(np.mean(found) - 0.9) < 0.025
    assert np.less(*np.transpose(sizes)).all()


def test_contributions_still_add_up(fitted):
    model, X, _ = fitted
    copy = model.with_class_frequencies(NEW)
    found, before = copy.explain(X[:20]), model.explain(X[:20])
    scores = copy.ensemble_.decision_function(copy.encoding_.apply(X[:20]))
    total = found.contributions.sum(axis=1) + found.base
    np.testing.assert_allclose(total, scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.contributions, before.contributions, rtol=0, atol=1e-9)


def test_onnx_follows(fitted):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model, X, _ = fitted
    copy = model.with_class_frequencies(NEW)
    session = runtime.InferenceSession(copy.to_onnx().SerializeToString())
    rows = X.astype(np.float32)
    label, shares = session.run(["label", "probabilities"], {"X": rows})
    np.testing.assert_allclose(shares, copy.predict_proba(rows), rtol=0, atol=1e-6)
    assert label.tolist() == copy.predict(rows).tolist()


def test_a_copy_is_fitted_anew_or_not_at_all(fitted):
    model, X, y = fitted
    copy = model.with_class_frequencies(NEW)
    copy.set_params(warm_start=True, n_estimators=30)
    with pytest.raises(
        ValueError, match="warm_start must resume a model at the class frequencies of"
    ):
        copy.fit(X, y)
    copy.set_params(warm_start=False, n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ([0.5, 0.25, 0.25], "must be a dictionary from label to frequency; got list"),
        ({"a": 0.5, "b": 0.5}, "every class of training and no other; it lacks 'c'"),
        ({**NEW, "d": 0.1}, "it has, but training had not, 'd'"),
        ({**NEW, "c": -0.1}, "finite numbers of at least 0, and not all 0; got"),
        ({**NEW, "c": np.inf}, "finite numbers of at least 0"),
        ({**NEW, "c": "many"}, "finite numbers of at least 0"),
        ({"a": 0, "b": 0, "c": 0}, "not all 0"),
    ],
)
def test_frequencies_are_checked(fitted, frequencies, message):
    with pytest.raises(ValueError, match=message):
        fitted[0].with_class_frequencies(frequencies)


def test_a_class_without_weight_has_no_frequency():
    X, y = problem(300)
    model = MarginBoostClassifier(5, random_state=0, class_weight={"a": 1.0, "b": 1.0, "c": 0.0})
    model.fit(X, y)
    with pytest.raises(
        ValueError, match="must be 0 where the training rows of a class have no weight"
    ):
        model.with_class_frequencies(NEW)
    copy = model.with_class_frequencies({"a": 0.5, "b": 0.5, "c": 0})
    assert np.isfinite(copy.predict_proba(X)).all()
