"""The commands and their help."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from marginboost import __version__
from marginboost.cli.checks import check_model, check_outputs, check_source, check_tables
from marginboost.cli.failure import WRONG_USAGE, Commands, fail
from marginboost.cli.formats import Dialect, separator_from
from marginboost.cli.options import (
    Decimal,
    DecimalMark,
    Frequencies,
    LossName,
    MethodName,
    Model,
    Separator,
    SetKind,
    Sets,
    SetsKind,
    Table,
    Target,
)
from marginboost.cli.output import check_output

# Commands import what they need when they run, after fast checks of what they were asked for.

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

LEARNING, STOPPING, MEASURING = "Training", "Stopping", "Testing"


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


@app.command()
def train(
    file: Table,
    target: Target = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column to leave out; may be repeated.", show_default="none"
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of numbers that are codes; may be repeated.",
            show_default="columns of text",
        ),
    ] = None,
    decimal: Decimal = DecimalMark.point,
    separator: Separator = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="The model file.",
            show_default="FILE's name with .safetensors, here",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML", help="Also write a report on the test rows.", show_default="none"
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    test_size: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=0.9,
            help="Share of the rows to test on; 0 trains on all.",
            rich_help_panel=MEASURING,
        ),
    ] = 0.2,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Test on this table; hold out nothing.",
            show_default="--test-size of FILE's rows",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of rounds.",
            show_default="the fit decides; mcboost: 500",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            min=1e-6,
            max=1.0,
            help="Above 0, at most 1; smaller: more rounds.",
            show_default="the fit decides; mcboost: 0.5",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="NAME",
            help="marginboost: one tree per round; mcboost: the paper's, one stump per round.",
            rich_help_panel=LEARNING,
        ),
    ] = MethodName.marginboost,
    loss: Annotated[
        LossName | None,
        typer.Option(
            metavar="NAME",
            help="exponential, or logistic for noisy labels.",
            show_default="the fit decides; mcboost: exponential",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    interactions: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS",
            help="Columns that may interact: 'a,b;c,d', a file with a group per line, or pairwise.",
            show_default="all may",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    no_interactions: Annotated[
        bool,
        typer.Option(
            "--no-interactions",
            help="Let no columns interact: scores are sums over columns.",
            rich_help_panel=LEARNING,
        ),
    ] = False,
    monotonic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=SIGN",
            help="+1 or -1: how the second of two classes changes with a column; or A>B: two classes "
            "of which the first gains as it rises. May be repeated.",
            show_default="none",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What mistakes cost, as CSV (a row per true class, a column per predicted class) "
            "or JSON.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="The order of the classes, the lowest first: a mistake costs the distance.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
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
            help="Stop when predictions of the validation rows no longer improve.",
            show_default="only with --valid",
            rich_help_panel=STOPPING,
        ),
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Validation rows. Implies early stopping.",
            show_default="with --early-stopping a tenth of the training rows",
            rich_help_panel=STOPPING,
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.001,
            help="Stop after the round that exceeds this.",
            show_default="no limit",
            rich_help_panel=STOPPING,
        ),
    ] = None,
) -> None:
    """Train a model on a table, and print how good it is.

    A fifth of the rows is held out for testing. The accuracy on them is printed,
    beside that of always predicting the most frequent class. The tested model is
    the one that is saved. --test-size 0 trains on all rows and tests nothing.

    Text columns are categories; dates and rare values cause a warning. Empty
    cells, NA and NaN are missing values.
    An existing model file is replaced once the new one is complete; a table never
    is. Ctrl-C ends the training; the model so far is saved and tested.

    [bold]Examples[/bold]

      marginboost train flowers.csv --target species
      marginboost train shop.parquet --target bought --drop id --report shop.html
      marginboost train big.csv.gz --target kind --rounds 1000 --early-stopping
      marginboost train survey.csv --target answer --order low,medium,high
    """
    dialect = Dialect(decimal.value, separator_from(separator))
    named = ("--drop", drop or []), ("--categorical", categorical or [])
    target = check_source(file, target, dialect, named)
    check_tables(file, test, valid)
    tested = test is not None or test_size > 0
    path = check_outputs(file, out, report, (test, valid), tested=tested)

    from marginboost.cli.constraints import Constraints  # noqa: PLC0415
    from marginboost.cli.training import (  # noqa: PLC0415 - slow to import
        Measuring,
        Settings,
        Source,
        train_model,
    )

    train_model(
        Source(file, target, drop or [], categorical or [], dialect),
        path,
        Settings(
            method.value,
            loss and loss.value,
            rounds,
            learning_rate,
            max_time,
            early_stopping,
            seed,
            costs,
            order,
        ),
        Measuring(test, test_size, valid, report),
        quiet=quiet,
        constraints=Constraints(interactions, no_interactions, monotonic or []),
    )


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

    from marginboost.cli.reporting import report_on  # noqa: PLC0415 - slow to import

    report_on(model, file, target, out, dialect)


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
