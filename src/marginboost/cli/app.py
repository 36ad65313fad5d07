"""The commands and their help."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from marginboost import __version__
from marginboost.cli.checks import check_model, check_predicted, check_source, check_tables
from marginboost.cli.failure import WRONG_USAGE, Commands, fail
from marginboost.cli.formats import Dialect, separator_from
from marginboost.cli.options import (
    Decimal,
    DecimalMark,
    Frequencies,
    Model,
    Separator,
    SetKind,
    Sets,
    SetsKind,
    Table,
    Target,
)
from marginboost.cli.output import check_output
from marginboost.cli.train_command import train

# Commands import what they need when they run, after fast checks of what they were asked for.

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"marginboost {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="MARGINBOOST_DEBUG", help="Show the traceback of an error."),
    ] = False,
) -> None:
    """Multi-class boosting: train on a table, predict, inspect the model.

    [bold]Start here[/bold]

      marginboost demo
      marginboost train flowers.csv --target species
      marginboost predict flowers.safetensors new.csv --out labels.csv

    [bold]Exit status[/bold]: 0 success, 1 failure (one sentence says why), 2 wrong usage, 130 Ctrl-C.
    """


app.command()(train)


@app.command()
def predict(
    model: Model,
    file: Table,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=".csv, .tsv, .txt or .jsonl (also .gz), .parquet, .arrow or .feather.",
            show_default="CSV on the standard output",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column with the probability of each class.")
    ] = False,
    sets: Sets = None,
    sets_kind: SetsKind = SetKind.marginal,
    class_frequencies: Frequencies = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the table to copy; may be repeated.",
            show_default="none",
        ),
    ] = None,
    decimal: Decimal = DecimalMark.point,
    separator: Separator = None,
) -> None:
    """Predict the class of every row of a table.

    Columns are matched by name: their order does not matter, other columns are
    ignored, and none of the model's may be missing. The predicted class is in the
    column [bold]prediction[/bold]. An existing file is replaced.

    [bold]Examples[/bold]

      marginboost predict flowers.safetensors new.csv
      marginboost predict flowers.safetensors new.csv --proba --keep id --out new.parquet
      marginboost predict flowers.safetensors new.csv --sets 0.9
      cat new.csv | marginboost predict flowers.safetensors - | head
    """
    dialect = Dialect(decimal.value, separator_from(separator))
    check_model(model)
    check_tables(file)
    if out is not None:
        check_output(out, (str(model), file), table=True)
    check_predicted(model, file, keep or [], dialect)

    from marginboost.cli.deciding import Deciding  # noqa: PLC0415 - slow to import
    from marginboost.cli.prediction import predict_table  # noqa: PLC0415 - slow to import

    deciding = Deciding(sets, sets_kind.value, class_frequencies)
    predict_table(model, file, out, proba, keep or [], dialect, deciding)


@app.command()
def inspect(
    model: Model,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what is in a model file.

    Its classes, its columns with their importance, and its parameters.

    [bold]Examples[/bold]

      marginboost inspect flowers.safetensors
      marginboost inspect flowers.safetensors --json
    """
    check_model(model)

    from marginboost.cli.inspection import inspect_model  # noqa: PLC0415 - slow to import

    inspect_model(model, json)


@app.command()
def report(
    model: Model,
    file: Table,
    target: Target = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML",
            help="The report file.",
            show_default="MODEL's name with .html, here",
        ),
    ] = None,
    class_frequencies: Frequencies = None,
    decimal: Decimal = DecimalMark.point,
    separator: Separator = None,
) -> None:
    """Write a report on how well a model predicts a table.

    The report is one self-contained HTML file. Use rows that the model was not trained on.

    [bold]Example[/bold]

      marginboost report flowers.safetensors test.csv --target species
    """
    dialect = Dialect(decimal.value, separator_from(separator))
    check_model(model)
    target = check_source(file, target, dialect)
    out = Path(f"{model.stem}.html") if out is None else out
    check_output(out, (str(model), file))

    from marginboost.cli.deciding import Deciding  # noqa: PLC0415 - slow to import
    from marginboost.cli.reporting import report_on  # noqa: PLC0415 - slow to import

    deciding = Deciding(frequencies=class_frequencies)
    report_on(model, file, target, out, dialect, deciding)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="HTML", help="The report file.")] = Path(
        "marginboost-demo.html"
    ),
) -> None:
    """Train on handwritten digits, print the result and write a report.

    Takes a few seconds and downloads nothing.
    """
    check_output(out, ())

    from marginboost.cli.demo import run_demo  # noqa: PLC0415 - slow to import

    run_demo(out)


@app.command(
    hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def reproduce(ctx: typer.Context) -> None:
    """Print what to type instead."""
    command = shlex.join(["python", "-m", "experiments", *ctx.args])
    fail(f"reproduce has moved; in a checkout of the repository, run: {command}", WRONG_USAGE)
