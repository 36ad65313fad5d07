"""The names of a table's columns, if possible without reading the table."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from io import BytesIO

from marginboost.cli.formats import (
    JSON_LINES,
    SEPARATORS,
    STDIN,
    Dialect,
    is_folder,
    kind_of,
)
from marginboost.data.parquet_files import PARQUET, parts_of


def columns_of(name: str, dialect: Dialect) -> list[str]:
    """Return the names of a table's columns; of the standard input, which is lost by that, too."""
    found = first_names(sys.stdin.buffer.readline(), ".csv", dialect) if name == STDIN else None
    if found is None:
        found = columns_at_once(name, dialect)
    if found is None and kind_of(name) in JSON_LINES:
        row = json.loads(first_line(name) or b"{}")
        found = list(row) if isinstance(row, dict) else []
    if found is None:
        from marginboost.cli.table import read_table  # noqa: PLC0415 - imports polars

        found = read_table(name, dialect=dialect).columns
    return found


def columns_at_once(name: str, dialect: Dialect) -> list[str] | None:
    """Return the names of a table's columns; None where that would mean to read all of it."""
    if name == STDIN:
        return None
    if is_folder(name) or kind_of(name) in PARQUET:
        import polars as pl  # noqa: PLC0415 - an optional dependency, and slow to import

        files = parts_of(name) if is_folder(name) else [name]
        try:
            scan = pl.scan_parquet(files, hive_partitioning=is_folder(name), glob=False)
            return scan.collect_schema().names()
        except pl.exceptions.PolarsError:
            return None  # reading it will say what is wrong
    if kind_of(name) in SEPARATORS:
        return first_names(first_line(name), kind_of(name), dialect)
    return None


def first_names(line: bytes, kind: str, dialect: Dialect) -> list[str] | None:
    """Return the names in the first line of a text; None where the line does not suffice."""
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None
    if not text or text.count('"') % 2:  # a name with a line break in it
        return None
    names = next(csv.reader([text], delimiter=find_separator(text, kind, dialect)))
    return names if len(set(names)) == len(names) else None


def first_line(source: str | BytesIO) -> bytes:
    """Return the first line of a text, which may be compressed."""
    if isinstance(source, BytesIO):
        line = source.readline()
        source.seek(0)
        return line
    with (gzip.open if source.lower().endswith(".gz") else open)(source, "rb") as file:
        return bytes(file.readline())


def find_separator(header: str, kind: str, dialect: Dialect) -> str:
    """Return the character between the cells of a table, judged by its first line."""
    if dialect.separator is not None:
        return dialect.separator
    usual = SEPARATORS[kind]
    if usual in header:
        return usual
    # Where commas are decimal marks, semicolons separate the cells of a .csv file.
    others = ";|, " if kind == ".txt" else ";\t|"
    return next((mark for mark in others if mark in header), usual)
