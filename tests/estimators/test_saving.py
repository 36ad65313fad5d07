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
    with pytest.raises(ValueError, match="Labels must be text, booleans, or numbers"):
        to_bytes(model)


def test_parameters_are_kept():
    X, y = embedded("iris")
    weights = {0: 1.0, 1: 0.1 + 0.2, 2: np.float32(2)}
    settings = {"class_weight": weights, "random_state": np.int64(7), "n_jobs": -1, "verbose": False}
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
    with pytest.raises(ValueError, match=r"class_weight cannot be saved\. A parameter that is saved"):
        model.save(tmp_path / "model")
    del model.class_weight, model.stop_reason_
    model.class_weight = None
    with pytest.raises(ValueError, match="must have stop_reason_, got one without"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# --- wrong content, with a right checksum ---------------------------------------------------------


<<<<<<< HEAD
=======
def changed(model, change):
    """Return a file in which something is changed, with its checksum."""
    document, arrays = unpack(to_bytes(model))
    change(document, arrays)
    return pack(document, arrays)


def put(path, value):
    """Return a change of an entry of the document; a path that ends in "-" removes it."""

    def change(document, arrays):
        *way, last = path.split("/")
        for name in way:
            document = document[name]
        if value is None and last.endswith("-"):
            del document[last[:-1]]
        else:
            document[last] = value

    return change


def array(name, change):
    """Return a change of an array; None removes it."""

    def changed_array(document, arrays):
        if change is None:
            del arrays[name]
        else:
            arrays[name] = change(arrays[name].copy() if name in arrays else None)

    return changed_array


def entry(index, value):
    """Return a function that puts a value in an array."""

    def change(values):
        values[index] = value
        return values

    return change


WRONG = {
    "newer format": (put("format", 2), "format must be at most 1, got 2: update .* by marginboost '0"),
    "no format": (put("format-", None), "must say its format"),
    "true format": (put("format", True), "must say its format"),
    "old format": (put("format", 0), "of format 1 or later"),
    "unknown part": (put("extra", 1), "must have .*'class', 'fitted', 'format'"),
    "no class": (put("class-", None), "must have"),
    "class of no text": (put("class", ["MCBoostClassifier"]), "class must be of type str"),
    "unknown class": (put("class", "LogisticRegression"), "must hold one of AdaBoostECCClassifier"),
    "abstract class": (put("class", "TwoVotesClassifier"), "must hold one of"),
    "other class": (put("class", "AdaBoostMHClassifier"), r"got \['calibrate', 'l2_"),
    "unknown parameter": (put("parameters/shrinkage", 1), r"got \['shrinkage'\]\. It was written by"),
    "wrong parameter": (put("parameters/n_estimators", 0), "n_estimators must be an integer at least 1"),
    "wrong choice": (put("parameters/loss", []), "loss must be one of"),
    "parameters": (put("parameters", []), "parameters must be of type dict"),
    "no classes": (put("fitted/classes_-", None), "it must have classes_, got none"),
    "classes twice": (array("classes_", entry((1, 0), ord("a"))), "at least two labels, ascending"),
    "no character": (array("classes_", entry((1, 0), 1 << 21)), "must hold characters"),
    "long labels": (put("fitted/classes_", {"dtype": "<U999999999"}), "of the length in its dtype"),
    "mixed labels": (put("fitted/classes_", {"dtype": "object", "labels": ["a", 1]}), "list of text"),
    "other labels": (put("fitted/classes_", {"dtype": "object", "labels": ["a", "b", "c"]}), "unknown"),
    "label dtype": (put("fitted/classes_", {"dtype": "O"}), "a label type, got 'O'"),
    "label dtype 2": (put("fitted/classes_", {"dtype": "V8"}), "a label type, got 'V8'"),
    "label dtype 3": (put("fitted/classes_", {"dtype": [["a", "<i8"]]}), "a label type, got"),
    "two labels": (array("classes_", lambda a: a[:2]), "must have entries for 2 classes, got 3"),
    "scale": (put("fitted/probability_scale_", 0.0), "must be above 0, got 0"),
    "scale of text": (put("fitted/probability_scale_", "1"), "must be of type float, got '1'"),
    "unknown fitted": (put("fitted/coef_", 1), r"no unknown entries, got \['coef_'\]"),
    "unknown array": (array("extra", lambda _: np.zeros(1)), r"no unknown entries, got \['extra'\]"),
    "names": (put("fitted/feature_names_in_", ["a"]), "must have entries for 4 features, got 1"),
    "names of numbers": (put("fitted/feature_names_in_", [1, 2, 3, 4]), "must be a list of text"),
    "no threshold": (array("ensemble_.threshold", None), "must have an array ensemble_.threshold"),
    "nan threshold": (array("ensemble_.threshold", entry(0, np.nan)), "threshold must be finite"),
    "feature": (array("ensemble_.feature", entry(0, 6)), "feature must be at least 0 and below 6"),
    "cycle": (array("ensemble_.left", entry(1, 0)), "a child of node 1 of tree 0 must be a later one"),
    "vectors": (array("ensemble_.vectors", lambda a: a[:, :2]), "entries for 3 classes, got 2"),
    "no vectors": (
        array("ensemble_.vectors", lambda a: np.empty((0, 1 << 40))), "entries for 3 classes, got",
    ),
    "float32": (array("ensemble_.leaf_value", lambda a: a.astype("f4")), "array of float64 with 1"),
    "errors": (array("train_errors_", lambda a: a[:, None]), "must be an array of float64 with 1"),
    "importances": (array("feature_importances_", entry(0, -1)), "must hold numbers of at least 0"),
    "nan importances": (array("feature_importances_", entry(0, np.nan)), "must hold finite numbers"),
    "huge n_features": (put("fitted/encoding_/n_features", 1 << 60), "from 1 to its 6 columns"),
    "n_features": (put("fitted/encoding_/n_features", 3), r"source must be below 3"),
    "encoding": (put("fitted/encoding_/more", 3), "and categories alone"),
    "lost kind": (put("fitted/encoding_/lost", []), "text or numbers as lost categories"),
    "lost value": (put("fitted/encoding_/lost", {"1": 3}), "text or numbers as lost categories"),
    "lost column": (put("fitted/encoding_/lost", {"9": "a"}), "columns below 4, got '9'"),
    "lost and there": (put("fitted/encoding_/lost", {"1": "a"}), "no category left"),
    "source": (array("encoding_.source", lambda a: a[::-1]), "source must ascend"),
    "fill": (array("encoding_.fill", entry(0, np.nan)), "fill must hold a number"),
    "categories": (put("fitted/encoding_/categories", []), "categories by column"),
    "category column": (put("fitted/encoding_/categories/4", ["a"]), "columns below 4, got '4'"),
    "category column 2": (put("fitted/encoding_/categories/01", ["a"]), "columns below 4, got '01'"),
    "category twice": (put("fitted/encoding_/categories/3", [1.0, 1.0, 2.0]), "differ from each other"),
    "category kinds": (put("fitted/encoding_/categories/3", [1.0, "a", 2.0]), "all text or all"),
    "whole category": (put("fitted/encoding_/categories/3", [1, 2, 3]), "lists of text or numbers"),
    "fewer categories": (put("fitted/encoding_/categories/3", [1.0]), "positions must have 9 entries"),
    "positions": (array("encoding_.positions", entry(0, np.inf)), "positions must hold finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_content_is_refused(case, fitted, tmp_path):
    change, message = WRONG[case]
    path = tmp_path / "model"
    path.write_bytes(changed(fitted("mixed")[0], change))
    with pytest.raises(ModelFileError, match=message) as found:
        marginboost.load(path)
    assert str(found.value).startswith(f"{str(path)!r} is no model that can be loaded: ")
    assert len(str(found.value)) < 600


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ecc", array("ensemble_.vectors", entry((0, 0), 1e300)), r"code_ must hold -1 and \+1"),
        ("ecc", array("votes_", lambda a: a[1:]), "votes_ must have entries for 5 rounds, got 4"),
        ("ecc", array("votes_", lambda a: a.ravel()), "votes_ must be an array of float64 with 2"),
        ("path", array("coef_path_", lambda a: a[1:]), "coef_path_ must have entries for 10"),
        ("path", array("coef_path_", entry((0, 0), np.inf)), "coef_path_ must hold finite"),
        ("samme", array("classes_", entry(2, np.inf)), "classes_ must hold finite"),
        ("stumps", put("fitted/classes_/labels", ["a", "c", "b"]), "ascending"),
        ("stumps", put("fitted/classes_/labels-", None), "list of text"),
    ],
)
def test_wrong_content_of_others_is_refused(name, change, message, fitted):
    with pytest.raises(ModelFileError, match=message):
        from_bytes(BoostedClassifier, changed(fitted(name)[0], change))


def test_a_parameter_of_a_later_version_has_its_default_in_old_files(fitted):
    found = from_bytes(
        BoostedClassifier, changed(fitted("mixed")[0], put("parameters/max_bins-", None))
    )
    assert found.max_bins == MarginBoostClassifier().max_bins


def test_optional_attributes_may_be_missing(fitted):
    model = fitted("path")[0]
    found = from_bytes(BoostedClassifier, changed(model, array("coef_path_", None)))
    assert not hasattr(found, "coef_path_")
    assert declared(type(model))["coef_path_"].optional


>>>>>>> h_words
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
