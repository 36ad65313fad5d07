"""``marginboost report``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import marginboost
from marginboost.cli.deciding import AS_TRAINED, Deciding
from marginboost.cli.failure import UserError, check_column
from marginboost.cli.features import features_for, labels_of, text_columns
from marginboost.cli.formats import PLAIN, Dialect
from marginboost.cli.table import read_table
from marginboost.cli.words import note
from marginboost.report import write_report


def report_on(
    path: Path,
    file: str,
    target: str,
    out: Path,
    dialect: Dialect = PLAIN,
    deciding: Deciding = AS_TRAINED,
) -> None:
    """Write a report on how well a model predicts a table."""
    model = deciding.adapted(marginboost.load(path))
    frame = read_table(file, text_columns(model, target), dialect)
    check_column(target, frame.columns, "--target")
    frame = frame.drop_nulls(target)
    X, y = features_for(model, frame), labels_of(frame, target)
    if not np.isin(y, model.classes_).any():
        raise UserError(f"The target must hold the model's classes; {target!r} holds none of them.")
    write_report(model, out, X, y, title=f"{target} in {file}")
    note(f"Report: {out}")
