"""Tables in files: CSV, TSV and Parquet, recognised by their names."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import IO

import polars as pl

from marginboost.cli.failure import UserError

STDIN = "-"
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")

# A number in a country of decimal commas: 3,14 and 1.234,5 and 7.
COMMA_NUMBER = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d+)?([eE][+-]?\d+)?$"

# What stands for a missing value in a text file, besides an empty cell; pandas has more.
MISSING = ["NA", "N/A", "NaN", "nan", "null", "NULL"]


def is_table(name: str) -> bool:
    """Return whether a file's name is that of a table."""
    return _kind(name) in SEPARATORS or _kind(name) in PARQUET


def read_table(name: str, text: Collection[str] = (), decimal: str = ".") -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    name : str
        A file; "-" for CSV on the standard input.
    text : collection of str
        Columns to read as text, whatever they contain.
    decimal : {".", ","}
        What stands before the fraction of a number. With "," points may stand between thousands.

    Returns
    -------
    polars.DataFrame
        The table, with at least one row.
    """
    if name == STDIN:
        content = BytesIO(sys.stdin.buffer.read())
        frame = _read_text(content, "the standard input", ",", text, decimal)
    elif not is_table(name):
        raise UserError(
            f"A table must end in .csv, .tsv, .csv.gz or .parquet, or be - for the standard input; "
            f"got {name}."
        )
    elif _kind(name) in PARQUET:
        frame = _read_parquet(name, text)
    else:
        frame = _read_text(name, name, SEPARATORS[_kind(name)], text, decimal)
    if not frame.height:
        raise UserError(f"{name} must have at least one row; it has none.")
    if decimal == ",":
        return frame.with_columns(
            _with_commas(frame[column]) for column in frame.columns if column not in text
        )
    return frame


def _with_commas(column: pl.Series) -> pl.Series:
    """Make numbers of text in which every value is one with a decimal comma, or none."""
    if column.dtype != pl.String or column.null_count() == len(column):
        return column
    trimmed = column.str.strip_chars()
    if trimmed.str.contains(COMMA_NUMBER).all():
        plain = trimmed.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        return _cast(plain, pl.Int64, pl.Float64)
    if trimmed.is_in(["true", "false"]).all():
        return trimmed == "true"
    return _cast(column, pl.Float64)  # points after all, where it's not text


def _cast(column: pl.Series, *types: type[pl.DataType]) -> pl.Series:
    """Return a column in the first type that has all of its values, or as it is."""
    for dtype in types:
        found = column.cast(dtype, strict=False)
        if found.null_count() == column.null_count():
            return found
    return column


def write_table(frame: pl.DataFrame, target: IO[bytes], name: str) -> None:
    """Write a table in the format that `name` implies."""
    if _kind(name) in PARQUET:
        frame.write_parquet(target)
        return
    content = BytesIO()
    frame.write_csv(content, separator=SEPARATORS.get(_kind(name), ","))
    data = content.getvalue()
    target.write(gzip.compress(data) if name.lower().endswith(".gz") else data)


def _kind(name: str) -> str:
    lower = name.lower()
    return Path(lower.removesuffix(".gz")).suffix if lower != STDIN else ""


def _read_parquet(name: str, text: Collection[str]) -> pl.DataFrame:
    Path(name).open("rb").close()  # raises the operating system's error if it cannot be read
    try:
        frame = pl.read_parquet(name)
    except pl.exceptions.PolarsError as error:
        raise UserError(
            f"{name} must be a Parquet file; it cannot be read as one: {error}"
        ) from error
    return frame.with_columns(pl.col(c).cast(pl.String) for c in text if c in frame.columns)


def _read_text(
    source: str | BytesIO, name: str, separator: str, text: Collection[str], decimal: str
) -> pl.DataFrame:
    header = _first_line(source)
    if separator not in header:
        # Where commas are decimal marks, semicolons separate the cells of a .csv file.
        separator = next((mark for mark in ";\t|" if mark in header), separator)
    try:
        return pl.read_csv(
            source,
            separator=separator,
            null_values=MISSING,
            # All rows: a late word must not break a column of numbers. None where 1.234 is a thousand.
            infer_schema_length=0 if decimal == "," else None,
            schema_overrides=dict.fromkeys(_those_there(text, source, separator), pl.String),
            glob=False,
        )
    except pl.exceptions.NoDataError:
        raise UserError(
            f"{name} must have a line of names and at least one row; it is empty."
        ) from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        hint = "; save it as UTF-8" if "utf" in reason.lower() else ""
        message = f"{name} must be a table as text; it cannot be read as one: {reason}{hint}"
        raise UserError(message) from error


def _first_line(source: str | BytesIO) -> str:
    if isinstance(source, BytesIO):
        line = source.readline()
        source.seek(0)
    else:
        with (gzip.open if source.lower().endswith(".gz") else open)(source, "rb") as file:
            line = file.readline()
    return line.decode("utf-8", "replace")


def _those_there(names: Collection[str], source: str | BytesIO, separator: str) -> list[str]:
    """Return the names that are columns of the table."""
    if not names:
        return []
    found = pl.read_csv(source, separator=separator, n_rows=0, glob=False).columns
    if isinstance(source, BytesIO):
        source.seek(0)
    return [name for name in names if name in found]
