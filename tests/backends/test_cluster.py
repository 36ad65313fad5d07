"""Classifiers on Dask collections: the model that the same rows give here, to the bit."""

import gc
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from support import assert_same_model, embedded, noisy_problem

from marginboost import (
    AdaBoostECCClassifier,
    JointBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
)

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")

CUTS = pytest.mark.parametrize("cuts", [(400,), (200, 200), (7, 93, 0, 250, 50), "by class"])


def problem(n_values=30):
    return noisy_problem(400, 5, 4, n_values=n_values)


def cut(X, y, cuts, *more):
    """Cut arrays into chunks of rows."""
    if cuts == "by class":
        order = np.argsort(y, kind="stable")
        X, y, *more = X[order], y[order], *(values[order] for values in more)
        cuts = tuple(np.bincount(y))
    return [da.from_array(values, chunks=(cuts, *values.shape[1:])) for values in (X, y, *more)]


MODELS = {
    # Every split is a message to all workers.
    "margin": MarginBoostClassifier(4, max_leaf_nodes=6, random_state=0),
    "margin logistic": MarginBoostClassifier(3, loss="logistic", max_leaf_nodes=6, random_state=0),
    "stumps": MCBoostClassifier(8),
    "stumps logistic": MCBoostClassifier(6, loss="logistic", max_bins=12),
    "heavy leaves": MCBoostClassifier(4, min_weight_fraction_leaf=0.05),
}


@CUTS
@pytest.mark.parametrize("name", ["margin", "stumps", "heavy leaves"])
def test_any_partitioning_gives_the_same_model(client, cuts, name):
    X, y = problem()
    assert_same_model(clone(MODELS[name]).fit(*cut(X, y, cuts)), clone(MODELS[name]).fit(X, y))


@pytest.mark.parametrize("cuts", [(7, 93, 0, 250, 50), "by class"])
@pytest.mark.parametrize("gaps", [False, True])
def test_infinities(client, cuts, gaps):
    X, y = problem()
    X[X[:, 0] > 20, 0], X[y == 0, 1], X[y == 1, 1] = np.inf, -np.inf, np.inf
    X[:, 2] = np.where(X[:, 2] > 10, np.inf, -np.inf)
    if gaps:
        X[::7, 0] = np.nan
    for name in ("margin", "stumps"):
        assert_same_model(clone(MODELS[name]).fit(*cut(X, y, cuts)), clone(MODELS[name]).fit(X, y))


def gappy_frame(seed=0):
    """Numbers with gaps, text and categories, of which some are rare."""
    X, y = problem()
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = np.nan_to_num(X[:, 4])
    frame = pd.DataFrame(X, columns=list("abcde"))
    text = np.array(["red", "green", "blue", "rare"])[np.where(rng.random(400) < 0.5, y, 0)]
    frame["colour"] = np.where(rng.random(400) < 0.1, None, text.astype(object))
    frame["size"] = pd.Categorical(np.where(rng.random(400) < 0.5, y, rng.integers(0, 60, 400)))
    return frame, pd.Series(y)


@pytest.mark.parametrize(
    ("name", "weighted"),
    [
        ("margin", None),
        ("margin", "counts"),
        ("margin", "weights"),
        ("stumps", None),
        ("stumps", "counts"),
        ("heavy leaves", "weights"),
    ],
)
def test_missing_values_and_categories(client, name, weighted):
    frame, y = gappy_frame()
    rng = np.random.default_rng(1)
    weight = {"counts": rng.integers(0, 3, 400), "weights": rng.random(400)}.get(weighted)
    here = clone(MODELS[name]).fit(frame, y, weight)
    assert here.encoding_.n_ordered > 12
    for n_parts in (1, 3) if weighted is None else (3,):
        dX, dy = (dd.from_pandas(part, npartitions=n_parts) for part in (frame, y))
        there = clone(MODELS[name]).fit(dX, dy, weight)
        assert_same_model(there, here)
        np.testing.assert_array_equal(there.feature_names_in_, here.feature_names_in_)
        np.testing.assert_array_equal(there.predict(dX).compute(), here.predict(frame))


KINDS = (
    "weights", "multiplicities", "zeros", "balanced", "a class of none", "huge", "tiny and equal",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, kind) for name in ("margin", "stumps") for kind in KINDS),
        *(
            (name, kind)
            for name in MODELS
            for kind in KINDS[:2]
            if name not in ("margin", "stumps")
        ),
    ],
)
def test_weights(client, name, kind):
    X, y = problem(None)
    rng = np.random.default_rng(0)
    weight = {
        "weights": rng.uniform(0, 2, 400), "multiplicities": rng.integers(0, 4, 400),
        "zeros": (rng.random(400) < 0.7).astype(float), "balanced": np.ones(400),
        "a class of none": np.where(y == 2, 0.0, rng.uniform(0, 2, 400)),
        "huge": rng.uniform(0, 1e300, 400), "tiny and equal": np.full(400, 5e-324),
    }[kind]  # fmt: skip
    model = clone(MODELS[name])
    if kind == "balanced":
        model.set_params(class_weight="balanced")
    if kind == "huge":
        model.set_params(class_weight={0: 1e300, 1: 2e300})
    assert_same_model(
        clone(model).fit(*cut(X, y, (120, 200, 80), weight)), clone(model).fit(X, y, weight)
    )


@pytest.mark.parametrize("name", ["margin", "heavy leaves"])
@pytest.mark.parametrize("kind", ["no weights", "weights"])
def test_a_class_of_weight_zero(client, name, kind):
    X, y = problem(None)
    X[::7, 1] = np.nan
    # Those that count are whole numbers, and so rows that are repeated.
    weight = np.where(y == 2, 0.3, np.random.default_rng(0).integers(0, 4, 400))
    given = [weight] if kind == "weights" else []
    model = clone(MODELS[name]).set_params(class_weight={2: 0})
    here = clone(model).fit(X, y, *given)
    assert here.class_count_[2] == 0
    assert_same_model(clone(model).fit(*cut(X, y, (120, 200, 80), *given)), here)


def test_columns_that_are_lost_are_named(client):
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(Id=[f"user {n}" for n in range(400)])
    rows = [dd.from_pandas(part, npartitions=3) for part in (frame, pd.Series(y))]
    with pytest.warns(
        UserWarning, match="Column 'Id' holds text, and none of its 400 values"
    ) as told:
        there = MCBoostClassifier(3).fit(*rows)
    assert [warning.filename for warning in told] == [__file__]
    assert there.encoding_.lost == {5: "user 0"}


@pytest.mark.parametrize("model", [
    AdaBoostECCClassifier(3, random_state=0), JointBoostClassifier(3),
    MCBoostClassifier(3, engine="reference"),
])  # fmt: skip
def test_other_methods_and_engines(client, model):
    X, y = problem()
    assert_same_model(clone(model).fit(*cut(X, y, (150, 250))), clone(model).fit(X, y))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MCBoostClassifier(2, max_depth=3), "MCBoostClassifier with max_depth=3"),
        (SAMMEClassifier(2), "SAMMEClassifier"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_runs_on_the_host_only_says_so(client, model, words):
    X, y = problem()
    with pytest.raises(
        ValueError, match=rf"^{words} must .* got a Dask collection. Pass X.compute"
    ):
        model.fit(*cut(X, y, (150, 250)))


def test_data_frames_and_text(client):
    X, y = embedded("iris")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = pd.Series(np.array(["setosa", "versicolor", "virginica"], dtype=object)[y])
    model = MarginBoostClassifier(5, random_state=0)
    here = clone(model).fit(frame, labels)
    there = clone(model).fit(
        dd.from_pandas(frame, npartitions=4), dd.from_pandas(labels, npartitions=4)
    )
    assert_same_model(there, here)
    assert there.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    other = dd.from_pandas(frame, npartitions=3)
    found = there.predict(other)
    assert isinstance(found, dd.Series)
    pd.testing.assert_series_equal(
        found.compute(), pd.Series(here.predict(frame)), check_dtype=False
    )
    probabilities = there.predict_proba(other).compute()
    assert probabilities.columns.tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(probabilities.to_numpy(), here.predict_proba(frame))
    assert there.score(other, dd.from_pandas(labels, npartitions=5)) == here.score(frame, labels)
    assert there.score(frame, labels) == here.score(frame, labels)
    with pytest.raises(ValueError, match="feature names"):
        there.predict(other.rename(columns={"a": "z"})).compute()


def test_files_that_dask_reads_several_at_once(client, tmp_path):
    """Of a frame in files, y has few columns: Dask may read it in fewer partitions than X."""
    pytest.importorskip("pyarrow")
    X, y = embedded("digits")
    frame = pd.DataFrame(X).add_prefix("p").assign(label=y)
    for number in range(6):
        frame.iloc[number::6].to_parquet(tmp_path / f"{number}.parquet")
    files = dd.read_parquet(tmp_path)
    rows, labels = files.drop(columns="label"), files["label"]
    assert rows.npartitions == labels.npartitions == 6
    model = MCBoostClassifier(4)
    assert_same_model(
        clone(model).fit(rows, labels), clone(model).fit(frame.drop(columns="label"), y)
    )
    assert model.fit(rows, labels).score(rows, labels) == model.score(
        frame.drop(columns="label"), y
    )


@pytest.mark.parametrize("k", [2, 4])
def test_predictions_are_collections(client, k):
    X, y = noisy_problem(300, 4, k)
    model = MCBoostClassifier(6).fit(*cut(X, y, (100, 200)))
    rows = da.from_array(X, chunks=((0, 90, 210), (2, 2)))
    for name in ("predict", "predict_proba", "decision_function"):
        found = getattr(model, name)(rows)
        assert isinstance(found, da.Array)
        expected = getattr(model, name)(X)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.compute(), expected)
    weight = np.arange(300.0)
    assert model.score(rows, da.from_array(y, chunks=70)) == model.score(X, y)
    assert model.score(rows, y, sample_weight=da.from_array(weight, chunks=50)) == pytest.approx(
        model.score(X, y, sample_weight=weight)
    )


def test_labels_may_lie_here(client):
    X, y = problem()
    model = MCBoostClassifier(4)
    here = clone(model).fit(X, y)
    assert_same_model(clone(model).fit(da.from_array(X, chunks=(130, 2)), y), here)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    assert_same_model(clone(model).fit(frame.to_dask_array(), y), here)


def test_the_workers_forget_the_rows(client):
    gc.collect()  # what tests of engines left to it, and never closed, is not what this is about
    X, y = problem()
    MCBoostClassifier(3).fit(*cut(X, y, (100, 300)))

    def shards(dask_worker):
        plugin = next(p for name, p in dask_worker.plugins.items() if "marginboost" in name)
        return len(plugin._shards)

    until = time.monotonic() + 300
    while set(client.run(shards).values()) != {0}:
        assert time.monotonic() < until
        time.sleep(0.05)


# --- mistakes -------------------------------------------------------------------------------------


def fit(X, y, weight=None, model=None):
    (MCBoostClassifier(2) if model is None else model).fit(X, y, weight)


def test_no_client():
    """In a process of its own: this one has a client."""
    program = """if True:
        import dask.array as da
        from marginboost import MCBoostClassifier
        MCBoostClassifier(2).fit(da.ones((10, 2)), da.arange(10) % 2)
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "there is no client of one. Make one first" in done.stderr.splitlines()[-1]


def test_mistakes_in_sentences(client):
    X, y = problem()
    dX, dy = cut(X, y, (150, 250))
    with pytest.raises(ValueError, match=r"same number of rows; got 400 and 300"):
        fit(dX, dy[:300])
    with pytest.raises(ValueError, match=r"same number of rows; got 400 and 300"):
        fit(dX, y[:300])
    with pytest.raises(ValueError, match="two classes; got one class, 0"):
        fit(dX, da.zeros(400, chunks=(150, 250), dtype=int))
    with pytest.raises(ValueError, match=r"no negative number; got -1 in partition 0"):
        fit(dX, dy, da.from_array(np.where(np.arange(400) == 3, -1.0, 1.0), chunks=(150, 250)))
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(dX, da.from_array(np.random.default_rng(0).random(400), chunks=(150, 250)))
    with pytest.raises(ValueError, match="at least one row; all partitions are empty"):
        fit(dX[:0], dy[:0])
    with pytest.raises(ValueError, match="two-dimensional Dask array"):
        fit(dX[:, 0], dy)
    with pytest.raises(ValueError, match="must be positive for rows of at least two"):
        fit(dX, dy, da.from_array((y == 0).astype(float), chunks=(150, 250)))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    with pytest.raises(ValueError, match="must have the same partitions"):
        fit(frame, dd.from_pandas(pd.Series(y), npartitions=2))


@pytest.mark.parametrize("name", ["margin", "stumps"])
def test_class_frequencies(client, name):
    y = np.repeat([0, 1, 2], [50, 300, 50])
    weight = np.random.default_rng(0).uniform(0, 1e300, 400)
    with pytest.warns(UserWarning, match="predicts the class frequencies"):
        here = clone(MODELS[name]).fit(np.zeros((400, 2)), y, weight)
    with pytest.warns(UserWarning, match="predicts the class frequencies"):
        there = clone(MODELS[name]).fit(*cut(np.zeros((400, 2)), y, (120, 200, 80), weight))
    assert_same_model(there, here)


def test_the_clients_own_list_of_workers_is_not_used(client, monkeypatch):
    # The client refreshes it now and then without any workers.
    monkeypatch.setattr(type(client), "scheduler_info", lambda *_, **__: {"workers": {}})
    X, y = problem()
    model = clone(MODELS["stumps"]).fit(*cut(X, y, (200, 200)))
    assert_same_model(model, clone(MODELS["stumps"]).fit(X, y))
