"""What goes wrong is said in one sentence, with status 1 or 2, and leaves files as they were."""

from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command

from marginboost import __version__
from marginboost.cli.app import app
from marginboost.cli.table import write_table

TRAIN = ("train", "flowers.csv", "--target", "species")


def fails(result, *words, status=1):
    assert result.exit_code == status, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("marginboost: ")
    assert "Traceback" not in result.stderr
    for each in words:
        assert each in result.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--target", "Specie"), "did you mean 'species'?"),
        (("--target", "q"), "The columns are 'length', 'width', 'petal', 'species'."),
        (("--drop", "lenght"), "did you mean 'length'?"),
        (("--categorical", "petals"), "did you mean 'petal'?"),
        (("--target", "width"), "must hold classes"),
        (("--out", "no/such/folder.safetensors"), "does not exist"),
        (("--out", "."), "is a folder"),
        (("--test", "absent.csv"), "absent.csv: No such file"),
        (("--drop", "length", "--drop", "width", "--drop", "petal"), "remain to learn from"),
    ],
)
def test_training(folder, flowers, run, change, words):
    flowers.write_csv("flowers.csv")
    before = Path("flowers.csv").read_text()
    result = run(*TRAIN, *change, "-q")
    fails(result, words)
    assert Path("flowers.csv").read_text() == before
    assert [path.name for path in folder.iterdir()] == ["flowers.csv"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--learning-rate", "7"), "Invalid value for '--learning-rate': "),
        (("--max-time", "0"), "Invalid value for '--max-time': "),
        (("--loss", "no"), "'--loss'"),
        (("--tarjet", "t"), "--tarjet"),
        (("--separator", "ab"), "--separator must be one"),
        (("--out", "flowers.csv"), "is an input"),
        (("--out", "other.csv"), "must not be that of a table"),
        (("--out", "other.txt"), "must not be that of a table"),
        (("--test-size", "0", "--report", "r.html"), "--report needs test rows"),
        (("--out", "a.html", "--report", "a.html"), "different files"),
        (("--test", "-", "--valid", "-"), "standard input"),
        (("--test", "test.doc"), "must end in .csv"),
    ],
)
def test_wrong_usage(folder, flowers, run, change, words):
    flowers.write_csv("flowers.csv")
    fails(run(*TRAIN, *change), words, status=2)
    assert [path.name for path in folder.iterdir()] == ["flowers.csv"]


@pytest.mark.parametrize(
    "name", ["flowers.csv", "flowers.parquet", "flowers.jsonl", "flowers.arrow"]
)
def test_a_missing_target_lists_the_columns(folder, flowers, run, name):
    with open(name, "wb") as file:
        write_table(flowers, file, name)
    words = "--target must name", "The columns are 'length', 'width', 'petal', 'species'."
    fails(run("train", name), *words, status=2)
    fails(run("train", "-", stdin="length,width,petal,species\n1,2,3,4\n"), *words, status=2)
    fails(run("train", "absent.csv"), "--target must name", status=2)
    fails(run("train", name, "--target", "Specie"), "did you mean 'species'?", words[1])


def test_many_columns_are_not_all_listed(folder, run):
    names = ",".join(f"c{n}" for n in range(1000))
    fails(run("train", "-", stdin=f"{names}\n{names}\n"), "'c39' and 960 more.", status=2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,t\n1,x\n2,x\n", "two classes or more"),
        ("a,t\n1,10\n2,11\n3,12\n4,12\n", "3 different numbers in 4 rows"),
        ("a,t\n1,\n2,\n", "empty in all"),
        ("t\nx\ny\n", "remain to learn from"),
    ],
)
def test_tables_that_cannot_be_learned_from(folder, run, content, words):
    fails(run("train", "-", "--target", "t", "-q", stdin=content), words)


def test_dates_are_no_numbers(folder, run):
    frame = pl.DataFrame({"t": ["x", "y"] * 5, "a": range(10)})
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 10), eager=True)
    frame.with_columns(day=days).write_parquet("days.parquet")
    fails(run("train", "days.parquet", "--target", "t"), "--drop day")


def test_numbers_where_text_was_trained(model, folder, run):
    table = "length,width,petal\n1,2,7\n2,3,8.5\n"
    words = "'petal' must hold text such as", "as in training; it holds numbers such as 7."
    fails(run("predict", model, "-", stdin=table), *words)
    asked = "train", "flowers.csv", "--target", "species", "-q"
    fails(run(*asked, "--test", _with_target(table)), *words)
    # Codes that are all numbers in one table, and not in the other, are no other kind.
    rows = "".join(f"{'x' if n % 2 else n % 4},{n % 2}\n" for n in range(100))
    run("train", "-", "--target", "t", "--out", "codes.safetensors", "-q", stdin=f"code,t\n{rows}")
    assert run("predict", "codes.safetensors", "-", stdin="code\n0\n2\n").exit_code == 0


def _with_target(table):
    lines = table.splitlines()
    rows = [f"{lines[0]},species", *(f"{line},setosa" for line in lines[1:])]
    with open("other.csv", "w") as file:
        file.write("\n".join(rows))
    return "other.csv"


def test_numbers_where_rare_text_was_trained(folder, run):
    rows = "".join(f"{n},{n % 7},{n % 2}\n" for n in range(100))
    asked = "--target", "t", "-q", "--rounds", 2, "--out"
    texts = "".join(f"w{line}\n" for line in rows.splitlines())
    assert run("train", "-", *asked, "text.safetensors", stdin=f"a,b,t\n{texts}").exit_code == 0
    fails(
        run("predict", "text.safetensors", "-", stdin=f"a,b,t\n{rows}"), "must hold text such as 'w"
    )
    # Numbers that were asked to be text are numbers the next time, too.
    result = run(
        "train", "-", "--categorical", "a", *asked, "n.safetensors", stdin=f"a,b,t\n{rows}"
    )
    assert result.exit_code == 0, result.stderr
    assert run("predict", "n.safetensors", "-", stdin=f"a,b,t\n{rows}").exit_code == 0


def test_decimal_commas_where_numbers_were_trained(folder, run):
    rows = "".join(f"{n / 8};{n % 2}\n" for n in range(100))
    run("train", "-", "--target", "t", "-q", "--out", "m.safetensors", stdin=f"a;t\n{rows}")
    table = "a;t\n3,5;0\n"
    fails(run("predict", "m.safetensors", "-", stdin=table), "text such as '3,5'", "`--decimal ,`")
    assert run("predict", "m.safetensors", "-", "--decimal", ",", stdin=table).exit_code == 0


def test_columns_that_are_missing_or_changed(model, flowers, run):
    fails(run("predict", model, "-", stdin="length,widht,petal\n1,2,x\n"), "did you mean 'widht'?")
    fails(run("predict", model, "-", stdin="q\n1\n"), "lacks 3", "'length', 'width', 'petal'")
    fails(run("predict", model, "-", stdin="length,width,petal\n1,wide,x\n"), "'width'", "'wide'")
    fails(run("predict", model, "flowers.csv", "--keep", "q"), "--keep")
    flowers.with_columns(prediction=1).write_csv("again.csv")
    fails(run("predict", model, "again.csv", "--keep", "prediction"), "'prediction'")
    fails(run("predict", model, "flowers.csv", "--out", "labels.doc"), ".csv", status=2)
    fails(run("predict", model, "flowers.csv", "--out", "labels.xlsx"), ".csv", status=2)
    fails(run("report", model, "flowers.csv", "--target", "petal"), "holds none of them")


def test_files_that_are_no_models(model, run):
    fails(run("inspect", "flowers.csv"), "flowers.csv is a table", status=2)
    fails(run("inspect", "."), "must be a file")
    Path("other.safetensors").write_text("not a model")
    fails(run("inspect", "other.safetensors"), "other.safetensors")
    fails(run("predict", "absent.safetensors", "flowers.csv"), "absent.safetensors")


def test_an_output_is_whole_or_as_it_was(model, run, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    Path("labels.csv").write_text("old")
    monkeypatch.setattr("marginboost.model.file.os.fsync", full)
    fails(run("predict", model, "flowers.csv", "--out", "labels.csv"), "No space left")
    assert Path("labels.csv").read_text() == "old"


@pytest.mark.parametrize("how", ["option", "environment"])
def test_debugging_shows_where(folder, run, how, monkeypatch):
    if how == "environment":
        monkeypatch.setenv("MARGINBOOST_DEBUG", "1")
    result = run(*(["--debug"] if how == "option" else []), *TRAIN)
    assert isinstance(result.exception, FileNotFoundError)


def test_bugs_are_not_hidden(model, run, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("marginboost.cli.prediction.read_table", broken)
    assert isinstance(run("predict", model, "flowers.csv").exception, ZeroDivisionError)


def test_usage(run):
    assert run("--version").stdout == f"marginboost {__version__}\n"
    assert run("train", "x.csv").exit_code == 2
    assert run("train", "x.csv", "--target", "t", "--loss", "no").exit_code == 2
    for command in ("train", "predict", "inspect", "report", "demo"):
        assert run(command, "--help").exit_code == 0
    fails(run("tain", "x.csv"), "No such command 'tain'", status=2)
    fails(run("--versoin"), "--versoin", "See: marginboost --help", status=2)
    fails(run("predict"), "MODEL", "See: marginboost predict --help", status=2)
    helped = run()
    assert helped.exit_code == 2
    assert "marginboost demo" in helped.output


def test_defaults_are_in_the_help(run):
    """Every option that takes a value says what it is without one."""
    for name, command in get_command(app).commands.items():
        taking = [
            parameter.name
            for parameter in command.params
            if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
        ]
        taking = set(taking) - {"target"}  # which must be given
        shown = run(name, "--help", env={"COLUMNS": "300"}).output
        lines = [line for line in shown.splitlines() if "[default:" in line]
        for option in taking:
            words = f"--{option.replace('_', '-')} "
            assert any(words in line for line in lines), f"{name} {words}"


def test_the_command_that_has_moved(run):
    result = run("reproduce", "all", "--small", "--data", "a b")
    assert result.exit_code == 2
    assert result.stderr == (
        "marginboost: reproduce has moved; in a checkout of the repository, run: "
        "python -m experiments all --small --data 'a b'\n"
    )
    assert "reproduce" not in run("--help").stdout
