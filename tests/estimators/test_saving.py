"""Every classifier comes back from its file, from pickle and from a copy as it was."""

import copy
import io
import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from saved_models import (
    FORMATS,
    KEPT,
    MODELS,
    fit_encoded,
    frame_of,
    mixed_encoding,
    mixed_rows,
    scores_of,
)
from saving_support import again, assert_same_value
from sklearn.base import clone
from support import assert_same_ensemble, embedded

import marginboost
from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.saving import own_classes, to_bytes
from marginboost.model.file import unpack

ALL = pytest.mark.parametrize("name", MODELS)


def assert_same_classifier(one, other):
    """Every attribute, public or not: one that the file forgets fails here."""
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        assert_same_value(value, getattr(other, name), name)


@ALL
def test_everything_comes_back(name, fitted, tmp_path):
    model, X = fitted(name)
    path = tmp_path / "model.safetensors"
    model.save(path)
    assert path.read_bytes() == to_bytes(model)
    for found in (marginboost.load(path), type(model).load(str(path))):
        assert_same_classifier(found, model)
        np.testing.assert_array_equal(scores_of(found, X), scores_of(model, X))
    if model.encoding_.is_plain:
        np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(found.predict(X), model.predict(X))
        assert found.predict(X).dtype == model.predict(X).dtype


def test_every_class_is_there():
    names = {name for name in marginboost.__all__ if name.endswith("Classifier")}
    assert set(own_classes(BoostedClassifier)) == names
    assert {type(make()[0]).__name__ for make in MODELS.values()} == names


@ALL
def test_pickle_joblib_copy_and_clone(name, fitted):
    model, X = fitted(name)
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    for found in (pickle.loads(pickle.dumps(model)), joblib.load(stream), copy.deepcopy(model)):
        assert to_bytes(found) == to_bytes(model)
        np.testing.assert_array_equal(scores_of(found, X), scores_of(model, X))
    unfitted = clone(model)
    assert unfitted.get_params() == model.get_params()
    assert not hasattr(unfitted, "ensemble_")


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.safetensors")), ids=lambda path: path.stem)
def test_kept_files_predict_what_they_did(path):
    model = marginboost.load(path)
    with np.load(path.with_suffix(".npz")) as kept:
        scores = scores_of(model, kept["X"])
        np.testing.assert_array_equal(scores, kept["scores"])
        # Exponentials may differ in the last digit between machines.
        np.testing.assert_allclose(model._probabilities(scores), kept["probabilities"], rtol=1e-12)
        if "decided" in kept:
            assert np.array_equal(model._decide(scores), kept["decided"])


def test_a_file_has_the_earliest_format_that_has_its_fields(fitted):
    for name in MODELS:
        document, _ = unpack(to_bytes(fitted(name)[0]))
        assert document["format"] == FORMATS.get(name, 1)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "c\u00e9\U0001f600"]),
        np.array(["b", "a", ""]),
        np.array(["one", "two", "three"], dtype="U20"),
        np.array(["one", "two", "three"], dtype=">U6"),
        np.array(["one", "two", "three"], dtype=object),
        np.array([5, -7, 2**40]),
        np.array([0, 200, 7], dtype=np.uint8),
        np.array([2**64 - 1, 1, 2], dtype=np.uint64),
        np.array([1, -2, 3], dtype=">i2"),
        np.array([0.0, -3.0, 7.0], dtype=np.float32),
        np.array([True, False, True]),
    ],
    ids=lambda labels: labels.dtype.str + "".join(map(str, labels))[:2],
)
def test_labels_keep_their_type(labels):
    X, y = embedded("iris")
    model = MCBoostClassifier(2).fit(X, labels[y])
    found = again(model)
    assert_same_classifier(found, model)
    assert found.classes_.dtype.str == model.classes_.dtype.str


def test_labels_of_pandas_and_names():
    X, y = embedded("iris")
    frame = pd.DataFrame(X, columns=["a", "b", "\u00fc", "d"])
    model = MCBoostClassifier(2).fit(frame, pd.Series(np.array(["x", "y", "z"])[y]))
    found = again(model)
    assert_same_classifier(found, model)
    assert found.score(frame, np.array(["x", "y", "z"])[y]) > 0.6


def test_a_model_of_a_frame_knows_its_columns(fitted, tmp_path):
    model, X = fitted("frame")
    model.save(tmp_path / "model")
    found = marginboost.load(tmp_path / "model")
    frame = frame_of(X, model.encoding_.categories)
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(scores, scores_of(model, X))
    np.testing.assert_array_equal(found.decision_function(frame[frame.columns[::-1]]), scores)
    np.testing.assert_array_equal(found.compile().predict_proba(frame), model.predict_proba(frame))
    with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
        found.predict(frame.drop(columns="colour"))
    assert found.categorical_features == ["colour", "code"]
    assert found.encoding_.categories[1] == model.encoding_.categories[1]


def test_labels_that_cannot_be_saved():
    model = MCBoostClassifier(1).fit(*embedded("iris"))
    model.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(ValueError, match="labels must be text, booleans, or numbers"):
        to_bytes(model)


def test_parameters_are_kept():
    X, y = embedded("iris")
    weights = {0: 1.0, 1: 0.1 + 0.2, 2: np.float32(2)}
    settings = {
        "class_weight": weights,
        "random_state": np.int64(7),
        "n_jobs": -1,
        "verbose": False,
    }
    model = MarginBoostClassifier(2, **settings).fit(X, y)
    found = again(model)
    assert found.get_params() == model.get_params()
    assert type(found.random_state) is int
    assert [type(key) for key in found.class_weight] == [int] * 3
    assert_same_ensemble(found.fit(X, y).ensemble_, model.ensemble_)


def test_a_generator_is_not_kept():
    model = MarginBoostClassifier(2, random_state=np.random.RandomState(0)).fit(*embedded("iris"))
    assert again(model).random_state is None
    assert isinstance(model.random_state, np.random.RandomState)


def test_what_cannot_be_saved(tmp_path):
    X, y = embedded("iris")
    with pytest.raises(ValueError, match="not fitted"):
        MCBoostClassifier().save(tmp_path / "model")

    class Own(MCBoostClassifier):
        pass

    with pytest.raises(ValueError, match="one of marginboost's own classes, got Own"):
        Own(2).fit(X, y).save(tmp_path / "model")
    model = MCBoostClassifier(2).fit(X, y)
    again(model)  # though something derives from its class
    model.class_weight = print
    with pytest.raises(ValueError, match=r"class_weight cannot be saved\. A saved parameter"):
        model.save(tmp_path / "model")
    del model.class_weight, model.stop_reason_
    model.class_weight = None
    with pytest.raises(ValueError, match="must have stop_reason_, got one without"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# --- wrong content, with a right checksum ---------------------------------------------------------


def test_floats_of_parameters_are_exact_in_the_text(fitted):
    model = MCBoostClassifier(2, learning_rate=0.1 + 0.2).fit(*embedded("iris"))
    document, _ = unpack(to_bytes(model))
    assert json.loads(json.dumps(document))["parameters"]["learning_rate"] == 0.1 + 0.2


def test_the_mixed_model_has_learned(fitted):
    """So that its kept file is worth keeping: missing values and categories decide."""
    X, y = mixed_rows()
    model, _ = fitted("mixed")
    assert (scores_of(model, X).argmax(axis=1) == y).mean() > 0.8
    assert set(np.unique(model.ensemble_.feature)) >= {1, 5}
    assert fit_encoded(clone(model), X, y, mixed_encoding()).n_features_in_ == 4
