"""A model that is read for predictions alone is the classifier's, and needs no scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV, MCBoostClassifier
from marginboost.estimators.prediction_model import KINDS, fields_of, read_for_prediction
from marginboost.estimators.saved_attributes import declared

X, y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[y]

MODELS = {
    "plain": MarginBoostClassifier(5, random_state=0),
    "costs": MarginBoostClassifier(
        5, cost_matrix={"setosa": {"virginica": 3}, "virginica": {"versicolor": 9}}, random_state=0
    ),
    "stumps": MCBoostClassifier(20),
    "tuned": MarginBoostClassifierCV(time_limit=0.1, random_state=0),
    "one thread": MarginBoostClassifier(5, n_jobs=1, random_state=0),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_fields_are_those_of_the_class(kind):
    assert list(fields_of(kind).items()) == list(declared(getattr(marginboost, kind)).items())


def test_all_classes_with_a_scale_are_known():
    scaled = {
        name
        for name in marginboost.__all__
        if name.endswith(("Classifier", "CV"))
        and "probability_scale_" in declared(getattr(marginboost, name))
    }
    assert scaled == set(KINDS)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_classifier(name, tmp_path):
    model = MODELS[name].fit(X, LABELS)
    model.save(tmp_path / "model.safetensors")
    light = read_for_prediction(tmp_path / "model.safetensors")
    numbers, probabilities = light.compiled(X)
    assert light.classes_[numbers].tolist() == model.predict(X).tolist()
    assert light.classes_[light.compiled.predict(X)].tolist() == model.predict(X).tolist()
    assert probabilities.tobytes() == model.predict_proba(X).tobytes()
    assert light.compiled.n_threads == model.compile().n_threads


def test_other_frequencies_are_kept(tmp_path):
    shares = {"setosa": 0.1, "versicolor": 0.1, "virginica": 0.8}
    model = MODELS["plain"].fit(X, LABELS).with_class_frequencies(shares)
    model.save(tmp_path / "model.safetensors")
    light = read_for_prediction(tmp_path / "model.safetensors")
    assert light.compiled.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_what_it_does_not_know_is_left_to_load(tmp_path):
    path = tmp_path / "model.safetensors"
    marginboost.SAMMEClassifier(3).fit(X, y).save(path)
    assert read_for_prediction(path) is None
    MODELS["plain"].fit(X, LABELS).save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)  # damaged
    assert read_for_prediction(path) is None
    path.write_bytes(b"")
    assert read_for_prediction(path) is None
    assert read_for_prediction(tmp_path / "nothing") is None


def test_scikit_learn_is_not_imported(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("typer")
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(town=pl.Series(LABELS))
    model = MarginBoostClassifier(5, random_state=0).fit(frame, LABELS)
    model.save(tmp_path / "model.safetensors")
    frame.write_csv(tmp_path / "new.csv")
    program = (
        "import sys\n"
        "from marginboost.cli.app import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "found = {name.split('.')[0] for name in sys.modules}\n"
        "assert 'polars' in found\n"
        "print(*sorted(found & {'sklearn', 'scipy', 'pandas', 'matplotlib'}))\n"
    )
    for options in ([], ["--proba"]):
        out = tmp_path / "labels.csv"
        command = [
            "predict",
            str(tmp_path / "model.safetensors"),
            str(tmp_path / "new.csv"),
            *options,
        ]
        told = subprocess.run(
            [sys.executable, "-c", program, *command, "--out", str(out)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
        assert told.stdout.strip() == ""
        found = pl.read_csv(out)
        assert found["prediction"].to_list() == model.predict(frame).tolist()
        if options:
            written = found.select(pl.selectors.starts_with("probability_")).to_numpy()
            assert (written == model.predict_proba(frame)).all()
