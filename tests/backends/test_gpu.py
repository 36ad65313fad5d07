"""Classifiers on a GPU: the CPU's model, to the bit, from rows on either side."""

import re

import numpy as np
import pytest
from cuda_on_host import OnGpu, named_device
from scipy import sparse
from sklearn.base import clone
from support import assert_same_ensemble, assert_same_model, embedded, noisy_problem

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MarginBoostClassifierCV,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)
from marginboost.backends import choose
from marginboost.engine.gpu.arrays import to_host
from marginboost.estimators import device_predict, marginboost_cv
from marginboost.estimators.portfolio import TunedSettings

MODELS = {
    "margin": MarginBoostClassifier(4, random_state=0),
    "margin logistic": MarginBoostClassifier(3, loss="logistic", random_state=0, max_leaf_nodes=5),
    "margin alone": MarginBoostClassifier(3, random_state=0, calibrate=False, subsample=1.0),
    "stumps": MCBoostClassifier(6),
    "stumps logistic": MCBoostClassifier(4, loss="logistic", max_bins=9),
    "heavy leaves": MCBoostClassifier(3, min_weight_fraction_leaf=0.05),
    "mh": AdaBoostMHClassifier(3),
    "ecc": AdaBoostECCClassifier(3, random_state=0),
    "sip": AdaBoostSIPClassifier(3),
    "gradboost": GradBoostClassifier(3),
    "jointboost": JointBoostClassifier(2),
}


@pytest.fixture(params=["emulated", "cuda"])
def put(request, monkeypatch):
    """Return what puts an array on the device."""
    device = named_device(request.param)
    for module in (choose, device_predict):
        monkeypatch.setattr(module, "cuda_device", lambda: device)
    return OnGpu if request.param == "emulated" else device.xp.asarray


@pytest.mark.parametrize("name", MODELS)
def test_every_classifier(put, name):
    X, y = noisy_problem(200, 4, 3, n_values=20)
    there = clone(MODELS[name]).set_params(device="cuda")
    here = clone(MODELS[name]).fit(X, y)
    assert_same_model(clone(there).fit(X, y), here)
    assert_same_model(there.fit(put(X), put(y)), here)
    np.testing.assert_array_equal(to_host(there.predict(put(X))), here.predict(X))


def test_rows_in_files(put, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = noisy_problem(200, 3, 3, n_values=20)
    columns = {f"x{n}": column for n, column in enumerate(X.T)}
    parquet.write_table(pyarrow.table(columns | {"y": y}), tmp_path / "x.parquet")
    model = clone(MODELS["margin"])
    there = clone(model).set_params(device="cuda").fit(tmp_path, "y")
    assert_same_model(there, model.fit(tmp_path, "y"))


def test_the_tuner(put, monkeypatch):
    X, y = noisy_problem(120, 3, 3, n_values=20)
    one = TunedSettings("one", 4, 9, "exponential", 0.3, 5, 0.5, 0.5)
    two = one._replace(name="two", loss="logistic", subsample=1.0)
    monkeypatch.setattr(marginboost_cv, "portfolio", lambda *_: [one, two])
    settings = {"time_limit": 1e9, "cv": 2, "random_state": 0}
    here = MarginBoostClassifierCV(**settings).fit(X, y)
    there = MarginBoostClassifierCV(**settings, device="cuda").fit(put(X), put(y))
    assert_same_ensemble(here.ensemble_, there.ensemble_)
    assert (here.oof_error_, here.oof_loss_) == (there.oof_error_, there.oof_loss_)
    np.testing.assert_array_equal(to_host(there.predict(put(X))), here.predict(X))


@pytest.mark.parametrize("name", ["margin", "stumps", "heavy leaves"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values(put, name, dtype):
    X, y = noisy_problem(200, 4, 3)
    X = X.astype(dtype)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.nan_to_num(X[:, 3])
    weight = rng.integers(0, 3, 200).astype(float)
    there = clone(MODELS[name]).set_params(device="cuda")
    for weights in (None, weight):
        here = clone(MODELS[name]).fit(X, y, weights)
        assert here.encoding_.n_ordered == 7
        assert_same_model(clone(there).fit(X, y, weights), here)
        given = None if weights is None else put(weights)
        assert_same_model(there.fit(put(X), put(y), given), here)
        scores = to_host(there.decision_function(put(X)))
        np.testing.assert_array_equal(scores, here.decision_function(X))


@pytest.mark.filterwarnings("ignore:On the rows that were held out:UserWarning")
@pytest.mark.parametrize("name", ["margin", "stumps logistic", "heavy leaves"])
@pytest.mark.parametrize(
    "kind",
    ["weights", "multiplicities", "zeros", "balanced", "huge", "tiny and equal", "left out"],
)
def test_weights(put, name, kind):
    X, y = noisy_problem(200, 4, 3)
    rng = np.random.default_rng(0)
    weight = {
        "weights": rng.uniform(0, 2, 200), "multiplicities": rng.integers(0, 4, 200),
        "zeros": (rng.random(200) < 0.7).astype(float), "balanced": np.ones(200),
        "huge": rng.uniform(0, 1e300, 200), "tiny and equal": np.full(200, 5e-324),
        "left out": np.where(y == 1, 0.3, rng.integers(0, 4, 200)),
    }[kind]  # fmt: skip
    model = clone(MODELS[name])
    if kind == "balanced":
        model.set_params(class_weight="balanced")
    if kind == "huge":
        model.set_params(class_weight={0: 1e300, 1: 2e300})
    if kind == "left out":
        model.set_params(class_weight={1: 0})
        plain = clone(model).fit(X, y)
        assert_same_model(clone(model).set_params(device="cuda").fit(put(X), put(y)), plain)
    here = clone(model).fit(X, y, weight)
    model.set_params(device="cuda")
    assert_same_model(clone(model).fit(X, y, weight), here)
    assert_same_model(model.fit(put(X), put(y), put(weight)), here)


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i2", "i8", "?"])
def test_types_of_numbers(put, dtype):
    X, y = embedded("iris")
    X = np.rint(X * 10) if dtype[0] in "ui" else X
    X = X > 2 if dtype == "?" else X.astype(dtype)
    model = MCBoostClassifier(5, device="cuda")
    assert_same_model(model.fit(put(X), put(y)), MCBoostClassifier(5).fit(X, y))


def test_text_as_labels_and_sparse_rows(put):
    X, y = embedded("iris")
    names = np.array(["b", "a", "c"])[y]
    here = MarginBoostClassifier(3, random_state=0).fit(X, names)
    there = MarginBoostClassifier(3, random_state=0, device="cuda")
    assert_same_model(clone(there).fit(put(X), names), here)
    assert_same_model(there.fit(sparse.csr_array(X), names), here)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-3, 7, 2], dtype=np.int8),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([5, 2**63 + 5, 2**63 + 9], dtype=np.uint64),
        np.array([2**63 + 5, 2**63 + 6, 2**63 + 9], dtype=np.uint64),
        np.array([-(2**62), 2**62, 3]),
        np.array([False, True, True]),
        np.array([2.0, -1.0, 5.0]),
    ],
    ids=str,
)
def test_kinds_of_labels(put, labels):
    X, y = embedded("iris")
    y = labels[y]
    here = MCBoostClassifier(3).fit(X, y)
    there = MCBoostClassifier(3, device="cuda").fit(put(X), put(y))
    assert_same_model(there, here)
    assert there.classes_.dtype == here.classes_.dtype
    np.testing.assert_array_equal(there.classes_, here.classes_)


def test_torch(put):
    torch = pytest.importorskip("torch")
    if put is OnGpu:
        pytest.skip("an emulated device holds no tensors")
    X, y = embedded("iris")
    model = MCBoostClassifier(5, device="cuda")
    model.fit(torch.tensor(X, device="cuda", requires_grad=True), torch.tensor(y, device="cuda"))
    assert_same_model(model, MCBoostClassifier(5).fit(X, y))
    found = to_host(model.predict(torch.tensor(X, device="cuda")))
    np.testing.assert_array_equal(found, model.predict(X))


@pytest.mark.parametrize("name", ["margin", "stumps", "heavy leaves"])
@pytest.mark.parametrize("gaps", [False, True])
def test_infinities(put, name, gaps):
    X, y = noisy_problem(200, 4, 3, n_values=20)
    X[X[:, 0] > 14, 0], X[y == 0, 1], X[y == 1, 1] = np.inf, -np.inf, np.inf
    X[:, 2] = np.where(X[:, 2] > 10, np.inf, -np.inf)
    if gaps:
        X[::7, 0] = np.nan
    here = clone(MODELS[name]).fit(X, y)
    model = clone(MODELS[name]).set_params(device="cuda")
    assert_same_model(clone(model).fit(X, y), here)
    assert_same_model(clone(model).fit(put(X), put(y)), here)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MCBoostClassifier(2, max_depth=3), "MCBoostClassifier with max_depth=3"),
        (JointBoostClassifier(2, max_depth=2), "JointBoostClassifier with max_depth=2"),
        (SAMMEClassifier(2), "SAMMEClassifier"),
        (AdaBoostMOClassifier(2), "AdaBoostMOClassifier"),
        (MultiBoostClassifier(2), "MultiBoostClassifier"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_runs_on_the_host_only_says_so(put, model, words):
    X, y = embedded("iris")
    sentence = (
        f'{words} must be fitted on the CPU of one machine; got device="cuda". Pass device="cpu", or '
        "use MarginBoostClassifier, whose trees grow on a GPU and on a cluster."
    )
    there = clone(model).set_params(device="cuda")
    for rows, labels in ((X, y), (put(X), put(y))):
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            there.fit(rows, labels)
    model.fit(X, y)


def test_mistakes_in_sentences(put):
    X, y = embedded("iris")
    model = MCBoostClassifier(2, device="cuda")
    with pytest.raises(ValueError, match='X lies on a GPU, and device is "cpu"'):
        MCBoostClassifier(2).fit(put(X), put(y))
    with pytest.raises(ValueError, match='engine must be "native" where device is "cuda"'):
        MCBoostClassifier(2, device="cuda", engine="reference").fit(X, y)
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda'; got 'gpu'"):
        MCBoostClassifier(2, device="gpu").fit(X, y)
    with pytest.raises(ValueError, match=r"two-dimensional array .* got float64 of shape \(150,\)"):
        model.fit(put(X[:, 0]), put(y))
    with pytest.raises(ValueError, match="same number of rows; got 150 and 100"):
        model.fit(put(X), put(y[:100]))
    with pytest.raises(ValueError, match="two classes; got one class, 1"):
        model.fit(put(X), put(np.ones(150, dtype=int)))
    with pytest.raises(ValueError, match="no negative number; got -2 at row 7"):
        model.fit(put(X), put(y), put(np.where(np.arange(150) == 7, -2.0, 1.0)))
    with pytest.raises(ValueError, match=r"one number per row, 150; got shape \(2,\)"):
        model.fit(put(X), put(y), put(np.ones(2)))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(put(X), put(np.linspace(0, 1, 150)))


def test_too_little_memory(put, monkeypatch):
    device = choose.cuda_device()
    monkeypatch.setattr(type(device), "free_bytes", lambda self: 1000)
    X, y = embedded("iris")
    for rows, labels in ((X, y), (put(X), put(y))):
        with pytest.raises(ValueError, match="of GPU memory"):
            MCBoostClassifier(2, device="cuda").fit(rows, labels)
