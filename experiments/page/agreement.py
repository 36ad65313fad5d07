"""How many of our numbers are within one of the paper's standard deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments.page.section import Table


class _Compared(NamedTuple):
    """One of our numbers with the paper's; `deviations` is positive if ours is larger."""

    row: str
    column: str
    deviations: float

    def __str__(self) -> str:
        return f"{self.row}, {self.column} ({self.deviations:+.1f})"


def agreement(tables: Sequence[Table], of: Sequence[str] = ()) -> list[str]:
    """Return the count, and name the others, the farthest first.

    Parameters
    ----------
    tables : sequence of Table
        The tables with the cells.
    of : sequence of str
        Headings of the columns to compare; all if empty.

    Returns
    -------
    list of str
        One finding; empty if there is nothing to compare.
    """
    compared = list(_compared(tables, of))
    if not compared:
        return []
    outside = [found for found in compared if abs(found.deviations) > 1]
    outside.sort(key=lambda found: -abs(found.deviations))
    what = f"numbers of {' and '.join(of)}" if of else "numbers"
    said = (
        f"Of {len(compared)} {what} that the paper has as well, {len(compared) - len(outside)} are "
        "within "
        "one of its standard deviations."
    )
    if not outside:
        return [said]
    told = "; ".join(map(str, outside))
    return [f"{said} The others, with the difference in standard deviations: {told}."]


def _compared(tables: Sequence[Table], of: Sequence[str]) -> Iterator[_Compared]:
    for table in tables:
        for row, cells in table.rows:
            for column, cell in zip(table.columns[1:], cells, strict=True):
                if of and column not in of:
                    continue
                if cell.ours is None or cell.paper is None or math.isnan(cell.paper.sd):
                    continue
                deviations = (cell.ours.mean - cell.paper.mean) / cell.paper.sd
                yield _Compared(" ".join(filter(None, (table.name, row))), column, deviations)
