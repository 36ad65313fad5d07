"""How many of our numbers differ from the paper's by more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments.page.section import LEVEL, Gap, Table


class _Compared(NamedTuple):
    """One of our numbers with the paper's."""

    row: str
    column: str
    gap: Gap

    def __str__(self) -> str:
        return f"{self.row}, {self.column} ({self.gap.effect:+.1f})"


def agreement(tables: Sequence[Table], of: Sequence[str] = ()) -> list[str]:
    """Return the count, and name those that differ, the farthest first.

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
    apart = [found for found in compared if found.gap.differs]
    apart.sort(key=lambda found: -abs(found.gap.effect))
    what = f"numbers of {', '.join(of)}" if of else "numbers"
    said = (
        f"Of {len(compared)} {what} that the paper has as well, {len(apart)} differ from it by more "
        f"than chance (Welch's test, p < {LEVEL:g}; chance alone would give {LEVEL * len(compared):.1f})"
    )
    if not apart:
        return [f"{said}."]
    above = sum(found.gap.effect > 0 for found in apart)
    rows = Counter(found.row for found in apart).most_common()
    by_row = ", ".join(f"{row} {count}" for row, count in rows)
    return [
        f"{said}: ours is higher in {above} and lower in {len(apart) - above}. By row: {by_row}. With "
        f"the difference in standard deviations of a repeat: {'; '.join(map(str, apart))}."
    ]


def _compared(tables: Sequence[Table], of: Sequence[str]) -> Iterator[_Compared]:
    for table in tables:
        for row, cells in table.rows:
            for column, cell in zip(table.columns[1:], cells, strict=True):
                if (not of or column in of) and (found := cell.gap) is not None:
                    yield _Compared(" ".join(filter(None, (table.name, row))), column, found)
