"""``marginboost predict``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

import marginboost
from marginboost.cli.failure import UserError, check_column
from marginboost.cli.features import features_for, text_columns
from marginboost.cli.output import check_output
from marginboost.cli.table import read_table, write_table
from marginboost.cli.words import counted, note
from marginboost.evaluation.costs import decide
from marginboost.model.file import write_bytes

ANSWER = "prediction"


def predict_table(
    path: Path,
    file: str,
    out: Path | None,
    proba: bool,
    keep: Sequence[str],
    decimal: str = ".",
) -> None:
    """Predict the class of every row of a table, and write the predictions."""
    if out is not None:
        check_output(out, (str(path), file), table=True)
    model = marginboost.load(path)
    frame = read_table(file, text_columns(model), decimal)
    for name in keep:
        check_column(name, frame.columns, "--keep")
    X = features_for(model, frame)
    columns = [frame[name] for name in dict.fromkeys(keep)]
    if proba:
        probabilities = model.predict_proba(X)
        labels = model.classes_[decide(model, probabilities)]
        of_class = [
            pl.Series(f"probability_{label}", probabilities[:, place])
            for place, label in enumerate(model.classes_)
        ]
    else:
        labels, of_class = model.predict(X), []
    answers = [*columns, pl.Series(ANSWER, labels), *of_class]
    names = [column.name for column in answers]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UserError(
            f"--keep must not name a column that is written anyway; got {twice.pop()!r}."
        )
    answer = pl.DataFrame(answers)
    if out is None:
        write_table(answer, sys.stdout.buffer, "answer.csv")
        sys.stdout.buffer.flush()
        return
    content = BytesIO()
    write_table(answer, content, out.name)
    write_bytes(out, content.getvalue())
    note(f"{out}: {counted(answer.height, 'row')}")
