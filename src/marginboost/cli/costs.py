"""The options --costs and --order: what mistakes cost, and the order of the classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from marginboost.cli.failure import UserError
from marginboost.cli.table import read_table
from marginboost.cli.words import one_of

__all__ = ["read_cost_file", "read_order"]


def read_order(text: str | None, classes: NDArray[Any]) -> list[Any] | None:
    """Return the labels of a list with commas, the lowest first."""
    if text is None:
        return None
    labels = _by_text(classes)
    names = [name.strip() for name in text.split(",")]
    missing = [one_of(label) for name, label in labels.items() if name not in names]
    if missing:
        raise UserError(f"--order must name every class; it lacks {', '.join(missing)}.")
    return [_label(name, labels, "--order") for name in names]


def read_cost_file(file: Path | None, classes: NDArray[Any]) -> dict[Any, dict[Any, float]] | None:
    """Read what mistakes cost.

    Parameters
    ----------
    file : path or None
        JSON, {true class: {predicted class: cost}}; or a table whose first column holds the true
        classes, with a column of costs for each predicted class.
    classes : array
        The labels.
    """
    if file is None:
        return None
    rows = _from_json(file) if file.suffix.lower() == ".json" else _from_table(file)
    labels = _by_text(classes)
    return {
        _label(true, labels, file): {
            _label(predicted, labels, file): cost for predicted, cost in row.items()
        }
        for true, row in rows.items()
    }


def _from_json(file: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise UserError(f"{file} must hold JSON; {error}.") from None
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise UserError(
            f'{file} must hold costs by true and predicted class, like {{"a": {{"b": 5}}}}.'
        )
    return rows


def _from_table(file: Path) -> dict[str, dict[str, Any]]:
    frame = read_table(str(file), ())
    if frame.width < 2:
        raise UserError(
            f"{file} must have a column of true classes and one column of costs per predicted class; "
            f"it has {frame.width} in all."
        )
    text = [name for name in frame.columns[1:] if not frame[name].dtype.is_numeric()]
    if text:
        raise UserError(f"{file} must hold numbers as costs; column {text[0]!r} holds others.")
    true = [str(label) for label in frame[frame.columns[0]].to_list()]
    if len(set(true)) < len(true):
        raise UserError(f"{file} must have one row per true class; some have more.")
    found = {}
    for label, row in zip(true, frame.iter_rows(named=True), strict=True):
        costs = {name: row[name] for name in frame.columns[1:] if row[name] is not None}
        found[label] = costs
    return found


def _by_text(classes: NDArray[Any]) -> dict[str, Any]:
    return {str(label): label for label in classes.tolist()}


def _label(name: str, labels: dict[str, Any], where: object) -> Any:
    if name not in labels:
        shown = ", ".join(one_of(label) for label in list(labels.values())[:10])
        raise UserError(f"{where} must name classes of the target ({shown}); got {name!r}.")
    return labels[name]
