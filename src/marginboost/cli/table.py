"""Tables in files, in the formats that their names imply."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Collection
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import polars as pl

from marginboost.cli.failure import UserError
from marginboost.cli.formats import (
    ARROW,
    EXCEL,
    JSON_LINES,
    PLAIN,
    SEPARATORS,
    STDIN,
    Dialect,
    check_table,
    is_folder,
    kind_of,
)
from marginboost.cli.text_table import read_text, with_commas
from marginboost.data.parquet_files import PARQUET, parts_of


def read_table(name: str, text: Collection[str] = (), dialect: Dialect = PLAIN) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    name : str
        A file, or a folder of Parquet files; "-" for CSV on the standard input.
    text : collection of str
        Columns to read as text, whatever they contain.
    dialect : Dialect
        How text is written.

    Returns
    -------
    polars.DataFrame
        The table, with at least one row.
    """
    check_table(name)
    if name == STDIN:
        content = BytesIO(sys.stdin.buffer.read())
        frame = read_text(content, "the standard input", ".csv", text, dialect)
    elif kind_of(name) in SEPARATORS and not is_folder(name):
        frame = read_text(name, name, kind_of(name), text, dialect)
    else:
        frame = _read_typed(name)
        frame = frame.with_columns(pl.col(c).cast(pl.String) for c in text if c in frame.columns)
    if not frame.height:
        raise UserError(f"{name} must have at least one row; it has none.")
    if dialect.decimal == ",":
        return frame.with_columns(
            with_commas(frame[column]) for column in frame.columns if column not in text
        )
    return frame


def write_table(frame: pl.DataFrame, target: IO[bytes], name: str) -> None:
    """Write a table in the format that `name` implies."""
    kind = kind_of(name)
    if kind in PARQUET:
        frame.write_parquet(target)
        return
    if kind in ARROW:
        frame.write_ipc(target)
        return
    content = BytesIO()
    if kind in JSON_LINES:
        frame.write_ndjson(content)
    else:
        frame.write_csv(content, separator=SEPARATORS.get(kind, ","))
    target.write(
        gzip.compress(content.getvalue()) if name.lower().endswith(".gz") else content.getvalue()
    )


def _read_typed(name: str) -> pl.DataFrame:
    """Read a table of a format that says which of its columns are numbers."""
    kind = kind_of(name)
    if is_folder(name):
        what, read = "a folder of Parquet files", _read_folder
    elif kind in PARQUET:
        what, read = "a Parquet file", lambda name: pl.read_parquet(name, glob=False)
    elif kind in ARROW:
        what, read = "an Arrow file, also known as Feather version 2,", _read_arrow
    elif kind in EXCEL:
        what, read = "an Excel workbook", _read_excel
    else:
        what, read = "a file with a JSON object per line", _read_json_lines
    try:
        return read(name)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # readers have errors of their own
        reason = str(error).split("\n", maxsplit=1)[0]
        raise UserError(f"{name} must be {what}; it cannot be read as one: {reason}") from error


def _read_folder(name: str) -> pl.DataFrame:
    """Read all Parquet files of a folder; names such as year=2024 of folders in it are a column."""
    return pl.read_parquet(parts_of(name), hive_partitioning=True, glob=False)


def _read_arrow(name: str) -> pl.DataFrame:
    with Path(name).open("rb") as file:
        is_file = file.read(6) == b"ARROW1"
    return pl.read_ipc(name) if is_file else pl.read_ipc_stream(name)


def _read_json_lines(name: str) -> pl.DataFrame:
    opened: Callable[..., Any] = gzip.open if name.lower().endswith(".gz") else open
    with opened(name, "rb") as file:
        return pl.read_ndjson(BytesIO(file.read()), infer_schema_length=None)


def _read_excel(name: str) -> pl.DataFrame:
    """Read the first sheet of a workbook, with the names in its first row."""
    try:
        return pl.read_excel(name, infer_schema_length=None)
    except ModuleNotFoundError:
        raise ImportError(
            f"{name} needs the package fastexcel: pip install 'marginboost[excel]' installs it."
        ) from None
