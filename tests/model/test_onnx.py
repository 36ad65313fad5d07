"""ONNX models give the scores of the classifier, in the runtime that people use."""

import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
from saved_models import (
    MODELS,
    fit_encoded,
    frame_of,
    mixed_encoding,
    mixed_rows,
    scores_of,
)
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support import embedded, random_problem, shared

from marginboost import (
    AdaBoostMHClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
)
from marginboost.data.encoding import Encoding
from marginboost.model.ensemble import Ensemble
from marginboost.model.link import OneAgainstAll, Softmax
from marginboost.model.onnx_model import input_names, make_onnx

HUGE = np.finfo(np.float64).max


def session(model):
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(model, feeds):
    """Return scores, probabilities and labels."""
    outputs = ["scores", "probabilities", "label"]
    return session(model).run(outputs, feeds)


def feeds_of(encoding, names, X):
    """Return the columns of a matrix, in which categories are places, as an ONNX model takes them."""
    found = {}
    for column, (name, categories) in enumerate(zip(names, encoding.categories, strict=True)):
        values = X[:, [column]].astype(np.float32)
        if categories is not None:
            text = isinstance(categories[0], str)
            unknown = "never seen" if text else np.nan
            chosen = [unknown if np.isnan(v) else categories[int(v)] for v in values[:, 0]]
            with np.errstate(over="ignore"):
                values = np.array(chosen, dtype=object if text else np.float32)[:, None]
        found[name] = values
    return found


def assert_agrees(found, classes, scores, probabilities, decided=None):
    """Float32's precision: far within 1e-5 of the scale of the scores."""
    scale = np.abs(scores).max()
    np.testing.assert_allclose(found[0], scores, rtol=0, atol=2e-7 * scale)
    np.testing.assert_allclose(found[1], probabilities, rtol=0, atol=1e-6)
    decided = scores.argmax(axis=1) if decided is None else decided
    np.testing.assert_array_equal(found[2], classes[decided])


def assert_same(model, X):
    X = X.astype(np.float32)
    scores = scores_of(model, X.astype(np.float64))
    found = run(model.to_onnx(), {"X": X})
    probabilities = model._probabilities(scores)
    assert_agrees(found, model.classes_, scores, probabilities, model._decide(scores))


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"mixed", "frame"}))
def test_every_classifier(name):
    model, X = MODELS[name]()
    assert_same(model, X)


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(60, random_state=0),
        MCBoostClassifier(300),
        MCBoostClassifier(60, max_depth=3),
        AdaBoostMHClassifier(1000),
    ],
    ids=["vector leaves", "stumps", "trees", "one against all"],
)
def test_long_sums_on_digits(model):
    X, y = embedded("digits")
    assert_same(model.fit(X[:900], y[:900]), X)


@pytest.mark.parametrize("name", ["letter", "dna"])
def test_shared_data(name):
    X, y = shared(name, 2000)
    assert_same(MarginBoostClassifier(30, random_state=0, calibrate=False).fit(X, y), X)


def test_missing_values_go_to_the_learned_side():
    X, y = embedded("breast_cancer")
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.2 + 0.3 * y[:, None]] = np.nan
    for model in (MarginBoostClassifier(20, random_state=0), MCBoostClassifier(30)):
        model.fit(X, y)
        assert model.encoding_.n_ordered == 2 * X.shape[1]
        assert (scores_of(model, X).argmax(axis=1) == y).mean() > 0.95
        assert_same(model, X)


@pytest.mark.parametrize("name", ["mixed", "frame"])
def test_text_and_numbers_as_categories(name):
    model, X = MODELS[name]()
    exported = model.to_onnx()
    names = [entry.name for entry in session(exported).get_inputs()]
    assert names == ["size", "colour", "weight <kg>", "code"]
    scores = scores_of(model, X.astype(np.float32).astype(np.float64))
    found = run(exported, feeds_of(model.encoding_, names, X))
    assert_agrees(found, model.classes_, scores, model._probabilities(scores))


@pytest.mark.parametrize("model", [MCBoostClassifier(30), SAMMEClassifier(8, max_depth=3)], ids=str)
def test_frames(model):
    """What a person has: a frame with gaps, and the same columns for the runtime."""
    X, y = mixed_rows()
    frame = frame_of(X, mixed_encoding().categories).drop(columns="code")
    for name in ("size", "weight <kg>"):
        frame[name] = frame[name].astype(np.float32)
    model.fit(frame, y)
    unseen = frame.assign(colour="violet")
    for rows in (frame, unseen):
        feeds = {name: rows[[name]].to_numpy(np.float32) for name in ("size", "weight <kg>")}
        feeds["colour"] = rows[["colour"]].fillna("none").to_numpy(object)
        found = run(model.to_onnx(), feeds)
        exact = rows.astype({"size": "f8", "weight <kg>": "f8"})
        scores, probabilities = model.decision_function(exact), model.predict_proba(exact)
        assert_agrees(found, model.classes_, scores, probabilities)


def test_missing_values_where_training_had_none():
    X, y = embedded("wine")
    model = MarginBoostClassifier(10, random_state=0).fit(X, y)
    X[::2, ::3] = np.nan
    assert_same(model, X)


def test_a_column_whose_categories_were_never_seen():
    encoding = Encoding(
        2, np.arange(2, dtype=np.int32), np.array([np.inf, 1.0]), ((), None), (np.empty(0), None)
    )
    ensemble = Ensemble(**stump(0, 0.0), n_features=2)
    model = make_onnx(ensemble, encoding, np.array([0, 1]), Softmax(), None)
    feeds = {"x0": np.array([["a"], [""]], dtype=object), "x1": np.zeros((2, 1), np.float32)}
    np.testing.assert_array_equal(run(model, feeds)[0], [[0, 2], [0, 2]])


def stump(feature, threshold):
    """Return the arrays of an ensemble of one stump: (1, 0) on the left, (0, 2) on the right."""
    return {
        "vectors": np.array([[1.0, 0.0], [0.0, 2.0]]),
        "round_offsets": np.array([0, 1]),
        "node_offsets": np.array([0, 1]),
        "feature": np.array([feature], dtype=np.int32),
        "threshold": np.array([threshold]),
        "left": np.array([~0], dtype=np.int32),
        "right": np.array([~1], dtype=np.int32),
        "leaf_offsets": np.array([0, 2]),
        "leaf_vector": np.array([0, 1], dtype=np.int32),
        "leaf_value": np.ones(2),
    }


@pytest.mark.parametrize(
    "threshold", [0.1, -0.1, 1 / 3, 0.0, 5e-324, 1e-40, 1e39, -1e39, HUGE, -HUGE]
)
@pytest.mark.parametrize("fill", [np.inf, -np.inf, 0.2])
def test_values_beside_a_threshold(threshold, fill):
    """A float32 goes to the side that it is on, whatever float32 the threshold is nearest to."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    values = np.array([
        near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf)),
        np.nan, np.inf, -np.inf, 0, -0.0,
    ], dtype=np.float32)[:, None]  # fmt: skip
    ensemble = Ensemble(**stump(0, threshold), n_features=1)
    encoding = Encoding.plain(1, np.array([fill]))
    model = make_onnx(ensemble, encoding, np.array(["a", "b"]), Softmax(), None)
    expected = ensemble.decision_function(encoding.apply(values.astype(np.float64)))
    np.testing.assert_array_equal(run(model, {"X": values})[0], expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("link", [Softmax(0.3), OneAgainstAll()])
def test_no_trees_and_links(n_classes, link):
    arrays = stump(0, 0.0) | {
        "vectors": np.zeros((0, n_classes)), "round_offsets": np.array([0]),
        "node_offsets": np.array([0]), "feature": np.empty(0, np.int32), "threshold": np.empty(0),
        "left": np.empty(0, np.int32), "right": np.empty(0, np.int32), "leaf_offsets": np.array([0]),
        "leaf_vector": np.empty(0, np.int32), "leaf_value": np.empty(0),
    }  # fmt: skip
    model = make_onnx(
        Ensemble(**arrays, n_features=2), Encoding.plain(2), np.arange(n_classes), link, None
    )
    scores, probabilities, labels = run(model, {"X": np.zeros((3, 2), np.float32)})
    np.testing.assert_array_equal(scores, np.zeros((3, n_classes)))
    np.testing.assert_allclose(probabilities, np.full((3, n_classes), 1 / n_classes), rtol=1e-6)
    np.testing.assert_array_equal(labels, [0, 0, 0])


def test_one_against_all_where_all_are_unlikely():
    arrays = stump(0, 0.0) | {
        "vectors": np.array([[-50.0, -51.0, -400.0], [-360.0, -361.0, -900.0]])
    }
    ensemble = Ensemble(**arrays, n_features=1)
    model = make_onnx(ensemble, Encoding.plain(1), np.arange(3), OneAgainstAll(), None)
    X = np.array([[-1], [1]], dtype=np.float32)
    scores = ensemble.decision_function(X)
    assert_agrees(run(model, {"X": X}), np.arange(3), scores, OneAgainstAll()(scores))


def test_a_file_is_written(tmp_path):
    model, _ = MODELS["stumps"]()
    made = model.to_onnx(tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == made
    assert {entry.domain: entry.version for entry in made.opset_import} == {"": 13, "ai.onnx.ml": 3}


def test_names_of_inputs():
    names = ["a", "a", "", "label", "marginboost/x", "x1_a"]
    found = input_names(6, names)
    assert found == ["a", "x1_a", "x2_", "x3_label", "x4_marginboost/x", "x5_x1_a"]
    assert input_names(2, None) == ["x0", "x1"]


def test_categories_that_float32_cannot_tell_apart():
    X, y = mixed_rows()
    encoding = mixed_encoding()
    encoding = Encoding(
        4, encoding.source, encoding.fill, (*encoding.categories[:3], (1.0, 1.0 + 1e-9, 2.0)),
        encoding.positions,
    )  # fmt: skip
    model = fit_encoded(MarginBoostClassifier(3, random_state=0), X, y, encoding)
    with pytest.raises(ValueError, match="must differ as float32"):
        model.to_onnx()


def test_too_large_a_model():
    model, _ = MODELS["vector_leaves"]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("marginboost.model.onnx_trees._MOST_WEIGHTS", 10)
        with pytest.raises(ValueError, match="at most 10 weights"):
            model.to_onnx()


def test_without_the_packages(monkeypatch):
    model, _ = MODELS["stumps"]()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'marginboost\[onnx\]'"):
        model.to_onnx()
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    monkeypatch.delitem(sys.modules, "marginboost.onnx", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'marginboost\[onnx\]'"):
        import marginboost.onnx  # noqa: F401, PLC0415


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_pipeline(n_classes):
    skl2onnx = pytest.importorskip("skl2onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # skl2onnx's own
        import marginboost.onnx  # noqa: F401, PLC0415
    X, y = random_problem(300, 5, n_classes)
    X = X.astype(np.float32)
    scaled = make_column_transformer((StandardScaler(), [0, 1, 2]), remainder="passthrough")
    labels = np.array(["a", "b", "c", "d"])[y]
    pipeline = make_pipeline(scaled, MarginBoostClassifier(20, random_state=0)).fit(X, labels)
    model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    label, probabilities = session(model).run(["label", "probabilities"], {"X": X})
    # The scaler's float32 may send a row to the other side of a threshold, seldom.
    differ = np.abs(probabilities - pipeline.predict_proba(X)).max(axis=1) > 1e-6
    assert differ.mean() <= 0.01
    np.testing.assert_array_equal(label[~differ], pipeline.predict(X)[~differ])


def test_a_pipeline_with_categories_is_refused():
    skl2onnx = pytest.importorskip("skl2onnx")
    import marginboost.onnx  # noqa: F401, PLC0415

    model, X = MODELS["mixed"]()
    with pytest.raises(ValueError, match="use its own to_onnx"):
        skl2onnx.to_onnx(model, X[:1].astype(np.float32), options={"zipmap": False})


@pytest.mark.parametrize("k", [2, 4])
def test_labels_of_least_expected_cost(k):
    X, y = random_problem(300, 4, k, n_values=20)
    costs = np.random.default_rng(k).uniform(1, 9, (k, k)) * (1 - np.eye(k))
    for model in (
        MarginBoostClassifier(5, random_state=0, cost_matrix=costs),
        MCBoostClassifier(5, cost_matrix=costs),
    ):
        model.fit(X, y)
        X32 = X.astype(np.float32)
        expected = model.predict(X32)
        assert (expected != model.with_costs("equal").predict(X32)).any()
        _, probabilities, label = run(model.to_onnx(), {"X": X32})
        assert np.array_equal(label, expected)
        np.testing.assert_allclose(probabilities, model.predict_proba(X32), rtol=1e-5, atol=1e-7)


def test_a_pipeline_decides_by_costs():
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("marginboost.onnx")
    X, y = random_problem(300, 4, 3, n_values=20)
    X = X.astype(np.float32)
    costs = [[0, 1, 20], [1, 0, 1], [1, 20, 0]]
    model = MarginBoostClassifier(5, random_state=0, cost_matrix=costs)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    found = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    (label,) = session(found).run(["label"], {"X": X})
    expected = pipeline.predict(X)
    assert (
        expected != model.with_costs("equal").predict(StandardScaler().fit(X).transform(X))
    ).any()
    assert (label == expected).mean() > 0.99  # the scaler rounds differently
