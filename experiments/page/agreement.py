"""How many of our numbers are within one of the paper's standard deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments.page.section import Table


class _Compared(NamedTuple):
    """One of ours with the paper's; `deviations` is above zero where ours is larger."""

    row: str
    column: str
    deviations: float

    def __str__(self) -> str:
        return f"{self.row}, {self.column} ({self.deviations:+.1f})"


def agreement(tables: Sequence[Table], of: Sequence[str] = ()) -> list[str]:
    """Say it, and name the others, farthest first.

    Parameters
    ----------
    tables : sequence of Table
        Where the cells are.
    of : sequence of str
        Headings of the columns to look at; none stands for all.

    Returns
    -------
    list of str
        A finding; none where there is nothing to compare.
    """
    compared = list(_compared(tables, of))
    if not compared:
        return []
    outside = [found for found in compared if abs(found.deviations) > 1]
    outside.sort(key=lambda found: -abs(found.deviations))
    what = f"numbers of {' and '.join(of)}" if of else "numbers"
    said = (
        f"Of {len(compared)} {what} that the paper has too, {len(compared) - len(outside)} are within "
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
