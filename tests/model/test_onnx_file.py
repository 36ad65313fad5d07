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
