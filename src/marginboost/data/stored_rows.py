"""Rows in files, which are read a few columns at a time and never as a whole."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.parquet_files import files_of

__all__ = ["StoredRows", "as_stored"]

# Rows that are decoded together; few enough that a batch of one column is small.
BATCH_ROWS = 1 << 17
# Rows of a row group of a file that holds what a reader yields once.
_SPILLED_ROWS = 1 << 20


class StoredRows:
    """Rows in Parquet files or in a pyarrow dataset, for `fit` and `predict`.

    `fit` reads them a few columns at a time, and keeps a byte or two per value: the model is the same,
    to the bit, as from the same rows in memory. Paths and datasets can also be passed to `fit` as X
    directly; this class chooses columns besides. Needs pyarrow.

    Parameters
    ----------
    source : str, path, list of those, pyarrow Dataset or RecordBatchReader, or iterable of record batches
        A path is a Parquet file, a folder of such files, or a pattern such as ``"rows/*.parquet"``. The
        columns of a folder's hive-style names (``year=2024``) are columns too. A reader or an iterable
        can be read once only: what it yields is written to a temporary file first.
    columns : list of str, optional
        The features, in this order. By default all columns but those that `fit` is told hold the labels
        and the weights.
    """

    def __init__(self, source: Any, columns: Sequence[str] | None = None) -> None:
        self.source = source
        self.columns = None if columns is None else list(columns)
        self._folder: _Folder | None = None
        self._kept: NDArray[np.bool_] | None = None
        self._coded: list[str] = []  # columns of categories, which a temporary file does not mark

    @cached_property
    def dataset(self) -> Any:
        """The pyarrow dataset."""
        arrow = _load("pyarrow.dataset")
        source = self.source
        if isinstance(source, arrow.Dataset):
            return source
        if isinstance(source, str | os.PathLike):
            source = [source]
        elif not _are_paths(source):
            source = [self._spill(source)]
        files = [str(file) for name in source for file in files_of(os.fspath(name))]
        return arrow.dataset(files, format="parquet", partitioning="hive")

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        if self._kept is not None:
            return int(np.count_nonzero(self._kept))
        return int(self.dataset.count_rows())

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return list(self.dataset.schema.names)

    def features(self, *others: Any) -> list[str]:
        """Return the names of the features: the given ones, or all but the others that are names."""
        if self.columns is not None:
            for name in self.columns:
                self.check_name(name, "columns")
            return self.columns
        return [name for name in self.names if name not in others]

    def check_name(self, name: str, what: str) -> None:
        """Raise unless a column has this name."""
        if name not in self.names:
            shown = ", ".join(map(repr, self.names[:10])) + (
                ", ..." if len(self.names) > 10 else ""
            )
            raise ValueError(f"{what} must name a column of X; got {name!r}. X has {shown}.")

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of some columns, in the order of the rows."""
        place = 0
        arrow = _load("pyarrow")
        for found in self.dataset.to_batches(columns=list(names), batch_size=BATCH_ROWS):
            if not found.num_rows:
                continue
            batch = self._as_given(found)
            if self._kept is None:
                yield batch
                continue
            kept = self._kept[place : place + batch.num_rows]
            place += batch.num_rows
            if kept.any():
                yield batch if kept.all() else batch.filter(arrow.array(kept))

    def table(self, names: Sequence[str]) -> Any:
        """Read some columns of all rows into memory, as a pyarrow Table."""
        arrow = _load("pyarrow")
        schema = arrow.schema([self.dataset.schema.field(name) for name in names])
        batches = list(self.batches(names))
        return arrow.Table.from_batches(batches, None if batches else schema)

    def at(self, kept: NDArray[np.bool_]) -> StoredRows:
        """Return some of the rows: those of the source for which `kept` is true."""
        some = type(self).__new__(type(self))
        some.__dict__.update(self.__dict__)
        some.__dict__.pop("n_rows", None)
        some._kept = kept
        return some

    def _as_given(self, batch: Any) -> Any:
        """Mark the columns of categories again."""
        for name in self._coded:
            place = batch.schema.get_field_index(name)
            if place >= 0:
                column = batch.column(place).dictionary_encode()
                batch = batch.set_column(place, name, column)
        return batch

    def _spill(self, batches: Iterable[Any]) -> Path:
        """Write what can be read once to a temporary file."""
        arrow, parquet = _load("pyarrow"), _load("pyarrow.parquet")
        self._folder = _Folder()
        path = self._folder.path / "rows.parquet"
        writer = None
        try:
            for batch in batches:
                table = batch
                if isinstance(batch, arrow.RecordBatch):
                    table = arrow.Table.from_batches([batch])
                if not isinstance(table, arrow.Table):
                    raise ValueError(
                        "An iterable of rows must yield pyarrow record batches or tables; got "
                        f"{type(batch).__name__}."
                    )
                if writer is None:
                    is_coded = arrow.types.is_dictionary
                    self._coded = [field.name for field in table.schema if is_coded(field.type)]
                    writer = parquet.ParquetWriter(path, table.schema)
                writer.write_table(table, row_group_size=_SPILLED_ROWS)
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise ValueError("An iterable of rows must yield at least one batch; it yielded none.")
        self.source = path  # the iterable is used up
        return path


class _Folder:
    """A temporary folder that goes with the last of those who hold it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="marginboost-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def as_stored(X: Any) -> StoredRows | None:
    """Return rows in files, given as any of the things that stand for them; None for other rows."""
    if isinstance(X, np.ndarray):
        return None
    if isinstance(X, StoredRows):
        return X
    if isinstance(X, str | os.PathLike) or (isinstance(X, list | tuple) and _are_paths(X)):
        return StoredRows(X)
    # Such an object exists only once its module is imported.
    arrow, datasets = sys.modules.get("pyarrow"), sys.modules.get("pyarrow.dataset")
    if (arrow and isinstance(X, arrow.RecordBatchReader)) or (
        datasets and isinstance(X, datasets.Dataset)
    ):
        return StoredRows(X)
    return None


def _are_paths(values: Any) -> bool:
    """Check whether there are values, and all are paths; a look at the first says no mostly."""
    if not isinstance(values, list | tuple) or not values:
        return False
    return all(isinstance(value, str | os.PathLike) for value in values)


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(
            "Rows in files are read by pyarrow, which is not installed. Install it with "
            "`pip install 'marginboost[parquet]'`."
        ) from missing
