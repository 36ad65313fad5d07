"""Parquet tables in batches: the same models and predictions as from memory."""

import numpy as np
import polars as pl
import pytest
from support import assert_same_model

import marginboost
from marginboost.cli import stored
from marginboost.data import stored_rows


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(stored_rows, "BATCH_ROWS", 31)


@pytest.fixture
def table(folder, flowers):
    """A Parquet file with columns of all kinds, and rows without a label."""
    rng = np.random.default_rng(0)
    rows = pl.concat([flowers] * 2).with_columns(
        id=pl.Series(np.arange(300)),
        code=pl.Series(rng.integers(0, 4, 300)),
        flag=pl.Series(rng.random(300) < 0.5),
        species=pl.Series(
            [None if n % 50 == 7 else s for n, s in enumerate(flowers["species"])] * 2
        ),
    )
    rows.write_parquet("flowers.parquet", row_group_size=70)
    return "flowers.parquet"


TRAIN = ("--target", "species", "--rounds", 8, "--drop", "id", "--categorical", "code")


@pytest.mark.parametrize("more", [(), ("--test-size", 0), ("--early-stopping",)])
def test_a_model_of_batches_is_that_of_the_table(table, run, more):
    for way in ("--batches", "--no-batches"):
        result = run("train", table, *TRAIN, *more, way, "--out", f"m{way}.safetensors")
        assert result.exit_code == 0, result.stderr
        read_in_batches = "read in batches" in result.stderr
        assert read_in_batches == (way == "--batches")
        assert ("features read" in result.stderr) == read_in_batches
        assert "294 rows, 5 columns (2 categorical), 3 classes" in result.stderr
        assert "6 rows without a target were left out" in result.stderr
    ours, theirs = (
        marginboost.load(f"m{way}.safetensors") for way in ("--batches", "--no-batches")
    )
    assert_same_model(ours, theirs)


def test_the_accuracy_and_the_report_are_those_of_the_table(table, run):
    texts = []
    for way in ("--batches", "--no-batches"):
        result = run("train", table, *TRAIN, way, "--out", "m.safetensors", "--report", "r.html")
        assert result.exit_code == 0, result.stderr
        texts.append(result.stdout.split("Model:")[0])
    assert texts[0] == texts[1]


def test_other_tables_to_test_and_validate_on(table, run):
    pl.read_parquet(table).drop_nulls("species").write_parquet("other.parquet")
    for way in ("--batches", "--no-batches"):
        given = (
            "--test",
            "other.parquet",
            "--valid",
            "other.parquet",
            "--out",
            f"m{way}.safetensors",
        )
        result = run("train", table, *TRAIN, way, *given)
        assert result.exit_code == 0, result.stderr
    ours, theirs = (
        marginboost.load(f"m{way}.safetensors") for way in ("--batches", "--no-batches")
    )
    assert_same_model(ours, theirs)


def test_few_rows_are_tested(table, run, monkeypatch):
    monkeypatch.setattr("marginboost.cli.training.MOST_TEST_ROWS", 20)
    result = run("train", table, *TRAIN, "--batches", "--out", "m.safetensors")
    assert "on 20 rows not used in training" in result.stdout


def test_a_table_that_would_fill_the_memory_is_read_in_batches(table, run, monkeypatch):
    for free, batches in ((20_000, True), (10**9, False)):
        monkeypatch.setattr(stored, "available_bytes", lambda free=free: free)
        result = run("train", table, *TRAIN, "--out", "m.safetensors")
        assert result.exit_code == 0, result.stderr
        assert ("read in batches" in result.stderr) == batches


def test_batches_need_parquet(folder, flowers, run):
    flowers.write_csv("flowers.csv")
    result = run("train", "flowers.csv", *TRAIN[:2], "--batches")
    assert result.exit_code == 2
    assert "--batches needs a Parquet file" in result.stderr


@pytest.mark.parametrize("more", [(), ("--proba", "--keep", "id")])
def test_predictions_in_batches_are_those_of_the_table(table, run, monkeypatch, more):
    assert run("train", table, *TRAIN, "--out", "m.safetensors", "-q").exit_code == 0
    answers = []
    for least in (1 << 40, 0):
        monkeypatch.setattr(stored, "LARGE_BYTES", least)
        result = run("predict", "m.safetensors", table, *more)
        assert result.exit_code == 0, result.stderr
        answers.append(result.stdout)
    assert answers[0] == answers[1]
    assert answers[0].count("\n") == 301


def test_columns_to_keep_must_be_there(table, run, monkeypatch):
    assert run("train", table, *TRAIN, "--out", "m.safetensors", "-q").exit_code == 0
    monkeypatch.setattr(stored, "LARGE_BYTES", 0)
    result = run("predict", "m.safetensors", table, "--keep", "nothing")
    assert result.exit_code == 1
    assert "nothing" in result.stderr
