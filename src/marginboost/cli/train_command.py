"""The command ``marginboost train`` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marginboost.cli.checks import check_outputs, check_source, check_tables
from marginboost.cli.formats import Dialect, separator_from
from marginboost.cli.options import (
    Decimal,
    DecimalMark,
    LossName,
    MethodName,
    Separator,
    Table,
    Target,
)

__all__ = ["train"]

LEARNING, STOPPING, MEASURING = "Training", "Stopping", "Testing"


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
    batches: Annotated[
        bool | None,
        typer.Option(
            "--batches/--no-batches",
            help="Read a Parquet table a few columns at a time; at most a million rows are tested.",
            show_default="where it would fill the memory",
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
            show_default="all mistakes cost the same",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="The order of the classes, the lowest first: a mistake costs the distance.",
            show_default="none",
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
        Source(file, target, drop or [], categorical or [], dialect, batches),
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
