"""Checks of the files that commands write; inputs are never overwritten."""

from __future__ import annotations

from pathlib import Path

from marginboost.cli.failure import UsageError, UserError
from marginboost.cli.formats import WRITABLE, is_table, kind_of


def check_output(path: Path, inputs: tuple[str, ...], *, table: bool = False) -> None:
    """Raise if an output cannot be intended, before any work is done.

    Parameters
    ----------
    path : Path
        The file to write.
    inputs : tuple of str
        The files to read.
    table : bool, default=False
        Whether a table will be written.
    """
    for name in inputs:
        if path.exists() and Path(name).exists() and path.samefile(name):
            raise UsageError(
                f"{path} is an input, which is never overwritten; choose another name."
            )
    if not table and is_table(path.name):
        raise UsageError(f"The name of this output must not be that of a table; got {path}.")
    if table and kind_of(path.name) not in WRITABLE:
        raise UsageError(
            "The name of this output must end in .csv, .tsv, .txt, .jsonl, .parquet, .arrow or .feather "
            f"(text also with .gz); got {path}."
        )
    if path.is_dir():
        raise UserError(f"The output must be a file; {path} is a folder.")
    if not path.absolute().parent.is_dir():
        raise UserError(f"The folder {path.absolute().parent} does not exist; create it first.")
