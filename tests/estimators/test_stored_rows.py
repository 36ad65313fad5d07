"""Fits and predictions of rows in files: the same bits as from memory."""

import weakref

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from support import assert_same_margin_boost, assert_same_model, small_margin_boost

from marginboost import (
    MarginBoostClassifier,
    MarginBoostClassifierCV,
    MCBoostClassifier,
    StoredRows,
)
from marginboost.data import stored_binning, stored_rows

N = 1200


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Several batches and several passes over few rows."""
    monkeypatch.setattr(stored_rows, "BATCH_ROWS", 97)
    monkeypatch.setattr(stored_binning, "_SMALL_BYTES", 0)


def make_table(n=N, seed=0):
    """Return columns of every kind, labels and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    words = np.array(["red", "green", "blue", "rare"])[rng.choice(4, n, p=[0.5, 0.3, 0.196, 0.004])]
    text = [
        None if hide else str(word) for hide, word in zip(rng.random(n) < 0.1, words, strict=True)
    ]
    late = [None] * (n // 2) + [f"v{value}" for value in rng.integers(0, 5, n - n // 2)]
    count = [None if v == 3 else int(v) for v in rng.integers(0, 9, n) + y]
    gaps = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) - y)
    return pa.table(
        {
            "double": rng.normal(size=n) + y,
            "single": (rng.normal(size=n) - y).astype(np.float32),
            "half_empty": pa.array(late),
            "count": pa.array(count),
            "byte": pa.array(rng.integers(-100, 100, n), pa.int8()),
            "gaps": gaps,
            "infinite": np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
            "text": pa.array(text),
            "large": pa.array(text, pa.large_string()),
            "category": pa.array(text).dictionary_encode(),
            "flag": pa.array(rng.random(n) < 0.5),
            "empty": pa.array([None] * n, pa.float64()),
            "empty_text": pa.array([None] * n, pa.string()),
            "weight": rng.choice([0.0, 0.5, 1.25, 3.0], n),
            "times": rng.integers(0, 4, n),
            "label": pa.array(["no", "yes", "maybe"]).take(pa.array(y)),
        }
    )


OTHERS = ["weight", "times", "label"]


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture
def folder(table, tmp_path):
    pq.write_table(table.slice(0, 500), tmp_path / "part-1.parquet", row_group_size=150)
    pq.write_table(table.slice(500), tmp_path / "part-2.parquet", row_group_size=400)
    return tmp_path


def features(table):
    return table.drop_columns([name for name in OTHERS if name in table.column_names])


def stored(folder, table):
    return StoredRows(folder, columns=features(table).column_names)


@pytest.mark.parametrize("weights", [None, "weight", "times"])
def test_a_model_of_files_has_the_bits_of_one_of_rows_in_memory(table, folder, weights):
    weight = None if weights is None else table[weights].to_numpy()
    ours = small_margin_boost().fit(stored(folder, table), "label", weights)
    theirs = small_margin_boost().fit(features(table), table["label"], weight)
    assert_same_margin_boost(ours, theirs)
    assert list(ours.feature_names_in_) == features(table).column_names
    assert ours.calibration_rows_ is not None


def test_settings_are_decided_alike(table, folder):
    ours = MarginBoostClassifier(random_state=1, n_jobs=1).fit(stored(folder, table), "label")
    theirs = MarginBoostClassifier(random_state=1, n_jobs=1).fit(features(table), table["label"])
    assert_same_margin_boost(ours, theirs)


@pytest.mark.parametrize("settings", [{"max_bins": 16}, {"class_weight": "balanced"}])
def test_bins_and_class_weights_are_alike(table, folder, settings):
    ours = small_margin_boost(**settings).fit(stored(folder, table), "label", "weight")
    weight = table["weight"].to_numpy()
    theirs = small_margin_boost(**settings).fit(features(table), table["label"], weight)
    assert_same_margin_boost(ours, theirs)


def test_early_stopping_holds_out_the_same_rows(table, folder):
    settings = {"early_stopping": True, "n_iter_no_change": 3}
    ours = small_margin_boost(**settings).fit(stored(folder, table), "label")
    theirs = small_margin_boost(**settings).fit(features(table), table["label"])
    assert_same_margin_boost(ours, theirs)
    np.testing.assert_array_equal(ours.validation_losses_, theirs.validation_losses_)


def test_validation_rows_may_be_in_files(table, folder, tmp_path):
    other = make_table(300, seed=1)
    pq.write_table(other, tmp_path / "val.pq")
    X, X_val = features(table), features(other)
    files = [folder / "part-1.parquet", folder / "part-2.parquet"]
    ours = small_margin_boost().fit(
        StoredRows(files, X.column_names),
        "label",
        X_val=StoredRows(tmp_path / "val.pq", X.column_names),
        y_val="label",
        sample_weight_val="times",
    )
    theirs = small_margin_boost().fit(
        X,
        table["label"],
        X_val=X_val,
        y_val=other["label"],
        sample_weight_val=other["times"].to_numpy(),
    )
    assert_same_margin_boost(ours, theirs)
    np.testing.assert_array_equal(ours.validation_losses_, theirs.validation_losses_)


def test_exact_thresholds_of_many_values_need_two_bytes(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({"few": rng.integers(0, 3, 900), "many": rng.normal(size=900)})
    y = rng.integers(0, 2, 900)
    pq.write_table(table.append_column("y", pa.array(y)), tmp_path / "x.parquet")
    for settings in ({"max_bins": None}, {"min_weight_fraction_leaf": 0.1}):
        ours = MCBoostClassifier(5, **settings).fit(tmp_path / "x.parquet", "y")
        assert_same_model(ours, MCBoostClassifier(5, **settings).fit(table, y))


def test_the_number_of_threads_changes_nothing(table, folder):
    fits = [small_margin_boost(n_jobs=n).fit(stored(folder, table), "label") for n in (1, 3)]
    assert_same_margin_boost(*fits)


@pytest.mark.parametrize(
    "given",
    [
        lambda folder, table: str(folder),
        lambda folder, table: folder / "*.parquet",
        lambda folder, table: [str(folder / "part-1.parquet"), folder / "part-2.parquet"],
        lambda folder, table: pads.dataset(folder),
        lambda folder, table: table.to_reader(max_chunksize=130),
        lambda folder, table: StoredRows(table.to_batches(max_chunksize=130)),
    ],
    ids=["folder", "pattern", "list", "dataset", "reader", "batches"],
)
def test_rows_may_come_from_anywhere(table, folder, given):
    ours = small_margin_boost(2).fit(given(folder, table), "label", "weight")
    weight = table["weight"].to_numpy()
    X = table.drop_columns(["label", "weight"])
    assert_same_margin_boost(ours, small_margin_boost(2).fit(X, table["label"], weight))


def test_types_that_parquet_cannot_keep_survive_a_temporary_file(table):
    codes = np.random.default_rng(0).integers(0, 4, N)
    table = table.append_column("coded", pa.array(codes).dictionary_encode())
    X = features(table)
    theirs = small_margin_boost(2).fit(X, table["label"])
    for source in (pads.dataset(table), table.to_reader(max_chunksize=130)):
        ours = small_margin_boost(2).fit(StoredRows(source, X.column_names), "label")
        assert_same_margin_boost(ours, theirs)
    path = StoredRows(table.to_reader())
    assert path.dataset.files
    folder = path.source.parent
    assert folder.exists()
    del path
    assert not folder.exists()
    assert ours.encoding_.categories[-1] == (0.0, 1.0, 2.0, 3.0)


def test_folder_names_are_columns(tmp_path):
    rng = np.random.default_rng(0)
    parts = [
        pa.table({"x": rng.normal(size=200) + year, "y": rng.integers(0, 2, 200)})
        for year in (0, 1)
    ]
    for year, part in enumerate(parts):
        place = tmp_path / f"year={year}"
        place.mkdir()
        pq.write_table(part, place / "a.parquet")
    model = small_margin_boost(2).fit(tmp_path, "y")
    assert list(model.feature_names_in_) == ["x", "year"]


def test_labels_may_be_an_array(table, folder):
    y = np.asarray(table["label"])
    ours = small_margin_boost(2).fit(stored(folder, table), y)
    assert_same_margin_boost(ours, small_margin_boost(2).fit(features(table), y))
    with pytest.raises(ValueError, match=r"same number of rows; got 1,200 and 7"):
        small_margin_boost(2).fit(stored(folder, table), y[:7])


def test_predictions_of_files_are_those_of_rows(table, folder):
    model = small_margin_boost(3).fit(features(table), table["label"])
    X = features(table)
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, name)(folder), getattr(model, name)(X))
    weight = table["weight"].to_numpy()
    assert model.score(folder, "label", "weight") == model.score(
        X, np.asarray(table["label"]), weight
    )


def test_other_methods_read_files_into_memory(table, folder):
    model = small_margin_boost(3).fit(features(table), table["label"])
    X = features(table)
    np.testing.assert_array_equal(model.apply(folder), model.apply(X))
    np.testing.assert_array_equal(model.predict_set(folder), model.predict_set(X))
    found, known = (model.explain(rows) for rows in (folder, X))
    np.testing.assert_array_equal(found.contributions, known.contributions)
    for ours, theirs in zip(model.staged_predict(folder), model.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_tuner_needs_rows_in_memory(folder):
    with pytest.raises(
        ValueError, match="must be in memory for MarginBoostClassifierCV, got rows in files"
    ):
        MarginBoostClassifierCV().fit(folder, "label")


def test_memory_is_estimated_from_the_number_of_rows(table, folder):
    model = small_margin_boost(3)
    y = np.asarray(table["label"])
    X = np.zeros((N, features(table).num_columns))
    assert model.estimate_memory(stored(folder, table), "label") == model.estimate_memory(X, y)


def test_categories_may_be_listed(table, folder):
    wanted = ["count", "text", "large", "category", "half_empty"]
    settings = {"categorical_features": [*wanted, "empty_text"]}
    ours = small_margin_boost(3, **settings).fit(stored(folder, table), "label")
    theirs = small_margin_boost(3, **settings).fit(features(table), table["label"])
    assert_same_margin_boost(ours, theirs)
    assert ours.encoding_.categories[3] is not None


def test_values_are_read_a_few_columns_at_a_time(table, folder, monkeypatch):
    asked = []
    read = StoredRows.batches
    monkeypatch.setattr(
        StoredRows, "batches", lambda rows, names: asked.append(list(names)) or read(rows, names)
    )
    small_margin_boost(2, n_jobs=2).fit(stored(folder, table), "label", "weight")
    names = features(table).column_names
    assert asked[:2] == [["label"], ["weight"]]
    assert [name for some in asked[2:] for name in some] == names  # each once
    assert max(map(len, asked)) == 2  # one per thread


def test_values_go_once_they_are_binned(table, folder, monkeypatch):
    """Of each column that was read nothing is left when the next one is."""
    alive, read = [], stored_binning.read_columns

    def watched(*args):
        assert all(gone() is None for gone in alive)
        columns = read(*args)
        alive.extend(weakref.ref(column.matrix) for column in columns)
        return columns

    monkeypatch.setattr(stored_binning, "read_columns", watched)
    small_margin_boost(2, n_jobs=1).fit(stored(folder, table), "label")
    assert len(alive) == features(table).num_columns


def test_progress_is_shown(table, folder, capsys):
    small_margin_boost(2, verbose=1, n_jobs=1).fit(stored(folder, table), "label")
    shown = capsys.readouterr().err
    assert "13 of 13 features read" in shown
    assert 5 <= shown.count("features read") <= 10


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        ("nothing", None, r"y must name a column of X; got 'nothing'\. X has 'double', "),
        ("label", "nothing", r"sample_weight must name a column of X; got 'nothing'"),
        (None, None, r"y must name the column of X that holds the labels.* got None"),
        ("text", None, r"y must hold a label for every row; got none at row \d+"),
        ("gaps", None, r"y must hold a label for every row; got none at row \d+"),
    ],
)
def test_mistakes_are_named(folder, y, weight, message):
    with pytest.raises(ValueError, match=message):
        small_margin_boost(2).fit(folder, y, weight)


def test_columns_must_be_there_and_not_hold_labels(table, folder):
    with pytest.raises(ValueError, match=r"columns must name a column of X; got 'other'"):
        small_margin_boost(2).fit(StoredRows(folder, ["double", "other"]), "label")
    with pytest.raises(ValueError, match=r"must not hold the labels or weights; y is 'label'"):
        small_margin_boost(2).fit(StoredRows(folder, ["double", "label"]), "label")


def test_files_must_be_there(tmp_path):
    for name in ("no.parquet", "no*.parquet", ""):
        with pytest.raises(FileNotFoundError):
            small_margin_boost(2).fit(tmp_path / name, "label")


def test_an_iterable_must_yield_batches():
    with pytest.raises(ValueError, match="must yield pyarrow record batches or tables; got int"):
        small_margin_boost(2).fit(StoredRows([1, 2]), "label")
    with pytest.raises(ValueError, match="must yield at least one batch"):
        small_margin_boost(2).fit(StoredRows(iter(())), "label")


def test_some_rows_can_be_chosen(table, folder):
    kept = np.random.default_rng(0).random(N) < 0.5
    ours = small_margin_boost(2).fit(stored(folder, table).at(kept), "label")
    some = table.filter(pa.array(kept))
    assert_same_margin_boost(ours, small_margin_boost(2).fit(features(some), some["label"]))
