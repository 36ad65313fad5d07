"""Where no split is of use, a model predicts the class frequencies."""

import numpy as np
import pytest
from cuda_on_host import named_device
from every_method import EVERY_METHOD, MODELS
from sklearn.base import clone
from sklearn.metrics import log_loss
from support import assert_same_ensemble, assert_same_model, noisy_problem

import marginboost
from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends import choose
from marginboost.model.constant import has_offset, without_offset

Y = np.repeat([0, 1, 2], [2, 90, 8])
FREQUENCIES = [0.02, 0.9, 0.08]
USELESS = {
    "constant": np.full((100, 3), 2.5),
    "missing": np.full((100, 2), np.nan),
    "no help": np.tile([0.0, 1.0], 50)[:, None],
}


def fit(model, X, y, weight=None, **settings):
    with pytest.warns(UserWarning, match="predicts the class frequencies"):
        return clone(model).set_params(**settings).fit(X, y, weight)


@EVERY_METHOD
@pytest.mark.parametrize("kind", ["constant", "missing"])
def test_columns_that_cannot_be_split(name, kind, tmp_path):
    X = USELESS[kind]
    model = fit(MODELS[name], X, Y)
    assert (model.n_iter_, model.stop_reason_) == (1, "no_violated_constraint")
    np.testing.assert_allclose(model.predict_proba(X[:1]), [FREQUENCIES], rtol=1e-11)
    assert (model.predict(X) == 1).all()
    assert model.score(X, Y) == 0.9
    assert model.train_errors_ == pytest.approx([0.1])
    model.save(tmp_path / "model")
    assert_same_model(marginboost.load(tmp_path / "model"), model)
    compiled = model.compile()
    np.testing.assert_array_equal(compiled.predict_proba(X[0]), model.predict_proba(X[:1])[0])
    explanation = model.explain(X[:2])
    assert not explanation.contributions.any()
    np.testing.assert_array_equal(np.broadcast_to(explanation.base, (2, 3)), explanation.scores)


@EVERY_METHOD
def test_frequencies_are_those_of_the_weights(name):
    X, weight = USELESS["constant"], np.where(Y == 0, 1e300, 1e298)
    model = fit(MODELS[name], X, Y, weight)
    mass = np.array([200.0, 90.0, 8.0])
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], mass / mass.sum(), rtol=1e-9)
    assert (model.predict(X) == 0).all()
    model = fit(MODELS[name], X, Y, class_weight={0: 100.0})
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], mass / mass.sum(), rtol=1e-9)
    none_of_class_2 = fit(MODELS[name], X, Y, np.where(Y == 2, 0.0, 1.0))
    np.testing.assert_allclose(
        none_of_class_2.predict_proba(X[:1])[0], [2 / 92, 90 / 92, 0.0], atol=1e-9
    )


@EVERY_METHOD
def test_two_classes(name):
    X, y = USELESS["constant"], np.repeat(["no", "yes"], [30, 70])
    model = fit(MODELS[name], X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.3, 0.7]], rtol=1e-11)
    assert (model.predict(X) == "yes").all()


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("JointBoost", "SAMME")])
def test_a_column_that_says_nothing(name):
    settings = {"min_samples_leaf": 60} if "Margin" in name else {}
    model = fit(MODELS[name], USELESS["no help"], Y, **settings)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), [FREQUENCIES] * 2, rtol=1e-9)


@EVERY_METHOD
def test_staged_and_with_validation_rows(name):
    X = USELESS["constant"]
    settings = {"keep_path": True} if "Multi" in name else {}
    model = clone(MODELS[name]).set_params(**settings)
    with pytest.warns(UserWarning, match="predicts the class frequencies"):
        model.fit(X, Y, X_val=X[:50], y_val=Y[:50])
    np.testing.assert_allclose(model.predict_proba(X[:1]), [FREQUENCIES], rtol=1e-11)
    (staged,) = model.staged_decision_function(X)
    np.testing.assert_array_equal(staged, model.decision_function(X))
    assert model.validation_score_ == pytest.approx(0.96)
    assert len(model.validation_losses_) == 1


@EVERY_METHOD
def test_engines(name, monkeypatch):
    X = USELESS["constant"]
    here = fit(MODELS[name], X, Y)
    assert_same_model(fit(MODELS[name], X, Y, engine="reference"), here)
    if name in ("MultiBoost", "MultiBoost exponential", "SAMME", "MO"):
        return  # fitted on the host only
    device = named_device("emulated")
    monkeypatch.setattr(choose, "cuda_device", lambda: device)
    assert_same_model(fit(MODELS[name], X, Y, device="cuda"), here)


@pytest.mark.parametrize("name", ["MarginBoost", "MCBoost", "MH", "SIP", "MO", "JointBoost"])
def test_onnx(name):
    runtime = pytest.importorskip("onnxruntime")
    X = USELESS["constant"].astype(np.float32)
    model = fit(MODELS[name], X, Y)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    label, probabilities = session.run(["label", "probabilities"], {"X": X[:3]})
    assert (label == 1).all()
    np.testing.assert_allclose(probabilities, [FREQUENCIES] * 3, rtol=1e-5)


@pytest.mark.parametrize(
    "name", [name for name in MODELS if name != "SAMME" and "Multi" not in name]
)
def test_a_warm_start_begins_anew(name):
    X, y = noisy_problem(100, 3, 3)
    model = fit(MODELS[name], np.zeros((100, 3)), y, warm_start=True)
    assert_same_ensemble(model.fit(X, y).ensemble_, clone(MODELS[name]).fit(X, y).ensemble_)


def test_the_warning_says_which_it_is():
    X, y = noisy_problem(100, 3, 3)
    with pytest.warns(UserWarning, match="every column of X is constant"):
        MCBoostClassifier(2).fit(np.zeros((100, 3)), y)
    with pytest.warns(UserWarning, match="strong regularization"):
        MCBoostClassifier(2, regularization=1e3).fit(X, y)
    with pytest.warns(UserWarning, match="tiny learning_rate"):
        MarginBoostClassifier(2, learning_rate=1e-300).fit(X, y)


# --- beside rounds: calibration -------------------------------------------------------------------


def misleading(n_rows=400, seed=0):
    """Rare classes in rows that say nothing, and validation rows that say the opposite."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n_rows, p=[0.05, 0.85, 0.1])
    X = rng.normal(size=(n_rows, 3)) + 0.5 * np.eye(3)[y]
    X_val = rng.normal(size=(n_rows, 3)) - 0.5 * np.eye(3)[y]
    return X, y, X_val


def faint(n_rows=300, seed=0):
    """Rare classes, and rows that say little of them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n_rows, p=[0.05, 0.85, 0.1])
    return rng.normal(size=(n_rows, 3)) + 0.7 * np.eye(3)[y], y


CALIBRATED = pytest.mark.parametrize(
    "model",
    [MarginBoostClassifier(10, random_state=0), MCBoostClassifier(20)],
    ids=["MarginBoost", "MCBoost"],
)


@CALIBRATED
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore:On the rows that were held out:UserWarning")
def test_no_worse_than_the_frequencies_on_the_rows_of_the_calibration(model, seed):
    X, y, X_val = misleading(seed=seed)
    frequencies = np.bincount(y) / len(y)
    for labels in (y, y[::-1]):
        found = clone(model).fit(X, y, X_val=X_val, y_val=labels)
        floor = log_loss(labels, np.tile(frequencies, (len(y), 1)))
        assert log_loss(labels, found.predict_proba(X_val)) <= floor * (1 + 1e-9)
        best = found.predict_proba(X_val).argmax(axis=1)
        np.testing.assert_array_equal(found.predict(X_val), best)
        score = found.score(X_val, labels)
        assert found.validation_score_ == pytest.approx(score)


def offset_model(model):
    """A model that needed the frequencies beside its rounds."""
    for seed in range(40):
        X, y = faint(seed=seed)
        X_val, y_val = faint(seed=seed + 1000)
        found = clone(model).fit(X, y, X_val=X_val, y_val=y_val)
        if has_offset(found.ensemble_):
            return found, X, y, X_val, y_val
    raise AssertionError("no seed needs the frequencies")


@CALIBRATED
@pytest.mark.filterwarnings("ignore:On the rows that were held out:UserWarning")
def test_frequencies_beside_the_rounds(model, tmp_path):
    model = clone(model).set_params(n_estimators=3)
    found, X, y, X_val, y_val = offset_model(model)
    plain = clone(model).set_params(calibrate=False).fit(X, y)
    assert_same_ensemble(without_offset(found.ensemble_), plain.ensemble_)
    assert found.n_iter_ == plain.n_iter_ == 3
    assert found.ensemble_.n_trees == 4
    added = found.decision_function(X) - plain.decision_function(X)
    assert (added == added[0]).all()
    assert added[0].argmax() == 1  # the frequent class
    found.save(tmp_path / "model")
    again = marginboost.load(tmp_path / "model")
    assert_same_model(again, found)
    *_, last = found.staged_decision_function(X)
    np.testing.assert_array_equal(last, found.decision_function(X))
    np.testing.assert_array_equal(found.compile().predict_proba(X), found.predict_proba(X))
    explanation = found.explain(X[:5])
    total = explanation.base + explanation.contributions.sum(axis=1)
    np.testing.assert_array_equal(total, found.decision_function(X[:5]))
    for other in (found, again):
        longer = other.set_params(warm_start=True, n_estimators=6)
        longer.fit(X, y, X_val=X_val, y_val=y_val)
        straight = clone(model).set_params(n_estimators=6).fit(X, y, X_val=X_val, y_val=y_val)
        assert_same_model(longer, straight)


@pytest.mark.filterwarnings("ignore:On the rows that were held out:UserWarning")
def test_frequencies_from_a_second_fit_on_every_engine(monkeypatch):
    device = named_device("emulated")
    monkeypatch.setattr(choose, "cuda_device", lambda: device)
    kinds = set()
    for seed in range(12):
        X, y = faint(n_rows=200, seed=seed)
        model = MarginBoostClassifier(5, random_state=seed)
        here = clone(model).fit(X, y)
        kinds.add((has_offset(here.ensemble_), len(here.ensemble_.feature) > 0))
        shuffled = np.random.default_rng(seed).permutation(len(y))
        assert_same_model(clone(model).fit(X[shuffled], y[shuffled]), here)
        if seed < 4:
            assert_same_model(clone(model).set_params(engine="reference").fit(X, y), here)
            assert_same_model(clone(model).set_params(device="cuda").fit(X, y), here)
    assert (True, True) in kinds
