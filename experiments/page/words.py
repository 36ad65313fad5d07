"""Format the numbers of a table, for Markdown and HTML alike."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.page.section import Cell, Number, Table

ABOVE, BELOW = "▲", "▼"
NOT_RUN = "not run"


@dataclass(frozen=True)
class CellWords:
    """A formatted cell.

    Attributes
    ----------
    ours : str
        Our number, or words if there is none.
    best : bool
        Whether it is the best of its row.
    mark : str
        `ABOVE` or `BELOW` if it differs from the paper's; else empty.
    more : str
        The number of repeats, unless the note of the table gives it.
    paper : str
        The paper's number, or empty.
    numeric : bool
        Whether there is a number in the cell.
    """

    ours: str
    best: bool
    mark: str
    more: str
    paper: str
    numeric: bool


@dataclass(frozen=True)
class TableWords:
    """A formatted table: rows of a label and cells, and a note below."""

    rows: Sequence[tuple[str, Sequence[CellWords]]]
    note: str


def number_words(number: Number, digits: int) -> str:
    """Format a number with its standard deviation."""
    mean = _rounded(number.mean, digits)
    return mean if math.isnan(number.sd) else f"{mean} ± {_rounded(number.sd, digits)}"


def _rounded(value: float, digits: int) -> str:
    """Round; a small number that would become zero keeps two digits."""
    if math.isnan(value):
        return "no number"
    text = f"{value:,.{digits}f}"
    if value != 0 and float(text.replace(",", "")) == 0:
        text = f"{value:.2g}"
    return text.replace("-", "\N{MINUS SIGN}") if value < 0 else text


def repeats_words(repeats: int) -> str:
    """Format the number of repeats."""
    return "1 repeat" if repeats == 1 else f"{repeats} repeats"


def table_words(table: Table) -> TableWords:
    """Format a table."""
    cells = [cell for _, row in table.rows for cell in row]
    counts = Counter(cell.repeats for cell in cells if cell.ours is not None)
    # The most common number is given once; the larger one if two are equally common.
    usual = max(counts, key=lambda repeats: (counts[repeats], repeats), default=0)
    rows = [(label, _row_words(row, table, usual)) for label, row in table.rows]
    bold = any(cell.best for _, row in rows for cell in row)
    return TableWords(rows, _note(table, cells, counts, usual, bold))


def _row_words(row: Sequence[Cell], table: Table, usual: int) -> list[CellWords]:
    means = [cell.ours.mean for cell in row if cell.ours is not None]
    means = [mean for mean in means if not math.isnan(mean)]
    best = None
    if table.best is not None and len(means) > 1:
        best = _rounded(min(means) if table.best == "least" else max(means), table.digits)
    return [_cell_words(cell, table.digits, best, usual) for cell in row]


def _cell_words(cell: Cell, digits: int, best: str | None, usual: int) -> CellWords:
    paper = "" if cell.paper is None else number_words(cell.paper, digits)
    if cell.ours is None:
        # "not run", unless the cell has words, or is about nothing that could be run.
        return CellWords(cell.text or NOT_RUN, False, "", "", paper, bool(paper))
    words = number_words(cell.ours, digits)
    mark = ""
    if cell.differs and cell.paper is not None:
        mark = ABOVE if cell.ours.mean > cell.paper.mean else BELOW
    return CellWords(
        ours=f"{words} {cell.text}" if cell.text else words,
        best=_rounded(cell.ours.mean, digits) == best,
        mark=mark,
        more="" if cell.repeats == usual else repeats_words(cell.repeats),
        paper=paper,
        numeric=True,
    )


def _note(table: Table, cells: Sequence[Cell], counts: Counter[int], usual: int, bold: bool) -> str:
    """Return the note below a table: what its cells mean, and what their marks mean."""
    told = []
    if usual:
        spread = any(cell.ours and not math.isnan(cell.ours.sd) for cell in cells)
        what = "Mean ± standard deviation" if spread else "Mean" if usual > 1 else "Ours"
        others = " unless a cell says otherwise" if len(counts) > 1 else ""
        told.append(f"{what} of {repeats_words(usual)}{others}.")
    else:
        told.append("Nothing in it was run.")
    if any(cell.paper is not None for cell in cells):
        told.append("The paper's number is below ours.")
    if any(cell.differs for cell in cells):
        told.append(
            f"{ABOVE} above, {BELOW} below the paper's by more than one of its standard deviations."
        )
    if bold:
        best = {"least": "lowest", "most": "highest"}[str(table.best)]
        told.append(f"Bold: our {best} number in a row.")
    return " ".join(told)


def slug(title: str) -> str:
    """Return the anchor that code hosts and Sphinx give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
