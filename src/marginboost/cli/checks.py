"""Checks of what a command is asked for: fast, since they import no table or model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from marginboost.cli.failure import UsageError, check_all_there, check_column, list_columns
from marginboost.cli.formats import STDIN, Dialect, check_table, is_table
from marginboost.cli.header import columns_at_once, columns_of
from marginboost.cli.output import check_output


def check_source(
    file: str,
    target: str | None,
    dialect: Dialect,
    more: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:
    """Raise if a table cannot be opened, or if options name columns that it does not have.

    Parameters
    ----------
    file : str
        The table.
    target : str or None
        The value of `--target`; None if it is missing.
    dialect : Dialect
        How the table is written.
    more : sequence of pairs
        Other options and the columns that they name.

    Returns
    -------
    str
        The target.
    """
    if target is None:
        raise UsageError(
            "--target must name the column that holds the classes; it is missing."
            + _columns_if_known(file, dialect)
        )
    check_table(file)
    columns = columns_at_once(file, dialect)
    if columns is not None:  # else it is checked when the table is read
        for option, names in (("--target", [target]), *more):
            for name in names:
                check_column(name, columns, option)
    return target


def _columns_if_known(file: str, dialect: Dialect) -> str:
    try:
        check_table(file)
        return f" {list_columns(columns_of(file, dialect))}"
    except (ValueError, OSError, ImportError):  # the first mistake is enough
        return ""


def check_predicted(model: Path, file: str, keep: Sequence[str], dialect: Dialect) -> None:
    """Raise if a table to predict lacks columns of the model, or those to keep, and says so at once."""
    columns = columns_at_once(file, dialect)
    if columns is None:  # then it is checked when the table is read
        return
    for name in keep:
        check_column(name, columns, "--keep")

    from marginboost.model.file import peek  # noqa: PLC0415 - imports NumPy

    document = peek(model)
    fitted = document.get("fitted") if isinstance(document, dict) else None
    names = fitted.get("feature_names_in_") if isinstance(fitted, dict) else None
    if isinstance(names, list):  # else the model is checked when it is loaded
        check_all_there(names, columns)


def check_tables(*files: str | None) -> None:
    """Raise if a table cannot be opened; None stands for none."""
    named = [file for file in files if file is not None]
    if named.count(STDIN) > 1:
        raise UsageError("The standard input can be only one of the tables; got - more than once.")
    for file in named:
        check_table(file)


def check_outputs(
    file: str, out: Path | None, report: Path | None, others: Sequence[str | None], *, tested: bool
) -> Path:
    """Raise if a model or a report cannot be written as asked; return the model's path.

    Parameters
    ----------
    file : str
        The table to train on; by default the model gets its name.
    out, report : Path or None
        The model and the report.
    others : sequence of str or None
        The other tables.
    tested : bool
        Whether there are test rows.
    """
    name = "model" if file == STDIN else Path(file.removesuffix(".gz")).stem
    path = Path(f"{name}.safetensors") if out is None else out
    inputs = tuple(name for name in (file, *others) if name)
    check_output(path, inputs)
    if report is not None:
        check_output(report, inputs)
        if report == path:
            raise UsageError(f"The report and the model must be different files; both are {path}.")
        if not tested:
            raise UsageError("--report needs test rows; leave out --test-size 0.")
    return path


def check_model(path: Path) -> None:
    """Raise if a model file cannot be opened, or is a table."""
    if is_table(path.name):
        raise UsageError(f"MODEL must be a model file, such as m.safetensors; {path} is a table.")
    if path.is_dir():
        raise IsADirectoryError(21, "A model must be a file; this is a folder", str(path))
    path.open("rb").close()
