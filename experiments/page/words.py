"""Puts the numbers of a table into words, for Markdown and HTML alike."""

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
    """A cell in words.

    Attributes
    ----------
    ours : str
        Our number; words where there is none.
    best : bool
        Whether it is the best of its row.
    mark : str
        `ABOVE` or `BELOW` where it differs from the paper's; empty elsewhere.
    more : str
        What else belongs to it: the number of repeats, where the table does not say it.
    paper : str
        The paper's number, or nothing.
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
    """A table in words: rows of a label and cells, and a note to stand below."""

    rows: Sequence[tuple[str, Sequence[CellWords]]]
    note: str


def number_words(number: Number, digits: int) -> str:
    """Write a number with its standard deviation."""
    mean = _rounded(number.mean, digits)
    return mean if math.isnan(number.sd) else f"{mean} ± {_rounded(number.sd, digits)}"


def _rounded(value: float, digits: int) -> str:
    """Round; a small number that would become zero keeps two of its digits."""
    if math.isnan(value):
        return "no number"
    text = f"{value:,.{digits}f}"
    if value != 0 and float(text.replace(",", "")) == 0:
        text = f"{value:.2g}"
    return text.replace("-", "\N{MINUS SIGN}") if value < 0 else text


def repeats_words(repeats: int) -> str:
    """Say how many repeats there were."""
    return "1 repeat" if repeats == 1 else f"{repeats} repeats"


def table_words(table: Table) -> TableWords:
    """Put a table into words."""
    cells = [cell for _, row in table.rows for cell in row]
    counts = Counter(cell.repeats for cell in cells if cell.ours is not None)
    # The most common number is said once; the larger one where two are as common.
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
        # "not run", unless the cell says more, or is about nothing that could be run.
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
    """Say below a table what its cells rest on, and what their marks mean."""
    told = []
    if usual:
        spread = any(cell.ours and not math.isnan(cell.ours.sd) for cell in cells)
        what = "Mean ± standard deviation" if spread else "Mean" if usual > 1 else "Ours"
        others = " where a cell does not say otherwise" if len(counts) > 1 else ""
        told.append(f"{what} of {repeats_words(usual)}{others}.")
    else:
        told.append("Nothing of it was run.")
    if any(cell.paper is not None for cell in cells):
        told.append("The paper's number stands below ours.")
    if any(cell.differs for cell in cells):
        told.append(
            f"{ABOVE} above, {BELOW} below the paper's by more than one of its standard deviations."
        )
    if bold:
        told.append(f"Bold: the {table.best} of ours in a row.")
    return " ".join(told)


def slug(title: str) -> str:
    """Return the anchor that code hosts and Sphinx give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
