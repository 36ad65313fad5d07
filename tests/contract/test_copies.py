"""Rows with many copies: one model from any order, repetition, partition and engine, to the bit."""

import numpy as np
import pytest
from cuda_on_host import named_device
from sklearn.base import clone
from support import assert_same_model, training_set

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends import choose

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")

MODELS = {
    "calibrated": MarginBoostClassifier(5, random_state=0),
    "logistic": MarginBoostClassifier(4, loss="logistic", random_state=3),
    "early stopping": MarginBoostClassifier(6, random_state=1, early_stopping=True),
    "small samples": MarginBoostClassifier(5, random_state=2, subsample=0.15, min_samples_leaf=2),
    "samples alone": MarginBoostClassifier(5, random_state=2, subsample=0.3, calibrate=False),
    "balanced early": MarginBoostClassifier(
        5, random_state=4, class_weight={0: 0.1, 1: 0.7, 2: 1.3}, early_stopping=True
    ),
    "stumps": MCBoostClassifier(8, max_bins=32, early_stopping=True),
    "trees": MCBoostClassifier(3, max_depth=2, min_weight_fraction_leaf=0.05, early_stopping=True),
}
KINDS = pytest.mark.parametrize("kind", ["observed", "written again"])
NAMES = pytest.mark.parametrize("name", MODELS)
FEW = ["calibrated", "early stopping", "small samples", "balanced early", "stumps"]


def table(n_rows=400, seed=0, kind="observed"):
    """Draw rows of few levels, and labels that they say something of.

    Of those that were written down again, rows of equal features have one class.
    """
    rng = np.random.default_rng(seed)
    levels, noise = ((3, 2, 4), 1.5) if kind == "observed" else ((9, 9, 9), 0.2)
    X = rng.integers(0, levels, (n_rows, 3)).astype(float)
    score = X.sum(axis=1) * 6 / (np.sum(levels) - 3)
    y = (score + rng.normal(size=n_rows) * noise).clip(0, 5) // 2
    if kind == "written again":
        _, first = np.unique(X, axis=0, return_index=True)
        again = rng.choice(first[: n_rows // 5], n_rows)
        X, y = X[again], y[again]
    return X, y.astype(int), rng


def shuffled(X, y, rng, weight=None):
    order = rng.permutation(len(y))
    return X[order], y[order], None if weight is None else weight[order]


def counted(X, y, rng):
    """Give equal rows once or in two parts, with integer weights."""
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    part = rng.integers(1, counts + 1)
    rows = np.concatenate([rows, rows])
    times = np.concatenate([part, counts - part])  # some of them 0
    return shuffled(rows[:, :3], rows[:, 3].astype(int), rng, times)


def forms(X, y, rng):
    return {
        "as it is": (X, y, None),
        "shuffled": shuffled(X, y, rng),
        "counted": counted(X, y, rng),
    }


@pytest.fixture
def gpu(monkeypatch):
    device = named_device("emulated")
    monkeypatch.setattr(choose, "cuda_device", lambda: device)


@KINDS
@NAMES
def test_order_and_repetition(name, kind):
    rows = forms(*table(kind=kind))
    expected = clone(MODELS[name]).fit(*rows["as it is"])
    X, y, _ = rows["as it is"]
    n_contents = len(np.unique(np.column_stack([X, y]), axis=0))
    assert (len(np.unique(X, axis=0)) < n_contents) == (kind == "observed")
    assert n_contents <= 80
    data = training_set(X, y)
    assert data.copies.independent(0).all() == (kind == "observed")
    assert expected.n_iter_ > 0
    for form in rows.values():
        for n_jobs in (1, 2):
            assert_same_model(clone(MODELS[name]).set_params(n_jobs=n_jobs).fit(*form), expected)


@KINDS
@pytest.mark.parametrize("name", [*FEW, "trees"])
def test_the_reference(name, kind):
    rows = forms(*table(200, kind=kind))
    expected = clone(MODELS[name]).fit(*rows["as it is"])
    for form in rows.values():
        assert_same_model(clone(MODELS[name]).set_params(engine="reference").fit(*form), expected)


@pytest.mark.usefixtures("gpu")
@KINDS
@pytest.mark.parametrize("name", FEW)
def test_a_gpu(name, kind):
    rows = forms(*table(kind=kind))
    expected = clone(MODELS[name]).fit(*rows["as it is"])
    for form in rows.values():
        assert_same_model(clone(MODELS[name]).set_params(device="cuda").fit(*form), expected)


@KINDS
@NAMES
def test_real_weights(name, kind):
    X, y, rng = table(kind=kind)
    weight = rng.choice([0.3, 1.7, 2.5, 0.0], 400) * rng.uniform(1, 1.1, 400).round(2)
    expected = clone(MODELS[name]).fit(X, y, weight)
    assert_same_model(clone(MODELS[name]).fit(*shuffled(X, y, rng, weight)), expected)


@pytest.mark.usefixtures("gpu")
@KINDS
@pytest.mark.parametrize("name", FEW)
def test_real_weights_elsewhere(name, kind):
    X, y, rng = table(200, kind=kind)
    weight = rng.choice([0.3, 1.7, 2.5], 200)
    expected = clone(MODELS[name]).fit(X, y, weight)
    rows = shuffled(X, y, rng, weight)
    for settings in ({"engine": "reference"}, {"device": "cuda"}):
        assert_same_model(clone(MODELS[name]).set_params(**settings).fit(*rows), expected)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("form", ["shuffled", "counted", "weights"])
@KINDS
def test_a_cluster(client, name, form, kind):
    da = pytest.importorskip("dask.array")
    X, y, rng = table(kind=kind)
    weight = rng.choice([0.3, 1.7, 2.5], 400) if form == "weights" else None
    model = clone(MODELS[name])
    if isinstance(model, MarginBoostClassifier):
        model.set_params(max_leaf_nodes=6)  # each split is a message
    expected = clone(model).fit(X, y, weight)
    rows = shuffled(X, y, rng, weight) if form == "weights" else forms(X, y, rng)[form]
    n = len(rows[1])
    cuts = (n // 2, 0, n // 5, n - n // 2 - n // 5)
    parts = [
        None if values is None else da.from_array(values, chunks=(cuts, *values.shape[1:]))
        for values in rows
    ]
    assert_same_model(model.fit(*parts), expected)
