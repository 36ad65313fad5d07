"""ONNX models as files: versions, metadata and size."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import marginboost
from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.estimators.saving import to_bytes
from marginboost.model.onnx_file import packed, varints
from marginboost.model.onnx_trees import leaf_table


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return MarginBoostClassifier(50, random_state=0).fit(X, y), X.astype(np.float32)


def run(content, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return session.run(["scores", "probabilities", "label"], {"X": X})


def versions(made):
    return {entry.domain: entry.version for entry in made.opset_import}


@pytest.mark.parametrize("opset", [14, 17, 21])
def test_newer_operators_give_the_same(digits, opset):
    model, X = digits
    made = model.to_onnx(opset=opset)
    assert versions(made) == {"": opset, "ai.onnx.ml": 3}
    onnx.checker.check_model(made, full_check=True)
    expected = run(model.to_onnx().SerializeToString(), X)
    for one, other in zip(run(made.SerializeToString(), X), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_newest_operators(digits):
    made = digits[0].to_onnx(opset="newest")
    assert versions(made)[""] == onnx.defs.onnx_opset_version()
    assert made.ir_version == onnx.helper.find_min_ir_version_for(made.opset_import)
    onnx.checker.check_model(made, full_check=True)


def test_by_default_old_runtimes_read_it(digits):
    made = digits[0].to_onnx()
    assert (versions(made)[""], made.ir_version) == (13, 8)


@pytest.mark.parametrize("opset", [12, 10_000, True, "latest", 17.0])
def test_versions_that_cannot_be(digits, opset):
    with pytest.raises(ValueError, match=r'opset must be None, "newest" or an integer from 13 to'):
        digits[0].to_onnx(opset=opset)


def test_a_model_says_what_it_is():
    frame = pd.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20})
    model = MCBoostClassifier(3).fit(
        frame, np.array(["r\u00f4le", "other"])[(frame["a"] > 20).astype(int)]
    )
    made = model.to_onnx()
    assert (made.producer_name, made.producer_version) == ("marginboost", marginboost.__version__)
    found = {entry.key: entry.value for entry in made.metadata_props}
    assert found.pop("classifier") == "MCBoostClassifier"
    assert {name: json.loads(text) for name, text in found.items()} == {
        "classes": ["other", "r\u00f4le"],
        "columns": ["a", "b"],
    }


def test_labels_of_other_kinds():
    X = np.arange(20.0)[:, None]
    for y in (X[:, 0] > 9, np.where(X[:, 0] > 9, 7, -3), np.where(X[:, 0] > 9, 1.0, 2.0)):
        model = MCBoostClassifier(2).fit(X, y)
        found = {entry.key: entry.value for entry in model.to_onnx().metadata_props}
        assert json.loads(found["classes"]) == model.classes_.tolist()
        assert set(found) == {"classifier", "classes"}


def test_a_file_holds_the_same_in_less_room(digits, tmp_path):
    model, X = digits
    path = tmp_path / "digits.onnx"
    made = model.to_onnx(path)
    assert onnx.load(path) == made
    for one, other in zip(run(path.read_bytes(), X), run(made.SerializeToString(), X), strict=True):
        np.testing.assert_array_equal(one, other)
    ours = len(to_bytes(model))
    assert path.stat().st_size < 0.8 * made.ByteSize()
    assert path.stat().st_size < 1.2 * ours
    assert made.ByteSize() > 1.4 * ours


def test_integers_are_written_as_protocol_buffers_do():
    numbers = [0, 1, 127, 128, 300, 2**14 - 1, 2**14, 2**31, 2**62, 2**63 - 1, -1, -(2**63)]
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Op", ["x"], ["y"], domain="test", some=numbers, real=[0.5])],
            "g", [], [],
        )
    )  # fmt: skip
    assert onnx.load_from_string(packed(made)) == made
    assert varints(np.array([], dtype=np.int64)) == b""
    assert varints(np.array([300])) == b"\xac\x02"


@pytest.fixture(scope="module")
def many_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4)).astype(np.float32)
    return X, np.digitize(X[:, 0] + X[:, 1], np.linspace(-2, 2, 29))


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (MarginBoostClassifier(10, calibrate=False, random_state=0), 1.05),
        (
            MarginBoostClassifier(10, l2_regularization=0.5, min_samples_leaf=30, random_state=0),
            1.1,
        ),
        (MCBoostClassifier(15, max_depth=3), 1.3),
    ],
    ids=["leaves", "large leaves", "two vectors per tree"],
)
def test_many_classes_take_no_more_room_than_our_file(
    many_classes, model, most, tmp_path, monkeypatch
):
    X, y = many_classes
    model.fit(X, y)
    path = tmp_path / "many.onnx"
    made = model.to_onnx(path)
    onnx.checker.check_model(made, full_check=True)
    assert path.stat().st_size < most * len(to_bytes(model))
    assert "Scan" in {node.op_type for node in made.graph.node}
    found = run(path.read_bytes(), X)
    monkeypatch.setattr("marginboost.model.onnx_graph.leaf_table", lambda _: None)
    for one, other in zip(found, run(packed(model.to_onnx()), X), strict=True):
        assert one.tobytes() == other.tobytes()
    for n in (0, 1):
        assert run(path.read_bytes(), X[:n])[0].shape == (n, len(model.classes_))


@pytest.mark.parametrize("model", [MarginBoostClassifier(5, random_state=0), MCBoostClassifier(20)])
def test_few_classes_and_stumps_stay_in_the_trees(digits, many_classes, model):
    X, y = (
        many_classes
        if isinstance(model, MCBoostClassifier)
        else (digits[1], digits[0].predict(digits[1]))
    )
    made = model.fit(X, y).to_onnx()
    assert "Scan" not in {node.op_type for node in made.graph.node}


def test_a_table_that_is_too_large_is_none(many_classes, monkeypatch):
    model = MarginBoostClassifier(3, calibrate=False, random_state=0).fit(*many_classes)
    assert leaf_table(model.ensemble_) is not None
    for limit in ("_MOST_ROWS", "_MOST_IN_TABLE"):
        with monkeypatch.context() as patch:
            patch.setattr(f"marginboost.model.onnx_trees.{limit}", 10)
            assert leaf_table(model.ensemble_) is None
