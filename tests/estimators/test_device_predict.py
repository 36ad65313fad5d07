"""Rows on a GPU are predicted there: the same bits as on the host, in arrays of the device."""

import numpy as np
import pytest
from cuda_on_host import OnGpu, named_device
from support import noisy_problem

from marginboost import (
    AdaBoostMHClassifier,
    AdaBoostSIPClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
    _native,
)
from marginboost.engine.gpu import forest, prediction
from marginboost.engine.gpu.arrays import to_host
from marginboost.estimators import device_predict

METHODS = ("predict", "predict_proba", "decision_function")
TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")


class There:
    """Puts arrays on a device, counts its launches, and compares predictions with the host's."""

    def __init__(self, device, put):
        self.device, self.put = device, put
        self.launched = []

    def check(self, model, X, methods=METHODS):
        for method in methods:
            before = len(self.launched)
            found = getattr(model, method)(self.put(X))
            assert len(self.launched) > before, f"{method} was computed on the host"
            expected = getattr(model, method)(X)
            if expected.dtype.kind in "biuf":
                assert isinstance(found, self.device.xp.ndarray)
            found = to_host(found)
            assert found.dtype == expected.dtype
            assert found.shape == expected.shape
            assert np.array_equal(found, expected)


@pytest.fixture(params=["emulated", "cuda"])
def there(request, monkeypatch):
    device = named_device(request.param)
    found = There(device, OnGpu if request.param == "emulated" else device.xp.asarray)
    plain = type(device).kernel

    def kernel(self, file, name, **constants):
        found.launched.append(name)
        return plain(self, file, name, **constants)

    monkeypatch.setattr(type(device), "kernel", kernel)
    monkeypatch.setattr(device_predict, "cuda_device", lambda: device)
    return found


@pytest.mark.parametrize(
    "model",
    [
        MarginBoostClassifier(6, random_state=0, max_leaf_nodes=9),
        MCBoostClassifier(8),
        AdaBoostMHClassifier(3),
        AdaBoostSIPClassifier(3),
        SAMMEClassifier(3, max_depth=3),
    ],
)
@pytest.mark.parametrize("k", [2, 3, 6, 11])
def test_every_kind_of_model(there, model, k):
    X, y = noisy_problem(300, 5, k)
    there.check(model.fit(X, y), X)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_layouts(there, dtype, order):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (300, 6)).astype(dtype)
    if X.dtype.kind == "f":
        X += rng.random(X.shape).astype(dtype)
    y = (X[:, 0] > X[:, 1].mean()) + (X[:, 2] > X[:, 3].mean()).astype(int)
    model = MarginBoostClassifier(5, random_state=0, min_samples_leaf=2).fit(X, y)
    there.check(model, np.asarray(X, order=order))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_missing_values_and_infinities(there, dtype):
    X, y = noisy_problem(300, 5, 3)
    X = X.astype(dtype)
    rng = np.random.default_rng(0)
    gaps = rng.random(X.shape) < 0.2
    for trained in (np.where(gaps, np.nan, X), X):  # a column of its own, or the median
        model = MarginBoostClassifier(6, random_state=0).fit(trained.astype(dtype), y)
        asked = np.where(gaps, np.nan, X).astype(dtype)
        asked[rng.random(X.shape) < 0.1] = np.inf
        asked[rng.random(X.shape) < 0.1] = -np.inf
        there.check(model, asked)


def test_values_at_thresholds_of_more_digits(there):
    """A float32 is compared with the threshold's float64, though the kernel reads a float32."""
    X, y = noisy_problem(300, 2, 3)
    model = MarginBoostClassifier(6, random_state=0).fit(X, y)
    near = model.ensemble_.threshold.astype(np.float32)
    steps = [np.nextafter(near, np.float32(to)) for to in (-np.inf, np.inf)]
    values = np.concatenate([near, *steps])
    there.check(model, np.stack([values, values[::-1]], axis=1))


def test_more_columns_than_shared_memory_holds(there, monkeypatch):
    X, y = noisy_problem(300, 5, 3)
    model = MarginBoostClassifier(6, random_state=0).fit(X, y)
    monkeypatch.setattr(there.device, "shared_bytes", 2 * forest._ROWS)
    there.check(model, X)


@pytest.mark.parametrize("bytes_", [0, 1 << 28])
def test_many_classes(there, monkeypatch, bytes_):
    monkeypatch.setattr(forest, "_PRODUCT_BYTES", bytes_)
    X, y = noisy_problem(400, 4, 37)
    there.check(MarginBoostClassifier(3, random_state=0).fit(X, y), X)
    there.check(MCBoostClassifier(3).fit(X, y), X)


def test_labels_some_rows_at_a_time(there, monkeypatch):
    monkeypatch.setattr(prediction, "_SCORES_AT_ONCE", 3 * 70)
    X, y = noisy_problem(300, 5, 3)
    model = MarginBoostClassifier(4, random_state=0).fit(X, y)
    there.check(model, X, ["predict"])
    there.check(model, np.asfortranarray(X), ["predict"])


def test_costs_and_class_frequencies(there):
    X, y = noisy_problem(300, 5, 3)
    costs = np.array([[0.0, 1.0, 9.0], [4.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
    plain = MarginBoostClassifier(6, random_state=0).fit(X, y)
    model = plain.with_costs(costs)
    assert not np.array_equal(model.predict(X), plain.predict(X))
    there.check(model, X)
    other = plain.with_class_frequencies({0: 0.9, 1: 0.1, 2: 0.0})
    assert not np.array_equal(other.predict(X), plain.predict(X))
    there.check(other, X)
    there.check(other.with_costs(costs), X)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-5, 7, 300]),
        np.array([1, 2, 200], dtype=np.uint8),
        np.array([1.0, 2.0, 4.0], dtype=np.float32),
        np.array(["one", "three", "two"]),
    ],
)
def test_kinds_of_labels(there, labels):
    X, y = noisy_problem(200, 4, 3)
    model = MarginBoostClassifier(3, random_state=0).fit(X, labels[y])
    there.check(model, X)
    assert model.score(there.put(X), labels[y]) == model.score(X, labels[y])


def test_prediction_sets_of_rows_on_a_gpu(there):
    X, y = noisy_problem(300, 4, 3)
    model = MarginBoostClassifier(3, random_state=0).fit(X, y)
    assert np.array_equal(model.predict_set(there.put(X)), model.predict_set(X))


def test_mistakes_in_sentences(there):
    X, y = noisy_problem(200, 4, 3)
    model = MarginBoostClassifier(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        model.predict(there.put(X[:, :3]))
    for wrong in (X[:, 0], X[:0]):
        with pytest.raises(ValueError, match=r"two-dimensional array of real numbers"):
            model.predict(there.put(wrong))


def test_categories_are_looked_up_on_the_host(there):
    X, y = noisy_problem(200, 3, 3, n_values=5)
    X = np.round(X)
    model = MarginBoostClassifier(3, random_state=0, categorical_features=[0]).fit(X, y)
    assert np.array_equal(model.predict(there.put(X)), model.predict(X))


def test_exponentials(there):
    """The host's exponential, and the device's with the same bits, are within a unit of the true one."""
    x = np.concatenate(
        [np.linspace(-745.4, 0.0, 5000), -np.logspace(-20, 2.9, 500), [-746, -1e300]]
    )
    scores = np.stack([np.zeros(len(x)), x], axis=1)
    here = scores.copy()
    _native.to_probabilities(here, _native.Link.softmax, 1.0, 1)
    with np.errstate(under="ignore"):
        e = np.exp(x)
    expected = e / (1.0 + e)
    # Two units: the sum and the quotient round as well. The last subnormal numbers have no digits.
    assert np.allclose(here[:, 1], expected, rtol=4.5e-16, atol=1.5e-323)
    device = there.device
    on_device = device.put(scores)
    device.kernel("row_classes", "to_probabilities", LABEL_BYTES=8)(
        3, 64, on_device, np.int64(len(x)), np.int32(2), np.int32(1), np.float64(1.0)
    )
    assert np.array_equal(device.fetch(on_device), here)
