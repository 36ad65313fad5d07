"""Format the numbers of a table, for Markdown and HTML alike."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.page.section import LEVEL, Cell, Number, Table

ABOVE, BELOW = "▲", "▼"
NOT_RUN = "not run"
FEWEST = 5  # draws that a comparison needs


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
        `ABOVE` or `BELOW` if it differs from the paper's, with the effect size; else empty.
    more : str
        The number of repeats, unless the note of the table gives it; why there are fewer than the rule
        asks; and the words of the cell.
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
    """Format a number with its standard deviation, to as many decimals."""
    digits = _decimals(number.mean, digits)
    mean = _rounded(number.mean, digits)
    return mean if math.isnan(number.sd) else f"{mean} ± {_rounded(number.sd, digits)}"


def _decimals(value: float, most: int) -> int:
    """Return how many decimals a number is shown with: three digits in all, if it is above one."""
    if math.isnan(value) or abs(value) < 1:
        return most
    return min(most, max(0, 2 - math.floor(math.log10(abs(value)))))


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
    means = on_common_draws(row)
    known = [mean for mean in means if mean is not None]
    best = None
    if table.best is not None and len(known) > 1:
        best = _rounded(min(known) if table.best == "least" else max(known), table.digits)
    return [
        _cell_words(
            cell,
            table.digits,
            mean is not None and _rounded(mean, table.digits) == best,
            usual,
        )
        for cell, mean in zip(row, means, strict=True)
    ]


def on_common_draws(row: Sequence[Cell]) -> list[float | None]:
    """Return the means by which the cells of a row are compared.

    They are over the draws that all cells have seen. A cell with fewer than `FEWEST` draws, where
    others have more, is not compared: its mean is None. Where draws are not known, all means count.
    """
    counted = [cell for cell in row if cell.draws]
    if not counted:
        return [
            None if cell.ours is None or math.isnan(cell.ours.mean) else cell.ours.mean
            for cell in row
        ]
    least = min(FEWEST, max(len(cell.draws) for cell in counted))
    compared = [cell for cell in counted if len(cell.draws) >= least]
    common = sorted(set.intersection(*(set(cell.draws) for cell in compared)))
    if not common:
        return [None] * len(row)
    return [
        float(np.mean([cell.draws[n] for n in common]))
        if any(cell is c for c in compared)
        else None
        for cell in row
    ]


def _cell_words(cell: Cell, digits: int, best: bool, usual: int) -> CellWords:
    paper = "" if cell.paper is None else number_words(cell.paper, digits)
    if cell.ours is None:
        # "not run", unless the cell has words, or is about nothing that could be run.
        return CellWords(cell.text or NOT_RUN, False, "", cell.short, paper, bool(paper))
    words = number_words(cell.ours, digits)
    mark = ""
    if cell.gap is not None and cell.gap.differs:
        side = ABOVE if cell.gap.effect > 0 else BELOW
        mark = f"{side} {abs(cell.gap.effect):.1f}"
    more = [repeats_words(cell.repeats)] if cell.repeats != usual or cell.short else []
    more += [cell.short] if cell.short else []
    return CellWords(
        ours=words,
        best=best,
        mark=mark,
        more="; ".join([*more, *([cell.text] if cell.text else [])]),
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
            f"{ABOVE} above, {BELOW} below the paper's (Welch's test, p < {LEVEL:g}), with the "
            "difference in standard deviations of a repeat."
        )
    if bold:
        best = {"least": "lowest", "most": "highest"}[str(table.best)]
        told.append(f"Bold: our {best} number in a row{_bold_over(table)}.")
    return " ".join(told)


def _bold_over(table: Table) -> str:
    """Return on which draws the cells of a row are compared."""
    rows = [row for _, row in table.rows if any(cell.draws for cell in row)]
    if not rows:
        return ""
    left_out = any(
        cell.draws and mean is None
        for row in rows
        for cell, mean in zip(row, on_common_draws(row), strict=True)
    )
    words = ", over the draws that its cells have in common"
    return f"{words}; cells of fewer than {FEWEST} are not compared" if left_out else words


def slug(title: str) -> str:
    """Return the anchor that code hosts and Sphinx give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
