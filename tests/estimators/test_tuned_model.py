"""A model of the tuner does what every model does: files, explanations, ONNX, reports."""

import pickle
from copy import copy

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import KFold
from tuner_support import SETTINGS, mixed_frame, tuner

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV
from marginboost.estimators import marginboost_cv as module
from marginboost.evaluation.choice import describe_choice
from marginboost.report import write_report


@pytest.fixture(autouse=True)
def few_settings(monkeypatch):
    monkeypatch.setattr(module, "portfolio", lambda *_: SETTINGS)
    monkeypatch.setattr(module, "MOST_REFINED", 0)


@pytest.fixture(scope="module")
def fitted():
    """Return models of numbers, of two classes, and of a frame, each with its rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "portfolio", lambda *_: SETTINGS)
        frame, y = mixed_frame()
        X, numbers = load_iris(return_X_y=True)
        Z, two = load_breast_cancer(return_X_y=True)
        Z, two = Z[:150, :5], two[:150].astype(bool)
        return {
            "numbers": (tuner().fit(X, numbers), X),
            "two classes": (tuner().fit(Z, two), Z),
            "frame": (tuner().fit(frame, y), frame),
        }


EVERY = pytest.mark.parametrize("name", ["numbers", "two classes", "frame"])


@EVERY
def test_a_file_has_it_all(fitted, tmp_path, name):
    model, X = fitted[name]
    model.save(tmp_path / "model.safetensors")
    for load in (marginboost.load, MarginBoostClassifierCV.load):
        same = load(tmp_path / "model.safetensors")
        assert type(same) is MarginBoostClassifierCV
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        assert same.get_params() == model.get_params()
        assert same.chosen_ == model.chosen_
        assert (same.oof_error_, same.oof_loss_) == (model.oof_error_, model.oof_loss_)
        assert (same.n_iter_, same.stop_reason_) == (model.n_iter_, "completed")
        np.testing.assert_array_equal(same.class_count_, model.class_count_)
        np.testing.assert_array_equal(same.feature_importances_, model.feature_importances_)
    with pytest.raises(marginboost.ModelFileError, match="MarginBoostClassifier"):
        MarginBoostClassifier.load(tmp_path / "model.safetensors")


def test_a_file_keeps_no_splits(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = tuner(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    same = marginboost.load(tmp_path / "model.safetensors")
    assert same.cv == 5
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


@EVERY
def test_it_is_pickled_compiled_and_explained(fitted, name):
    model, X = fitted[name]
    scores = model._scores(X)
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(model.compile().predict_proba(X), model.predict_proba(X))
    explanation = model.explain(X)
    np.testing.assert_array_equal(explanation.scores, scores)
    total = explanation.base + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, scores, atol=1e-9)
    assert model.feature_importances_.shape == (model.n_features_in_,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.score(X, model.predict(X)) == 1.0


@EVERY
def test_onnx_gives_the_same_scores(fitted, name):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = fitted[name]
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    if name == "frame":
        X = X.assign(
            size=X["size"].astype("f4").astype("f8"), gaps=X["gaps"].astype("f4").astype("f8")
        )
        inputs = {}
        for wanted in session.get_inputs():
            values = X[wanted.name].astype(object)
            text = "string" in wanted.type
            filled = values.where(values.notna(), "" if text else np.nan)
            inputs[wanted.name] = np.array(filled.tolist(), dtype=object if text else "f4")[:, None]
    else:
        X = X.astype(np.float32)
        inputs = {"X": X}
    scores, labels = session.run(["scores", "label"], inputs)
    expected = model._scores(X.astype(np.float64) if name != "frame" else X)
    np.testing.assert_array_equal(scores, expected.astype(np.float32))
    np.testing.assert_array_equal(labels, model.predict(X))


@EVERY
def test_the_report_takes_it(fitted, tmp_path, name):
    model, X = fitted[name]
    write_report(model, tmp_path / "report.html", X, model.predict(X))
    assert "MarginBoostClassifierCV" in (tmp_path / "report.html").read_text("utf-8")


def test_the_command_line_inspects_it(fitted, tmp_path):
    inspection = pytest.importorskip("marginboost.cli.inspection")
    model, _ = fitted["frame"]
    path = tmp_path / "model.safetensors"
    model.save(path)
    facts = inspection.facts_of(marginboost.load(path), path)
    assert facts["classifier"] == "MarginBoostClassifierCV"
    assert facts["rounds"] == model.n_iter_
    assert facts["stop_reason"] == "completed"
    assert facts["chosen"]["parts"] == model.chosen_["parts"]
    assert "mean of 7 fits, 4 of all rows, of " in describe_choice(model)[0]


def test_files_of_before_do_not_say_how_many_fits_are_of_all_rows(fitted, tmp_path):
    model = copy(fitted["numbers"][0])
    parts = [
        {key: value for key, value in part.items() if key not in ("fits", "fits_of_all_rows")}
        for part in model.chosen_["parts"]
    ]
    model.chosen_ = {**model.chosen_, "parts": parts}
    model.save(tmp_path / "model.safetensors")
    same = marginboost.load(tmp_path / "model.safetensors")
    assert same.chosen_ == model.chosen_
    assert "mean of" not in describe_choice(same)[0]
