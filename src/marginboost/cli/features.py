"""Turn the columns of a table into what a classifier takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import polars as pl
from numpy.typing import NDArray

from marginboost.cli.failure import UserError, check_all_there, check_column
from marginboost.data.lookalikes import DECIMAL_COMMAS, looks_like, reads_as_number
from marginboost.model.file import peek


def select_features(
    frame: pl.DataFrame, target: str, drop: Sequence[str], categorical: Sequence[str]
) -> pl.DataFrame:
    """Choose the columns to learn from: all but the target and those to drop.

    Classifiers take text as categories; the columns in `categorical` have been read as text.
    """
    for name in drop:
        check_column(name, frame.columns, "--drop")
    for name in categorical:
        check_column(name, frame.columns, "--categorical")
    features = frame.drop({target, *drop})
    if not features.width:
        raise UserError("At least one column must remain to learn from; none does.")
    return features.select(learnable(features[name]) for name in features.columns)


def labels_of(frame: pl.DataFrame, target: str) -> NDArray[Any]:
    """Return the labels in the target column.

    Raises
    ------
    UserError
        If the column holds numbers that are not integers: those are quantities, not classes.
    """
    column = frame[target]
    if column.dtype.is_float():
        if (column != column.round()).any():
            raise UserError(
                f"The target must hold classes; column {target!r} holds numbers such as "
                f"{column.filter(column != column.round())[0]:g}, which are quantities."
            )
        column = column.cast(pl.Int64)
    if column.dtype.is_temporal() or column.dtype.is_nested():
        raise UserError(f"The target must be text or integers; {target!r} is {column.dtype}.")
    labels = column.to_numpy()
    return labels.astype(str) if labels.dtype == object else labels


def features_for(model: Any, frame: pl.DataFrame) -> Any:
    """Choose a fitted model's columns from a table, by their names.

    Parameters
    ----------
    model : fitted classifier
        A model without column names takes the columns in their order.
    frame : polars.DataFrame
        May have more columns, in any order.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if frame.width != model.n_features_in_:
            raise UserError(
                f"The model has no column names, so the table must have exactly its "
                f"{model.n_features_in_} columns; it has {frame.width}."
            )
        return frame.select(learnable(frame[c]) for c in frame.columns).to_numpy()
    return aligned(frame, list(names), [_examples(model, n) for n in range(len(names))])


def _examples(model: Any, column: int) -> Sequence[Any] | None:
    """Return categories that a model knows of a column; None where it holds numbers."""
    encoding = model.encoding_
    lost = [encoding.lost[column]] if column in encoding.lost else []
    return encoding.categories[column] or (None if encoding.categories[column] is None else lost)


def aligned(
    frame: pl.DataFrame, names: Sequence[str], examples: Sequence[Sequence[Any] | None]
) -> pl.DataFrame:
    """Choose columns by their names, and convert each to the type that it had in training.

    Parameters
    ----------
    frame : polars.DataFrame
        May have more columns, in any order.
    names : sequence of str
        The columns.
    examples : sequence, one entry per column
        Categories of the training, some or all; None for a column of numbers.
    """
    check_all_there(names, frame.columns)
    return frame.select(
        _learned(frame[name], known) for name, known in zip(names, examples, strict=True)
    )


def text_columns(model: Any, target: str | None = None) -> list[str]:
    """Return the columns that a fitted model takes as text, and the target if its labels are text."""
    names = getattr(model, "feature_names_in_", ())
    of_column = zip(names, model.encoding_.categories, strict=False)
    lost = model.encoding_.lost
    text = [
        name
        for n, (name, known) in enumerate(of_column)
        if known is not None and isinstance(known[0] if known else lost.get(n), str)
    ]
    return text if target is None or model.classes_.dtype.kind not in "UO" else [*text, target]


def expected_text(path: Path) -> list[str]:
    """Return what `text_columns` will return for a model file, which is not loaded for that.

    Only a guess: the file may be damaged.
    """
    document = peek(path)
    try:
        fitted = document["fitted"]
        names, encoding = fitted.get("feature_names_in_", ()), fitted["encoding_"]
        lost = encoding.get("lost", {})
        return [
            names[int(n)]
            for n, known in encoding["categories"].items()
            if int(n) < len(names) and isinstance(known[0] if known else lost.get(n), str)
        ]
    except (TypeError, KeyError, ValueError, AttributeError):
        return []


def categories_in(features: pl.DataFrame) -> list[str]:
    """Return the names of the categorical columns."""
    return [c for c in features.columns if not features[c].dtype.is_numeric()]


def learnable(column: pl.Series) -> pl.Series:
    """Convert a column to numbers or categories."""
    if column.dtype == pl.Boolean or isinstance(column.dtype, pl.Decimal):
        return column.cast(pl.Float64)
    if column.dtype.is_numeric():
        return column
    if column.dtype == pl.String or isinstance(column.dtype, pl.Categorical | pl.Enum):
        if column.null_count() == len(column):  # an empty column has no categories
            return column.cast(pl.String).cast(pl.Float64)
        return column.cast(pl.String)
    raise UserError(
        f"Columns must be numbers or text; {column.name!r} is {column.dtype}: leave it out with "
        f"--drop {quote(column.name)}, or convert it to numbers."
    )


def _learned(column: pl.Series, examples: Sequence[Any] | None) -> pl.Series:
    """Convert a column to what the model was fitted on."""
    converted = learnable(column)
    if examples is not None:
        _check_text(converted, examples)
        return converted
    if converted.dtype.is_numeric():
        return converted
    texts = converted.drop_nulls().unique().sort().to_list()
    hint = " Read decimal commas with `--decimal ,`." if looks_like(texts) == DECIMAL_COMMAS else ""
    raise UserError(
        f"Column {column.name!r} must hold numbers, as in training; it holds text such as "
        f"{texts[0]!r}.{hint}"
    )


def _check_text(column: pl.Series, examples: Sequence[Any]) -> None:
    """Refuse numbers where the training had text and no number in it, though all is read as text."""
    values = column.drop_nulls()
    if column.dtype != pl.String or not examples or not len(values):
        return
    texts = [example for example in examples if isinstance(example, str)]
    if values.str.strip_chars().cast(pl.Float64, strict=False).null_count() or not texts:
        return
    if not any(map(reads_as_number, texts)):
        raise UserError(
            f"Column {column.name!r} must hold text such as {texts[0]!r}, as in training; it holds "
            f"numbers such as {values[0]}."
        )
