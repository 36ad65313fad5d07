"""Formats of tables, recognised by the names of files, and how their text is written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from marginboost.cli.failure import UsageError
from marginboost.data.parquet_files import PARQUET, parts_of

STDIN = "-"
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx",)

WRITABLE = (*SEPARATORS, *JSON_LINES, *PARQUET, *ARROW)
READABLE = (*WRITABLE, *EXCEL)

_NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "space": " ", "bar": "|"}


class Dialect(NamedTuple):
    """How numbers and cells are written in a table of text.

    Attributes
    ----------
    decimal : {".", ","}
        What stands before the fraction of a number. With "," points may stand between thousands.
    separator : str or None
        The character between cells; None to find out.
    """

    decimal: str = "."
    separator: str | None = None


PLAIN = Dialect()


def kind_of(name: str) -> str:
    """Return what a file's name says about its format: its ending, without .gz."""
    lower = name.lower()
    return "" if lower == STDIN else Path(lower.removesuffix(".gz")).suffix


def is_folder(name: str) -> bool:
    """Return whether a table is a folder, which holds Parquet files."""
    return name != STDIN and Path(name).is_dir()


def is_table(name: str) -> bool:
    """Return whether a file's name is that of a table."""
    return kind_of(name) in READABLE


def check_table(name: str) -> None:
    """Raise if a table has no known format, or cannot be opened."""
    if name == STDIN:
        return
    if is_folder(name):
        parts_of(name)
        return
    if not is_table(name):
        raise UsageError(
            "A table must end in .csv, .tsv, .txt, .jsonl, .parquet, .arrow, .feather or .xlsx (text "
            f"also with .gz), or be a folder of Parquet files, or - for the standard input; got {name}."
        )
    Path(name).open("rb").close()  # raises the operating system's error if it cannot be read


def separator_from(text: str | None) -> str | None:
    """Return the character that `--separator` stands for."""
    if text is None:
        return None
    mark = _NAMED.get(text.lower(), text)
    if len(mark.encode()) != 1 or mark in '"\r\n':
        known = ", ".join(word for word in _NAMED if word.isalpha())
        raise UsageError(
            f"--separator must be one ASCII character, or one of {known}; got {text!r}."
        )
    return mark
