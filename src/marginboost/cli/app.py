"""The commands and their help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from marginboost import __version__
from marginboost.cli.demo import run_demo
from marginboost.cli.failure import Commands
from marginboost.cli.inspection import inspect_model
from marginboost.cli.prediction import predict_table
from marginboost.cli.reporting import report_on
from marginboost.cli.reproduction import PageRequest, Request, reproduce_experiments
from marginboost.cli.training import Measuring, Settings, Source, train_model

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

LEARNING, STOPPING, MEASURING = "How to learn", "When to stop", "How to measure"
TABLES = "CSV, TSV or Parquet, by its name, also .csv.gz; - is CSV on the standard input."

Table = Annotated[str, typer.Argument(metavar="FILE", help=f"The table: {TABLES}", show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Target = Annotated[
    str, typer.Option(metavar="COLUMN", help="The column that holds the classes.", show_default=False)
]


class DecimalMark(StrEnum):
    """What stands before the fraction of a number."""

    point = "."
    comma = ","


Decimal = Annotated[
    DecimalMark,
    typer.Option(metavar="MARK", help="Of numbers in the table: . or , as in 3,14 and 1.234,5."),
]


class MethodName(StrEnum):
    """The methods that can be chosen here; Python has eight more."""

    marginboost = "marginboost"
    mcboost = "mcboost"


class LossName(StrEnum):
    """The losses."""

    exponential = "exponential"
    logistic = "logistic"


class DeviceName(StrEnum):
    """Where to fit."""

    cpu = "cpu"
    cuda = "cuda"


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"marginboost {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="MARGINBOOST_DEBUG", help="Show where an error arose.")
    ] = False,
) -> None:
    """Boosting for many classes: train on a table, predict, look into the model.

    [bold]Start here[/bold]

      marginboost demo
      marginboost train flowers.csv --target species
      marginboost predict flowers.safetensors new.csv --out labels.csv

    [bold]Status[/bold]: 0 done, 1 failed (one sentence says why), 2 wrong usage, 130 Ctrl-C.
    """


@app.command()
def train(
    file: Table,
    target: Target,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to leave out; may be repeated."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Numbers that are names (codes); may be repeated."),
    ] = None,
    decimal: Decimal = DecimalMark.point,
    out: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="The model. Else: FILE's name, .safetensors, here."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="HTML", help="Write a report on the measured rows, too."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    test_size: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=0.9,
            help="Share of the rows to measure on; 0 learns from all.",
            rich_help_panel=MEASURING,
        ),
    ] = 0.2,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Measure on this table; hold out nothing.", rich_help_panel=MEASURING
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The most rounds.", rich_help_panel=LEARNING),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="Above 0, at most 1; less needs more rounds.", rich_help_panel=LEARNING
        ),
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="NAME",
            help="marginboost: a tree a round; mcboost: the paper's, a stump a round.",
            rich_help_panel=LEARNING,
        ),
    ] = MethodName.marginboost,
    loss: Annotated[
        LossName,
        typer.Option(
            metavar="NAME",
            help="exponential, or logistic where labels are noisy.",
            rich_help_panel=LEARNING,
        ),
    ] = LossName.exponential,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="The same seed gives the same model.", rich_help_panel=LEARNING
        ),
    ] = 0,
    early_stopping: Annotated[
        bool | None,
        typer.Option(
            "--early-stopping/--no-early-stopping",
            help="Stop when rows that are held back are predicted no better any more.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The rows to hold back; else a tenth of the training rows. Asks for early stopping.",
            rich_help_panel=STOPPING,
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop after the round that passes this.", rich_help_panel=STOPPING
        ),
    ] = None,
) -> None:
    """Train a model on a table, and say how good it is.

    A fifth of the rows is held out: the model never sees them. Its accuracy on
    them is printed, beside that of always naming the most frequent class. The
    model that is measured is the one that is kept. --test-size 0 learns from
    all rows, and measures nothing.

    Text columns are categories; dates and rare values are pointed out. Empty
    cells, NA and NaN are missing values.
    A file of the same name is replaced once the new one is complete; a table
    never is. Ctrl-C ends the training and keeps the model so far.

    [bold]Examples[/bold]

      marginboost train flowers.csv --target species
      marginboost train shop.parquet --target bought --drop id --report shop.html
      marginboost train big.csv.gz --target kind --rounds 1000 --early-stopping
    """
    train_model(
        Source(file, target, drop or [], categorical or [], decimal.value),
        out,
        Settings(method.value, loss.value, rounds, learning_rate, max_time, early_stopping, seed),
        Measuring(test, test_size, valid, report),
        quiet=quiet,
    )


@app.command()
def predict(
    model: Model,
    file: Table,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV, TSV or Parquet. Else: CSV on the standard output."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column with the probability of each class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of the table to copy; may be repeated."),
    ] = None,
    decimal: Decimal = DecimalMark.point,
) -> None:
    """Predict the class of every row of a table.

    Columns are found by their names: their order does not matter, others are
    ignored, and none of the model's may be missing. The answer is in the column
    [bold]prediction[/bold]. A file of the same name is replaced.

    [bold]Examples[/bold]

      marginboost predict flowers.safetensors new.csv
      marginboost predict flowers.safetensors new.csv --proba --keep id --out new.parquet
      cat new.csv | marginboost predict flowers.safetensors - | head
    """
    predict_table(model, file, out, proba, keep or [], decimal.value)


@app.command()
def inspect(
    model: Model,
    json: Annotated[bool, typer.Option("--json", help="All of it, for programs.")] = False,
) -> None:
    """Show what is in a model file.

    Its classes, its columns and how important they are, its parameters.

    [bold]Examples[/bold]

      marginboost inspect flowers.safetensors
      marginboost inspect flowers.safetensors --json
    """
    inspect_model(model, json)


@app.command()
def report(
    model: Model,
    file: Table,
    target: Target,
    out: Annotated[
        Path | None,
        typer.Option(metavar="HTML", help="Where it goes. Else: the model's name with .html, here."),
    ] = None,
    decimal: Decimal = DecimalMark.point,
) -> None:
    """Write a report on how a model does on a table.

    It is one HTML file that needs no network. Use rows that the model was not trained on.

    [bold]Example[/bold]

      marginboost report flowers.safetensors test.csv --target species
    """
    report_on(model, file, target, out, decimal.value)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="HTML", help="Where the report goes.")] = Path(
        "marginboost-demo.html"
    ),
) -> None:
    """Train on handwritten digits, print the result and write a report.

    Takes some seconds and needs no download.
    """
    run_demo(out)


@app.command()
def reproduce(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Experiments, or all; none lists them.", show_default=False),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Random draws of the data. Else: a few; the paper has mostly 50."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Trials at a time. Else: as many as cores.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this data set; may be repeated."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this method; may be repeated."),
    ] = None,
    device: Annotated[
        DeviceName,
        typer.Option(metavar="NAME", help="cpu, or cuda: fit on a GPU, where that is worth it."),
    ] = DeviceName.cpu,
    small: Annotated[
        bool, typer.Option("--small", help="Small versions: all within half an hour on two cores.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where results go. Else, in the checkout: out/reproduce, or out/reproduce-small.",
        ),
    ] = None,
    page_from: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Run nothing: make the page from the results in a folder."),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With --page-from: the page in Markdown here as well."),
    ] = None,
) -> None:
    """Run the experiments of the paper again, and set the numbers beside the paper's.

    To be run inside a checkout of the repository, which has the experiments.
    Writes a JSON file with every trial, and a page with tables, plots and
    verdicts: results.md and results.html. Ctrl-C keeps what is done; the same
    command goes on from there, and more repeats add to those that are there.

    [bold]Examples[/bold]

      marginboost reproduce
      marginboost reproduce table1 --repeats 50
      marginboost reproduce table5 --data wine --data glass --method exp
      marginboost reproduce all --small --jobs 2
      marginboost reproduce --page-from experiments/results --docs docs
    """
    debug = bool(ctx.find_root().params.get("debug"))
    request = Request(names or (), repeats, jobs, data or (), method or (), device.value, small)
    reproduce_experiments(request, out, PageRequest(page_from, docs), debug=debug)
