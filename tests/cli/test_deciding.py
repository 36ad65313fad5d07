"""`predict` with prediction sets, and at other class frequencies."""

import io
import re

import numpy as np
import pytest

import marginboost
from marginboost.cli.features import features_for

pl = pytest.importorskip("polars")


def read(result):
    assert result.exit_code == 0, result.stderr
    return pl.read_csv(io.StringIO(result.stdout))


def test_sets_are_labels_with_bars_between_them(model, flowers, run):
    table = read(run("predict", model, "flowers.csv", "--sets", 0.9, "--proba"))
    assert table.columns[:2] == ["prediction", "prediction_set"]
    loaded = marginboost.load(model)
    sets = loaded.predict_set(features_for(loaded, flowers), 0.9)
    for row, text in zip(sets, table["prediction_set"], strict=True):
        assert text.split("|") == loaded.classes_[row].tolist()
    by_class = read(run("predict", model, "flowers.csv", "--sets", 0.8, "--sets-kind", "class"))
    sets = loaded.predict_set(features_for(loaded, flowers), 0.8, "class")
    assert [len(text.split("|")) for text in by_class["prediction_set"]] == sets.sum(
        axis=1
    ).tolist()


def test_too_few_rows_are_noted(model, run):
    result = run("predict", model, "flowers.csv", "--sets", 0.999)
    assert result.exit_code == 0
    assert "Note: A coverage of 0.999 needs at least 999 held-out rows" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "setosa=0.98, versicolor=0.01,virginica=0.01",
        '{"setosa": 98, "versicolor": 1, "virginica": 1}',
    ],
)
def test_other_frequencies(model, flowers, run, text):
    table = read(run("predict", model, "flowers.csv", "--proba", "--class-frequencies", text))
    loaded = marginboost.load(model)
    shares = {"setosa": 0.98, "versicolor": 0.01, "virginica": 0.01}
    copy = loaded.with_class_frequencies(shares)
    expected = copy.predict_proba(features_for(loaded, flowers))
    found = table.select(pl.col("^probability_.*$")).to_numpy()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert table["prediction"].to_list() == copy.classes_[expected.argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("setosa", "must name classes of the model, as in setosa=0.9,versicolor=0.1; got 'setosa'"),
        ("rose=1", "must name classes of the model, .*; got 'rose'"),
        ("setosa=many", "must have a number after each class; got 'many' for setosa"),
        ("setosa=1", "it lacks 'versicolor', 'virginica'"),
        ('{"setosa": ', "must be valid JSON"),
    ],
)
def test_frequencies_that_are_none(model, run, text, message):
    result = run("predict", model, "flowers.csv", "--class-frequencies", text)
    assert result.exit_code == 1
    assert re.search(message, result.stderr), result.stderr


def test_models_and_labels_without_sets(folder, flowers, run):
    flowers.write_csv("flowers.csv")
    trained = ("train", "flowers.csv", "--target", "species", "-q", "--out", "m.safetensors")
    assert run(*trained, "--method", "mcboost", "--rounds", 5).exit_code == 0
    result = run("predict", "m.safetensors", "flowers.csv", "--sets", 0.9)
    assert result.exit_code == 1
    assert "predict_set needs rows that the fit held out" in result.stderr
    barred = flowers.with_columns(pl.col("species").str.replace("setosa", "a|b"))
    barred.write_csv("flowers.csv")
    assert run(*trained, "--rounds", 5).exit_code == 0
    result = run("predict", "m.safetensors", "flowers.csv", "--sets", 0.9)
    assert result.exit_code == 1
    assert "no label must hold it; got 'a|b'" in result.stderr
    assert run("predict", "m.safetensors", "flowers.csv", "--sets", 2).exit_code == 1
