"""Files of other classes, later versions and wrong content."""

import numpy as np
import pytest
from saved_models import MODELS
from saving_support import again, assert_same_value

import marginboost
from marginboost import MarginBoostClassifier, ModelFileError
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.saved_attributes import declared
from marginboost.estimators.saving import from_bytes, to_bytes
from marginboost.model.ensemble import Ensemble
from marginboost.model.file import pack, unpack


def test_a_file_of_another_class(fitted, tmp_path):
    fitted("stumps")[0].save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="must hold MarginBoostClassifier, got 'MCBoostClass"):
        MarginBoostClassifier.load(tmp_path / "model")


def test_an_ensemble_with_optional_parts(fitted):
    """Whatever arrays an ensemble has come back."""
    for make in MODELS:
        model = fitted(make)[0]
        fields = {f for f in Ensemble.__dataclass_fields__ if not f.startswith("_")}
        for name in fields:
            assert_same_value(
                getattr(again(model).ensemble_, name), getattr(model.ensemble_, name), name
            )


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
    "newer format": (put("format", 3), "format must be at most 2, got 3: update .* by marginboost '0"),
    "no format": (put("format-", None), "must say its format"),
    "true format": (put("format", True), "must say its format"),
    "old format": (put("format", 0), "of format 1 or later"),
    "unknown part": (put("extra", 1), "must have .*'class', 'fitted', 'format'"),
    "no class": (put("class-", None), "must have"),
    "class of no text": (put("class", ["MCBoostClassifier"]), "class must be of type str"),
    "unknown class": (put("class", "LogisticRegression"), "must hold one of AdaBoostECCClassifier"),
    "abstract class": (put("class", "TwoVotesClassifier"), "must hold one of"),
    "other class": (put("class", "AdaBoostMHClassifier"), r"got \['calibrate', "),
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
    "costs": (array("cost_matrix_", lambda _: np.ones((2, 2))), "entries for 3 classes, got 2"),
    "negative costs": (
        array("cost_matrix_", lambda _: np.eye(3) - 1.0), "must hold finite numbers of at least 0",
    ),
    "dear right answers": (
        array("cost_matrix_", lambda _: np.eye(3)), "least cost of each row on the diagonal",
    ),
    "places": (array("class_ranks_", lambda _: np.array([0, 1, 1])), "a different place for each"),
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
    "encoding": (put("fitted/encoding_/more", 3), "must have only n_features"),
    "lost kind": (put("fitted/encoding_/lost", []), "text or numbers as lost categories"),
    "lost value": (put("fitted/encoding_/lost", {"1": 3}), "text or numbers as lost categories"),
    "lost column": (put("fitted/encoding_/lost", {"9": "a"}), "columns below 4, got '9'"),
    "lost and there": (put("fitted/encoding_/lost", {"1": "a"}), "no category left"),
    "source": (array("encoding_.source", lambda a: a[::-1]), "source must ascend"),
    "fill": (array("encoding_.fill", entry(0, np.nan)), "fill must hold one number"),
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
