"""Rows of a table with their labels: for training, validation and testing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from marginboost.cli.failure import UserError, check_column
from marginboost.cli.features import aligned, categories_in, labels_of, select_features
from marginboost.cli.formats import PLAIN, Dialect
from marginboost.cli.table import read_table
from marginboost.cli.words import counted, one_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Rows:
    """Rows with their labels."""

    X: pl.DataFrame
    y: NDArray[Any]

    def at(self, places: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(self.X[places], self.y[places])


def read_rows(
    file: str,
    target: str,
    drop: Sequence[str],
    categorical: Sequence[str],
    say: Say,
    dialect: Dialect = PLAIN,
) -> Rows:
    """Read a table to train on, and describe it."""
    frame, lost = _labelled(file, target, categorical, dialect)
    X = select_features(frame, target, drop, categorical)
    y = labels_of(frame, target)
    classes = check_labels(y, target)
    describe_rows(file, len(y), (X.width, len(categories_in(X))), len(classes), lost, say)
    for name in _like_row_numbers(X):
        say(
            f"Warning: column {name!r} has a different value in every row, like an identifier, and is "
            f"useless for new rows: leave it out with --drop {quote(name)}"
        )
    return Rows(X, y)


def check_labels(y: NDArray[Any], target: str) -> NDArray[Any]:
    """Raise unless labels are of two classes or more, and not quantities; return the classes."""
    classes = np.unique(y)
    if len(classes) < 2:
        only = one_of(classes[0])
        raise UserError(f"The target must have two classes or more; {target!r} is always {only}.")
    if y.dtype.kind in "iu" and len(classes) > max(len(y) / 2, 2):
        raise UserError(
            f"The target must hold classes; column {target!r} holds {len(classes):,} different numbers "
            f"in {len(y):,} rows, which are quantities."
        )
    return classes


def describe_rows(
    file: str, n_rows: int, n_columns: tuple[int, int], n_classes: int, lost: int, say: Say
) -> None:
    """Describe a table: its columns, those of categories among them, and rows without a target."""
    width, text = n_columns
    columns = counted(width, "column") + (f" ({text:,} categorical)" if text else "")
    say(f"{file}: {counted(n_rows, 'row')}, {columns}, {n_classes:,} classes")
    if lost:
        say(f"Note: {counted(lost, 'row')} without a target were left out")


def read_rows_like(file: str, target: str, like: Rows, dialect: Dialect = PLAIN) -> Rows:
    """Read a table with the columns and labels of another."""
    text = categories_in(like.X)
    as_text = [*text, target] if like.y.dtype.kind == "U" else text
    frame, _ = _labelled(file, target, as_text, dialect)
    examples = [
        like.X[name].drop_nulls().unique().sort().to_list() if name in text else None
        for name in like.X.columns
    ]
    X = aligned(frame, like.X.columns, examples)
    return Rows(X, labels_of(frame, target))


class Divisible(Protocol):
    """Rows with labels, in memory or not."""

    @property
    def y(self) -> NDArray[Any]:
        """Their labels."""
        ...

    def at(self, places: NDArray[np.intp], /) -> Self:
        """Return some of the rows."""
        ...


RowsT = TypeVar("RowsT", bound=Divisible)


def hold_out(rows: RowsT, share: float, seed: int) -> tuple[RowsT, RowsT]:
    """Split rows into training and test rows, stratified by class where possible."""
    from sklearn.model_selection import train_test_split  # noqa: PLC0415 - slow to import

    counts = np.unique(rows.y, return_counts=True)[1]
    n_test = int(np.ceil(share * len(rows.y)))
    by_class = counts.min() > 1 and len(counts) <= min(n_test, len(rows.y) - n_test)
    train, test = train_test_split(
        np.arange(len(rows.y)),
        test_size=n_test,
        random_state=seed,
        stratify=rows.y if by_class else None,
    )
    # A class without training rows cannot be predicted: its rows are of more use in training.
    unknown = ~np.isin(rows.y[test], rows.y[train])
    train, test = np.append(train, test[unknown]), test[~unknown]
    if not len(test):
        raise UserError("There are too few rows to hold some out; use --test-size 0.")
    return rows.at(np.sort(train)), rows.at(np.sort(test))


def _labelled(
    file: str, target: str, text: Sequence[str], dialect: Dialect
) -> tuple[pl.DataFrame, int]:
    """Read a table without the rows whose target is missing, and count those."""
    frame = read_table(file, text, dialect)
    check_column(target, frame.columns, "--target")
    known = frame.drop_nulls(target)
    if known[target].dtype.is_float():
        known = known.filter(known[target].is_not_nan())
    if not known.height:
        raise UserError(f"The target must be known in some rows; {target!r} is empty in all.")
    return known, frame.height - known.height


def _like_row_numbers(X: pl.DataFrame) -> list[str]:
    """Return the columns that have a different value in every row, like an identifier."""
    if X.height < 20:
        return []
    # Of text, the fit says whether its values are too rare to be categories.
    exact = [name for name in X.columns if X[name].dtype.is_integer()]
    return [name for name in exact if X[name].n_unique() == X.height]
