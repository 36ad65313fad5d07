"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

TABLES = (
    ".csv, .tsv, .txt or .jsonl (also .gz), .parquet, .arrow, .feather or .xlsx; a folder of Parquet "
    "files; or - for CSV on the standard input."
)

Table = Annotated[
    str, typer.Argument(metavar="FILE", help=f"The table: {TABLES}", show_default=False)
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="The column that holds the classes; required.", show_default=False
    ),
]


class DecimalMark(StrEnum):
    """What stands before the fraction of a number."""

    point = "."
    comma = ","


Decimal = Annotated[
    DecimalMark,
    typer.Option(metavar="MARK", help="Of numbers in the table: . or , as in 3,14 and 1.234,5."),
]

Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="Between cells of text: a character, or comma, semicolon, tab, space or bar.",
        show_default="found in the first line",
    ),
]


class MethodName(StrEnum):
    """The methods of the command line; Python has eight more."""

    marginboost = "marginboost"
    mcboost = "mcboost"


class LossName(StrEnum):
    """The losses."""

    exponential = "exponential"
    logistic = "logistic"


DECIDING = "Deciding"


class SetKind(StrEnum):
    """What the coverage of prediction sets is about."""

    marginal = "marginal"
    of_class = "class"


Sets = Annotated[
    float | None,
    typer.Option(
        metavar="COVERAGE",
        help="Add a column with all classes that are likely enough: 0.9 for nine rows in ten.",
        show_default="no sets",
        rich_help_panel=DECIDING,
    ),
]
SetsKind = Annotated[
    SetKind,
    typer.Option(
        metavar="KIND",
        help="marginal: the coverage of all rows together; class: that of each class.",
        rich_help_panel=DECIDING,
    ),
]
Frequencies = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS=SHARE,...",
        help="How frequent the classes are in this table.",
        show_default="as in training",
        rich_help_panel=DECIDING,
    ),
]
