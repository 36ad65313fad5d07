"""``marginboost predict``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

import marginboost
from marginboost.cli.deciding import Deciding
from marginboost.cli.failure import UserError, check_column
from marginboost.cli.features import expected_text, features_for, text_columns
from marginboost.cli.formats import PLAIN, Dialect
from marginboost.cli.stored import frames_of, is_large
from marginboost.cli.table import read_table, write_table
from marginboost.cli.words import counted, note
from marginboost.model.file import write_bytes

ANSWER = "prediction"
NOTHING_MORE = Deciding()


def _load_and_read(
    path: Path, file: str, dialect: Dialect, *, labels_alone: bool
) -> tuple[Any, pl.DataFrame]:
    """Load a model and read a table, at the same time, since to load means to import.

    If labels are all that is asked for, scikit-learn is not imported, where the model's class allows it.
    """
    expected = expected_text(path)
    with ThreadPoolExecutor(1) as another:
        reading = another.submit(read_table, file, expected, dialect)
        from marginboost.estimators.prediction_model import (  # noqa: PLC0415 - while it is read
            read_for_prediction,
        )

        light = read_for_prediction(path) if labels_alone else None
        model = marginboost.load(path) if light is None else light
        frame = reading.result()
    text = text_columns(model)
    if set(text) != set(expected):
        raise UserError(f"{path} must not change while it is read; it has other columns now.")
    return model, frame


def _predicted(model: Any, X: Any, proba: bool) -> tuple[pl.Series, Any]:
    """Return the column of labels, and the probabilities if they are asked for."""
    probabilities = None
    if hasattr(model, "compiled"):  # read for prediction alone
        if proba:
            numbers, probabilities = model.compiled(X)
        else:
            numbers = model.compiled.predict(X)
        # To look up text in polars is quicker than to convert an array of text.
        return pl.Series(ANSWER, model.classes_).gather(numbers), probabilities
    if proba:
        from marginboost.evaluation.costs import decide  # noqa: PLC0415 - imports scikit-learn

        probabilities = model.predict_proba(X)
        return pl.Series(ANSWER, model.classes_[decide(model, probabilities)]), probabilities
    return pl.Series(ANSWER, model.predict(X)), probabilities


def predict_table(
    path: Path,
    file: str,
    out: Path | None,
    proba: bool,
    keep: Sequence[str],
    dialect: Dialect = PLAIN,
    deciding: Deciding = NOTHING_MORE,
) -> None:
    """Predict the class of every row of a table, and write the predictions."""
    if dialect.decimal == "." and is_large(file):
        model = deciding.adapted(marginboost.load(path))
        names = getattr(model, "feature_names_in_", None)
        frames = frames_of(file, names, keep, text_columns(model))
        answer = pl.concat([_answer(model, frame, proba, keep, deciding) for frame in frames])
    else:
        plain = deciding.coverage is None and deciding.frequencies is None
        model, frame = _load_and_read(path, file, dialect, labels_alone=plain)
        for name in keep:
            check_column(name, frame.columns, "--keep")
        answer = _answer(deciding.adapted(model), frame, proba, keep, deciding)
    if out is None:
        write_table(answer, sys.stdout.buffer, "answer.csv")
        sys.stdout.buffer.flush()
        return
    content = BytesIO()
    write_table(answer, content, out.name)
    write_bytes(out, content.getvalue())
    note(f"{out}: {counted(answer.height, 'row')}")


def _answer(
    model: Any, frame: pl.DataFrame, proba: bool, keep: Sequence[str], deciding: Deciding
) -> pl.DataFrame:
    """Predict some rows."""
    X = features_for(model, frame)
    columns = [frame[name] for name in dict.fromkeys(keep)]
    labels, probabilities = _predicted(model, X, proba)
    of_class = [
        pl.Series(f"probability_{label}", probabilities[:, place])
        for place, label in enumerate(model.classes_ if proba else ())
    ]
    answers = [*columns, labels, *deciding.columns(model, X), *of_class]
    names = [column.name for column in answers]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UserError(
            f"--keep must not name a column that is written anyway; got {twice.pop()!r}."
        )
    return pl.DataFrame(answers)
