"""What mistakes cost and the order of the classes, at the command line."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import marginboost


def write_survey():
    """Write rows with three ordered classes, which text does not sort as they are ordered."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    x = y + rng.normal(0, 0.8, 300)
    names = np.array(["low", "mid", "high"])[y]
    pl.DataFrame({"x": x, "z": rng.normal(size=300), "answer": names}).write_csv("survey.csv")


def test_the_order_of_the_classes(folder, run):
    write_survey()
    command = ("train", "survey.csv", "--target", "answer", "--rounds", 5)
    result = run(*command, "--order", "low,mid,high", "--report", "r.html")
    assert result.exit_code == 0, result.stderr
    assert "Mean cost " in result.stdout
    assert "Mean absolute error, in classes, " in result.stdout
    assert "(always 'mid': " in result.stdout
    report = Path("r.html").read_text("utf-8")
    assert "mean absolute error" in report
    assert "low &lt; mid &lt; high" in report
    model = marginboost.load("survey.safetensors")
    assert model.class_ranks_.tolist() == [2, 0, 1]
    shown = " ".join(run("inspect", "survey.safetensors").stdout.split())
    assert "order 'low' < 'mid' < 'high'" in shown
    assert "costs the dearest first: 'high' as 'low': 2" in shown
    facts = json.loads(run("inspect", "survey.safetensors", "--json").stdout)
    assert facts["order"] == ["low", "mid", "high"]
    assert facts["costs"] == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    wrong = run(*command, "--order", "low,high")
    assert wrong.exit_code == 1
    assert "--order must name every class; it lacks 'mid'." in wrong.stderr
    wrong = run(*command, "--order", "low,mid,high,top")
    assert "--order must name classes of the target" in wrong.stderr


def test_costs_from_files(folder, run):
    write_survey()
    Path("costs.csv").write_text("answer,high,low,mid\nlow,9,0,1\nmid,4,,0\n")
    costs = {"low": {"high": 9, "low": 0, "mid": 1}, "mid": {"high": 4, "mid": 0}}
    Path("costs.json").write_text(json.dumps(costs))
    command = ("train", "survey.csv", "--target", "answer", "--rounds", 5)
    for file in ("costs.csv", "costs.json"):
        result = run(*command, "--costs", file)
        assert result.exit_code == 0, result.stderr
        assert "Mean cost " in result.stdout
        assert "absolute" not in result.stdout
        model = marginboost.load("survey.safetensors")
        assert model.cost_matrix_.tolist() == [[0, 1, 1], [9, 0, 1], [4, 1, 0]]
    X = pl.read_csv("survey.csv").drop("answer")
    expected = model.predict(X)
    assert (expected != model.with_costs(None).predict(X)).any()
    for more in ((), ("--proba",)):
        run("predict", "survey.safetensors", "survey.csv", "--out", "p.csv", *more)
        assert pl.read_csv("p.csv")["prediction"].to_list() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("costs.json", "[", "costs.json must hold JSON"),
        ("costs.json", "[1]", "must hold costs by true and predicted class"),
        ("costs.json", '{"low": {"hihg": 1}}', "must name classes of the target"),
        ("costs.json", '{"low": {"high": -1}}', "finite numbers, 0 or more; got -1"),
        ("costs.csv", "answer\nlow\n", "one column of costs per predicted class; it has 1"),
        ("costs.csv", "answer,high\nlow,a\n", "must hold numbers as costs; column 'high'"),
        ("costs.csv", "answer,high\nlow,1\nlow,2\n", "one row per true class"),
    ],
)
def test_files_that_hold_no_costs(name, text, words, folder, run):
    write_survey()
    Path(name).write_text(text)
    result = run("train", "survey.csv", "--target", "answer", "--rounds", 2, "--costs", name)
    assert result.exit_code == 1
    assert words in result.stderr
    assert not Path("survey.safetensors").exists()
