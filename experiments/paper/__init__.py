"""The numbers that stand in the paper's tables.

One JSON file a table: numbers, no more. A cell names its data set and method as `experiments.data` and
`experiments.methods` do, its settings (`nu`, `eta`, ...), and for each measure the mean and, where the
paper has one, the standard deviation. `best` marks what the paper prints in bold, `called` is its own
name of a data set, and null stands for its dagger: not available.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from experiments.page.section import Number

__all__ = ["STAND_INS", "called", "facts", "number"]

# Ours, and what the paper had in its place: other data, so other numbers are to be expected.
STAND_INS = {"reuters52": "rcv1", "leaves100": "sector"}

# Sets that are to be held against another one's number.
_SAME_ROW = {"vowel-1452": "vowel"}
# Of a cell; whatever else it holds is a measure or a setting.
_WORDS = ("data", "called", "method", "best")


def number(
    table: str, data: str, method: str, *, measure: str | None = None, **settings: object
) -> Number | None:
    """Return a number of the paper.

    Parameters
    ----------
    table : str
        "table1" to "table8".
    data, method : str
        Our names. A stand-in gets the number of the set it stands in for.
    measure : str, optional
        "error", "seconds", ...: the table's first if None.
    **settings : object
        The cell's own: `nu` in table1, `eta` in table2, `n_classes` or `per_class` in table3,
        `features` in table8, none in the others.

    Returns
    -------
    Number or None
        None where the paper has none.
    """
    measures = list(facts(table)["measures"])
    measure = measures[0] if measure is None else measure
    if measure not in measures:
        raise ValueError(f"The measure of {table} must be one of {measures}; got {measure!r}.")
    cells = _cells(table)
    axes = {tuple(sorted(cell["settings"])) for cell in cells}
    if tuple(sorted(settings)) not in axes:
        raise ValueError(
            f"{table} must be asked by {' or '.join(map(str, sorted(axes)))}; "
            f"got {tuple(sorted(settings))}."
        )
    wanted = (_SAME_ROW.get(data, data), method)
    for cell in cells:
        if (cell["data"], cell["method"]) == wanted and cell["settings"] == settings:
            held = cell["measures"].get(measure)
            return None if held is None else Number(*held)
    return None


def called(table: str, data: str) -> str:
    """Return the paper's own name of a data set."""
    data = _SAME_ROW.get(data, data)
    return next((cell["called"] for cell in _cells(table) if cell["data"] == data), data)


@cache
def facts(table: str) -> Mapping[str, Any]:
    """Return all that is kept of a table.

    Beside `measures` and `cells`: how many `repeats` and `rounds`, `sets` with their sizes, and what
    the text says of it, such as the `wilcoxon` statistics of table4.
    """
    path = Path(__file__).parent / f"{table}.json"
    if not path.is_file():
        names = sorted(found.stem for found in path.parent.glob("*.json"))
        raise ValueError(f"The table must be one of {names}; got {table!r}.")
    held: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return held


@cache
def _cells(table: str) -> list[dict[str, Any]]:
    """Return the cells of a table, with settings and measures apart."""
    held = facts(table)
    return [
        {
            "data": cell["data"],
            "called": cell.get("called", cell["data"]),
            "method": cell["method"],
            "measures": {name: cell[name] for name in held["measures"] if name in cell},
            "settings": {
                name: value
                for name, value in cell.items()
                if name not in _WORDS and name not in held["measures"]
            },
        }
        for cell in held["cells"]
    ]
