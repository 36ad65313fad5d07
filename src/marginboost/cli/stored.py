"""Parquet tables that are read in batches: for training and for predictions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from marginboost.cli.failure import UsageError, UserError, check_column
from marginboost.cli.features import categories_in, labels_of, learnable, select_features
from marginboost.cli.formats import Dialect, is_folder, kind_of
from marginboost.cli.rows import Rows, Say, check_labels, describe_rows
from marginboost.data.memory import available_bytes
from marginboost.data.parquet_files import PARQUET, files_of
from marginboost.data.stored_rows import StoredRows

__all__ = ["StoredTable", "TableRows", "frames_of", "is_large", "read_stored", "wants_batches"]

# Most rows to test on: they are in memory.
MOST_TEST_ROWS = 1_000_000

# Files from this size on are predicted in batches.
LARGE_BYTES = 1 << 26


class TableRows(StoredRows):
    """Rows in files whose columns are converted as those of a table in memory.

    Parameters
    ----------
    source : list of paths
        Parquet files.
    columns : sequence of str
        The features.
    text : collection of str
        Columns to read as text, whatever they contain.
    """

    def __init__(self, source: Any, columns: Sequence[str], text: Collection[str]) -> None:
        super().__init__(source, columns)
        self.text = set(text)

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of some columns."""
        for frame in self.frames(names):
            table = frame.select(learnable(frame[name]) for name in names).to_arrow()
            yield from table.combine_chunks().to_batches()

    def frames(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield some columns in batches."""
        for batch in super().batches(names):
            frame = pl.DataFrame(pl.from_arrow(batch))
            yield frame.with_columns(pl.col(c).cast(pl.String) for c in names if c in self.text)


@dataclass(frozen=True)
class StoredTable:
    """Rows in files with their labels, in the place of `Rows`.

    Attributes
    ----------
    X : TableRows
        The rows with a label.
    y : array
        Their labels.
    places : int array
        Their places among all rows of the files.
    n_rows : int
        Number of all rows of the files.
    head : polars.DataFrame
        The features of the first rows.
    """

    X: TableRows
    y: NDArray[Any]
    places: NDArray[np.intp]
    n_rows: int
    head: pl.DataFrame

    def at(self, chosen: NDArray[np.intp]) -> StoredTable:
        """Return some of the rows, in ascending order."""
        kept = np.zeros(self.n_rows, dtype=bool)
        kept[self.places[chosen]] = True
        rows = self.X.at(kept)
        assert isinstance(rows, TableRows)
        return StoredTable(rows, self.y[chosen], self.places[chosen], self.n_rows, self.head)

    def loaded(self) -> Rows:
        """Read the rows into memory."""
        assert self.X.columns is not None
        return Rows(pl.DataFrame(pl.from_arrow(self.X.table(self.X.columns))), self.y)

    def example(self) -> Rows:
        """Return the first rows: their columns and types are those of all."""
        return Rows(self.head, self.y)


def wants_batches(file: str, asked: bool | None, dialect: Dialect) -> bool:
    """Decide whether a table is read in batches: where asked for, or where it would fill the memory."""
    is_parquet = is_folder(file) or kind_of(file) in PARQUET
    possible = is_parquet and dialect.decimal == "."
    if asked and not possible:
        raise UsageError(
            "--batches needs a Parquet file, or a folder of such files, without decimal commas; got "
            f"{file}."
        )
    if asked is not None or not possible or find_spec("pyarrow") is None:
        return bool(asked)
    free = available_bytes()
    if free is None or _file_bytes(file) * 100 < free:  # however well it is compressed
        return False
    rows = _opened(file)
    # The table, and the matrix that is made of it.
    return 2 * 8 * rows.n_rows * len(rows.names) > free


def read_stored(
    file: str, target: str, drop: Sequence[str], categorical: Sequence[str], say: Say
) -> StoredTable:
    """Read the labels of a table to train on, and describe it."""
    opened = _opened(file)
    for option, names in (("--target", [target]), ("--drop", drop), ("--categorical", categorical)):
        for name in names:
            check_column(name, opened.names, option)
    features = [name for name in opened.names if name not in {target, *drop}]
    rows = TableRows(opened.source, features, categorical)
    head = next(rows.frames([*features, target]), None)
    if head is None:
        raise UserError(f"{file} must have at least one row; it has none.")
    example = select_features(head, target, (), categorical)
    found, places, n_rows = [], [], 0
    for frame in rows.frames([target]):
        known = frame[target].is_not_null()
        if frame[target].dtype.is_float():
            known &= frame[target].is_not_nan()
        places.append(n_rows + np.flatnonzero(known.to_numpy()))
        found.append(labels_of(frame.filter(known), target))
        n_rows += frame.height
    y = np.concatenate(found)
    if not len(y):
        raise UserError(f"The target must be known in some rows; {target!r} is empty in all.")
    classes = check_labels(y, target)
    text = len(categories_in(example))
    describe_rows(file, len(y), (len(features), text), len(classes), n_rows - len(y), say)
    say("Note: the table is read in batches, a few columns at a time")
    table = StoredTable(rows, y, np.concatenate(places), n_rows, example)
    return table if len(y) == n_rows else table.at(np.arange(len(y)))


def is_large(file: str) -> bool:
    """Check whether a table is predicted in batches."""
    is_parquet = is_folder(file) or kind_of(file) in PARQUET
    return is_parquet and _file_bytes(file) >= LARGE_BYTES and find_spec("pyarrow") is not None


def frames_of(
    file: str, names: Sequence[str] | None, keep: Sequence[str], text: Collection[str]
) -> Iterator[pl.DataFrame]:
    """Yield the columns of a table that a model or the user asks for, in batches.

    Parameters
    ----------
    file : str
        The table.
    names : sequence of str or None
        The columns of the model; None for all.
    keep : sequence of str
        Other columns to read.
    text : collection of str
        Columns to read as text.
    """
    opened = _opened(file)
    for name in keep:
        check_column(name, opened.names, "--keep")
    wanted = None if names is None else {*names, *keep}
    taken = [name for name in opened.names if wanted is None or name in wanted]
    yield from TableRows(opened.source, taken, text).frames(taken)


def _opened(file: str) -> StoredRows:
    rows = StoredRows(files_of(file))
    try:
        rows.dataset  # noqa: B018 - opens the files
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # pyarrow has errors of its own
        reason = str(error).split("\n", maxsplit=1)[0]
        raise UserError(f"{file} must hold Parquet; it cannot be read: {reason}") from error
    return rows


def _file_bytes(file: str) -> int:
    return sum(Path(one).stat().st_size for one in files_of(file))
