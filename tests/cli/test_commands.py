"""Commands, run in this process."""

import io
import json
import threading
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import marginboost
from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.cli.features import expected_text, text_columns
from marginboost.cli.table import read_table
from marginboost.estimators import loading


def test_training_says_how_good_it_is(folder, flowers, run):
    flowers.write_csv("flowers.csv")
    result = run("train", "flowers.csv", "--target", "species", "--rounds", 10)
    assert result.exit_code == 0, result.stderr
    assert "150 rows, 3 columns (1 categorical), 3 classes" in result.stderr
    assert "on 30 rows not used in training" in result.stdout
    accuracy = float(result.stdout.split()[1])
    assert 90.0 <= accuracy <= 100.0
    assert "Model: flowers.safetensors" in result.stdout
    assert [path.name for path in folder.glob("*") if "csv" not in path.name] == [
        "flowers.safetensors"
    ]


def test_the_kept_model_is_the_measured_one(folder, flowers, run):
    """The same rows and settings in Python give the same model."""
    flowers.write_csv("flowers.csv")
    run("train", "flowers.csv", "--target", "species", "--rounds", 5, "--test", "flowers.csv")
    X = flowers.drop("species")
    expected = MarginBoostClassifier(5, random_state=0).fit(X, flowers["species"].to_numpy())
    found = marginboost.load("flowers.safetensors")
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert found.get_params() == expected.get_params()


def test_settings_reach_the_classifier(folder, flowers, run):
    flowers.write_parquet("flowers.parquet")
    result = run(
        *(
            "train",
            "flowers.parquet",
            "--target",
            "species",
            "--out",
            "m.safetensors",
            "--rounds",
            7,
        ),
        *("--method", "mcboost", "--loss", "logistic", "--learning-rate", 0.25, "--drop", "petal"),
        *("--max-time", 100, "--test-size", 0),
    )
    assert result.exit_code == 0, result.stderr
    assert "Accuracy" not in result.stdout
    model = marginboost.load("m.safetensors")
    assert isinstance(model, MCBoostClassifier)
    assert (model.n_iter_, model.loss, model.learning_rate, model.max_time) == (
        7,
        "logistic",
        0.25,
        100,
    )
    assert list(model.feature_names_in_) == ["length", "width"]


def test_rows_to_watch_stop_the_training(folder, flowers, run):
    flowers[::2].write_csv("flowers.csv")
    flowers[1::2].write_csv("valid.csv")
    result = run(
        *("train", "flowers.csv", "--target", "species", "--valid", "valid.csv", "--rounds", 500),
    )
    assert result.exit_code == 0, result.stderr
    model = marginboost.load("flowers.safetensors")
    assert model.early_stopping
    assert model.stop_reason_ == "early_stopping"
    assert model.n_iter_ < 500


def test_codes_are_categories_where_asked_for(folder, run):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 8, 400)
    pl.DataFrame({"code": code, "odd": code % 2}).write_csv("codes.csv")
    asked = ("train", "codes.csv", "--target", "odd", "--rounds", 5)
    assert run(*asked, "--categorical", "code").exit_code == 0
    model = marginboost.load("codes.safetensors")
    assert model.encoding_.categories[0] == tuple("01234567")
    result = run("predict", "codes.safetensors", "codes.csv")
    found = pl.read_csv(io.StringIO(result.stdout))["prediction"].to_numpy()
    assert np.mean(found == code % 2) > 0.95


def test_warnings_about_columns_and_rows(folder, flowers, run):
    rows = flowers.with_columns(
        pl.Series("id", [f"flower {n}" for n in range(150)]),
        pl.when(pl.int_range(pl.len()) < 3)
        .then(None)
        .otherwise(pl.col("species"))
        .alias("species"),
    )
    rows.write_csv("flowers.csv")
    result = run("train", "flowers.csv", "--target", "species", "--rounds", 2)
    assert result.exit_code == 0, result.stderr
    assert "3 rows without a target were left out" in result.stderr
    assert "--drop id" in result.stderr
    assert "--drop petal" not in result.stderr
    assert run("train", "flowers.csv", "--target", "species", "--rounds", 2, "-q").output == ""


@pytest.mark.parametrize("separator", [",", ";"])
def test_decimal_commas(folder, run, separator):
    rng = np.random.default_rng(0)
    amount = rng.normal(size=300) * 2000
    kind = np.where(amount > 0, "more", "less")
    texts = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in amount]
    table = pl.DataFrame({"amount": texts, "noise": rng.integers(0, 9, 300), "kind": kind})
    table.write_csv("shop.csv", separator=separator)
    lost = run("train", "shop.csv", "--target", "kind", "--rounds", 5)
    assert lost.exit_code == 0
    assert "Warning: Column 'amount' holds text, and none of its" in lost.stderr
    assert "look like numbers with decimal commas" in lost.stderr
    assert (
        "read decimal commas with `--decimal ,`, or leave it out with --drop amount" in lost.stderr
    )
    found = run("train", "shop.csv", "--target", "kind", "--rounds", 5, "--decimal", ",")
    assert found.exit_code == 0
    assert "Warning" not in found.stderr
    assert float(found.stdout.split()[1]) > 95 > float(lost.stdout.split()[1])
    for command in (["predict"], ["report", "--target", "kind"]):
        again = run(command[0], "shop.safetensors", "shop.csv", "--decimal", ",", *command[1:])
        assert again.exit_code == 0, again.stderr


def test_dates_are_pointed_out(folder, flowers, run):
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 12, 31), eager=True).dt.strftime(
        "%d.%m.%Y"
    )
    flowers.with_columns(the_day=days[:150]).write_csv("flowers.csv")
    result = run("train", "flowers.csv", "--target", "species", "--rounds", 2)
    assert "Warning: Column 'the_day' holds text" in result.stderr
    assert "look like dates" in result.stderr
    assert "put numbers in its place" in result.stderr
    assert "--drop the_day" in result.stderr


def test_a_class_of_one_row_is_trained_on(folder, flowers, run):
    rare = flowers[:1].with_columns(pl.lit("rare").alias("species"))
    pl.concat([flowers, rare]).write_csv("flowers.csv")
    assert run("train", "flowers.csv", "--target", "species", "--rounds", 2).exit_code == 0
    assert "rare" in marginboost.load("flowers.safetensors").classes_


def test_prediction_finds_columns_by_name(model, flowers, run):
    X = flowers.drop("species")
    expected = marginboost.load(model)
    shuffled = flowers.with_columns(pl.Series("id", range(150))).select(
        "id", "petal", "width", "length"
    )
    shuffled.write_csv("new.csv")
    result = run("predict", model, "new.csv", "--proba", "--keep", "id")
    assert result.exit_code == 0, result.stderr
    answer = pl.read_csv(io.StringIO(result.stdout))
    assert answer.columns == ["id", "prediction", *(f"probability_{c}" for c in expected.classes_)]
    assert answer["id"].to_list() == list(range(150))
    assert answer["prediction"].to_list() == expected.predict(X).tolist()
    assert np.array_equal(answer[:, 2:].to_numpy(), expected.predict_proba(X))


@pytest.mark.parametrize("out", ["labels.csv", "labels.tsv", "labels.csv.gz", "labels.parquet"])
def test_predictions_in_files(model, flowers, run, out):
    result = run("predict", model, "flowers.csv", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "150 rows" in result.stderr
    assert result.stdout == ""
    again = run("predict", model, "flowers.csv", "--out", out)  # replaces it
    assert again.exit_code == 0
    read = pl.read_parquet if out.endswith("parquet") else pl.read_csv
    labels = read(out, **({"separator": "\t"} if out.endswith("tsv") else {}))["prediction"]
    assert (labels == flowers["species"]).mean() > 0.9


def test_the_standard_input(model, run):
    content = Path("flowers.csv").read_text()
    assert (
        run("predict", model, "-", stdin=content).stdout
        == run("predict", model, "flowers.csv").stdout
    )
    result = run("train", "-", "--target", "species", "--rounds", 2, stdin=content)
    assert "Model: model.safetensors" in result.stdout


def test_a_table_is_read_while_the_model_is_loaded(model, run, monkeypatch):
    events = []
    reading = threading.Event()

    def read(*arguments):
        reading.set()
        events.append(threading.current_thread() is threading.main_thread())
        return read_table(*arguments)

    def load(path):
        assert reading.wait(60)
        return loading.load(path)

    monkeypatch.setattr("marginboost.cli.prediction.read_table", read)
    monkeypatch.setattr(marginboost, "load", load)
    assert run("predict", model, "flowers.csv").exit_code == 0
    assert events == [False]


@pytest.mark.parametrize("columns", [["length", "petal"], ["petal"], ["width"], None])
def test_what_a_model_expects_is_known_before_it_is_loaded(folder, flowers, columns):
    rare = pl.Series("name", [f"n{n}" for n in range(150)])
    X = (
        flowers.with_columns(rare).select(["name", *columns])
        if columns
        else flowers[:, :2].to_numpy()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = MarginBoostClassifier(2, random_state=0).fit(X, flowers["species"].to_numpy())
    fitted.save("m.safetensors")
    assert expected_text(Path("m.safetensors")) == text_columns(fitted)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x02" + b"\0" * 7 + b"{}", b"\xff" * 20])
def test_what_is_no_model_expects_nothing(folder, content):
    Path("m.safetensors").write_bytes(content)
    assert expected_text(Path("m.safetensors")) == []


def test_unseen_categories_and_missing_cells_are_predicted(model, run):
    new = "length,width,petal\n5.1,,short\n,0.2,enormous\nNA,2.0,\n"
    result = run("predict", model, "-", stdin=new)
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == 4


def test_inspection(model, run):
    result = run("inspect", model)
    assert result.exit_code == 0, result.stderr
    for words in (
        "MarginBoostClassifier",
        "'setosa', 'versicolor'",
        "n_estimators=10",
        "3 categories",
    ):
        assert words in result.stdout
    facts = json.loads(run("inspect", model, "--json").stdout)
    fitted = marginboost.load(model)
    assert facts["classes"] == fitted.classes_.tolist()
    assert [column["name"] for column in facts["columns"]] == ["length", "width", "petal"]
    importances = [column["importance"] for column in facts["columns"]]
    assert np.array_equal(importances, fitted.feature_importances_)
    assert facts["rounds"] == 10
    assert facts["class_frequencies"]["training"] == fitted.training_frequencies_.tolist()
    assert "frequencies 'setosa' 33" in result.stdout
    assert "at work" not in result.stdout


def test_inspection_of_other_frequencies(model, run):
    shares = {"setosa": 0.9, "versicolor": 0.05, "virginica": 0.05}
    marginboost.load(model).with_class_frequencies(shares).save("other.safetensors")
    result = run("inspect", "other.safetensors")
    assert "at work     'setosa' 90" in result.stdout


def test_reports_at_other_frequencies(model, run):
    shares = "setosa=0.98,versicolor=0.01,virginica=0.01"
    pages = []
    for more in ((), ("--class-frequencies", shares)):
        result = run("report", model, "flowers.csv", "--target", "species", *more)
        assert result.exit_code == 0, result.stderr
        pages.append(Path("flowers.html").read_text())
    assert pages[0] != pages[1]
    result = run("report", model, "flowers.csv", "--target", "species", *more[:1], "rose=1")
    assert result.exit_code != 0
    assert "must name classes of the model" in result.stderr


def test_reports(model, run):
    result = run("report", model, "flowers.csv", "--target", "species")
    assert result.exit_code == 0, result.stderr
    page = Path("flowers.html").read_text()
    assert "versicolor" in page
    assert run(
        "train", "flowers.csv", "--target", "species", "--rounds", 2, "--report", "r.html"
    ).stdout
    assert "species in flowers.csv" in Path("r.html").read_text()


def test_models_that_know_no_names(folder, run):
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    MarginBoostClassifier(3, random_state=0).fit(X, X[:, 0] > 0.5).save("m.safetensors")
    table = pl.DataFrame(X, schema=["a", "b"])
    table.write_csv("two.csv")
    assert run("predict", "m.safetensors", "two.csv").stdout.startswith("prediction\n")
    table.with_columns(c=1).write_csv("three.csv")
    result = run("predict", "m.safetensors", "three.csv")
    assert (result.exit_code, "2 columns" in result.stderr) == (1, True)
    assert "column 1" in run("inspect", "m.safetensors").stdout


def test_the_demo(folder, run):
    result = run("demo")
    assert result.exit_code == 0, result.stderr
    assert "Accuracy 9" in result.stderr
    assert (folder / "marginboost-demo.html").stat().st_size > 1000


# --- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parameters", "line"),
    [
        (["--no-interactions"], {"interaction_cst": "no_interactions"}, "no columns interact"),
        (["--interactions", "pairwise"], {"interaction_cst": "pairwise"}, "at most two columns"),
        (
            ["--interactions", "length, width;petal"],
            {"interaction_cst": [["length", "width"], ["petal"]]},
            "only columns of one group interact: length + width; petal",
        ),
        (
            ["--interactions", "groups.txt"],
            {"interaction_cst": [["width"], ["length", "petal"]]},
            "only columns of one group interact: width; length + petal",
        ),
        (
            ["--monotonic", "width=virginica>setosa", "--monotonic", "width=versicolor>setosa"],
            {"monotonic_cst": {"width": {("virginica", "setosa"): 1, ("versicolor", "setosa"): 1}}},
            "virginica against setosa never falls with width",
        ),
    ],
)
def test_constraints(folder, flowers, run, options, parameters, line):
    flowers.write_csv("flowers.csv")
    Path("groups.txt").write_text("width\nlength,petal\n", "utf-8")
    arguments = ("flowers.csv", "--target", "species", "--rounds", 5, "--report", "r.html")
    result = run("train", *arguments, *options)
    assert result.exit_code == 0, result.stderr
    model = marginboost.load("flowers.safetensors")
    assert parameters.items() <= model.get_params().items()
    assert line in run("inspect", "flowers.safetensors").stdout
    assert line in Path("r.html").read_text("utf-8")
    facts = json.loads(run("inspect", "flowers.safetensors", "--json").stdout)
    assert set(parameters) <= set(facts["parameters"])


def test_a_sign_for_two_classes(folder, flowers, run):
    flowers.filter(pl.col("species") != "setosa").write_csv("two.csv")
    rules = ("--monotonic", "width=+1", "--monotonic", "length=-1")
    result = run("train", "two.csv", "--target", "species", "--rounds", 5, *rules)
    assert result.exit_code == 0, result.stderr
    model = marginboost.load("two.safetensors")
    assert model.monotonic_cst == {"width": 1, "length": -1}
    shown = run("inspect", "two.safetensors").stdout
    assert "virginica against versicolor never falls with width" in shown
    assert "versicolor against virginica never falls with length" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interactions", "length,height"], "--interactions must name columns of the table"),
        (["--monotonic", "width"], "--monotonic must name columns of the table"),
        (["--monotonic", "width=2"], "must be COLUMN=+1, COLUMN=-1, or COLUMN=A>B"),
        (["--monotonic", "width=rose>setosa"], "must be COLUMN=+1, COLUMN=-1, or COLUMN=A>B"),
        (["--monotonic", "width=1"], "name two classes where there are more than two"),
        (["--monotonic", "width=1", "--monotonic", "width=virginica>setosa"], "not both"),
        (["--no-interactions", "--interactions", "pairwise"], "must not be given together"),
        (["--no-interactions", "--method", "mcboost"], "must come with --method marginboost"),
    ],
)
def test_constraints_that_are_refused(folder, flowers, run, options, message):
    flowers.write_csv("flowers.csv")
    result = run("train", "flowers.csv", "--target", "species", "--rounds", 2, *options)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
