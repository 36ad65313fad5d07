"""Tables of text: cells between separators, and numbers with decimal commas."""

from __future__ import annotations

from collections.abc import Callable, Collection
from io import BytesIO

import polars as pl

from marginboost.cli.failure import UserError
from marginboost.cli.formats import Dialect
from marginboost.cli.header import find_separator, first_line

# A number in a country of decimal commas: 3,14 and 1.234,5 and 7.
COMMA_NUMBER = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d+)?([eE][+-]?\d+)?$"

# What stands for a missing value in a text file, besides an empty cell; pandas has more.
MISSING = ["NA", "N/A", "NaN", "nan", "null", "NULL"]

SAMPLED = 10_000  # rows that suggest the types of columns


def read_text(
    source: str | BytesIO, name: str, kind: str, text: Collection[str], dialect: Dialect
) -> pl.DataFrame:
    """Read a table of text.

    Parameters
    ----------
    source : str or BytesIO
        The file, or its content.
    name : str
        What messages call it.
    kind : str
        Its ending, as `kind_of` returns it.
    text : collection of str
        Columns to read as text, whatever they contain.
    dialect : Dialect
        How it is written.
    """
    separator = find_separator(first_line(source).decode("utf-8", "replace"), kind, dialect)
    try:
        overrides = dict.fromkeys(_those_there(text, source, separator), pl.String)

        def read(n_sampled: int | None) -> pl.DataFrame:
            if isinstance(source, BytesIO):
                source.seek(0)
            return pl.read_csv(
                source,
                separator=separator,
                null_values=MISSING,
                infer_schema_length=n_sampled,
                schema_overrides=overrides,
                glob=False,
            )

        # Where commas are decimal marks 1.234 is a thousand: all is text at first.
        return read(0) if dialect.decimal == "," else _read_by_sample(read, overrides)
    except pl.exceptions.NoDataError:
        raise UserError(
            f"{name} must have a line of names and at least one row; it is empty."
        ) from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        hint = "; save it as UTF-8" if "utf" in reason.lower() else ""
        message = f"{name} must be a table as text; it cannot be read as one: {reason}{hint}"
        raise UserError(message) from error


def _read_by_sample(
    read: Callable[[int | None], pl.DataFrame], known: Collection[str]
) -> pl.DataFrame:
    """Read a table; guess the types of columns from its first rows, and from all if that fails.

    To infer types from all rows takes several times as long as to read them.
    """
    try:
        frame = read(SAMPLED)
    except pl.exceptions.ComputeError:  # for example, a late word in a column of numbers
        return read(None)
    first = frame.head(SAMPLED)
    guessed = [
        column.name
        for column in first
        if column.name not in known and column.null_count() == len(column)
    ]
    # A column that begins with so many gaps may hold numbers, but was read as text.
    if any(frame[name].null_count() < frame.height for name in guessed):
        return read(None)
    return frame


def with_commas(column: pl.Series) -> pl.Series:
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


def _those_there(names: Collection[str], source: str | BytesIO, separator: str) -> list[str]:
    """Return the names that are columns of the table."""
    if not names:
        return []
    found = pl.read_csv(source, separator=separator, n_rows=0, glob=False).columns
    if isinstance(source, BytesIO):
        source.seek(0)
    return [name for name in names if name in found]
