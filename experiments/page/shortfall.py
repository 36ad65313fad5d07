"""The rule of repeats: five in every cell, unless a fit takes more than ten minutes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.page.chapter import Chapter
from experiments.page.section import Cell, Number, cell_of
from experiments.page.words import FEWEST, NOT_RUN, repeats_words
from experiments.trial import Records

__all__ = ["ALLOWED", "LONG", "above_list", "record_cell", "rule", "shortfall", "shortfalls"]

LONG = 600.0  # seconds of a fit that may be repeated less often
ALLOWED = "fewer are allowed"
WALL = (
    "Their seconds are those of the processor where they were measured, and else of the wall clock, "
    "mostly on a machine with other work; a cell without seconds was never timed, and may be one of "
    "those that the rule exempts."
)
EXEMPT = "Cells with fewer repeats, whose fits take longer:"
EMPTY = ("not run", "not timed")  # so begin the words of a cell that could have a number


def shortfall(of: Records, tries: Records | None = None) -> str:
    """Return why a cell has fewer repeats than the rule asks.

    Empty if it has enough, if it is of a small version, for which there is no rule, or if nothing
    shows how long a fit takes.

    Parameters
    ----------
    of : Records
        Those of the cell.
    tries : Records, optional
        Shorter fits by which a parameter of this one was chosen: they show how long it takes, where
        the cell has no fit.
    """
    if len(of) >= FEWEST or any(record.small for record in of):
        return ""
    if seconds := _seconds(of):
        on = " on a GPU" if any(str(r.origin.get("device")) != "cpu" for r in of) else ""
        words = f"a fit takes {seconds:,.{0 if seconds >= 1 else 1}f} s{on}"
        return f"{words}: {ALLOWED}" if seconds > LONG else words
    if tries is not None and (seconds := _seconds(tries)):
        return f"a fit of fewer rounds, to choose its parameter, takes {seconds:,.0f} s"
    return ""


def _seconds(of: Records) -> float:
    """Return the seconds of a fit: of the processor, where they are known, which exclude waiting."""
    either = [r.measures.get("fit_processor_seconds", r.measures.get("fit_seconds")) for r in of]
    taken = [seconds for seconds in either if seconds is not None]
    return float(np.mean(taken)) if taken else 0.0


def record_cell(
    of: Records, paper: Number | None = None, text: str = "", tries: Records | None = None
) -> Cell:
    """Return the cell of the errors of records, which says if they are too few: see `shortfall`."""
    return cell_of(of.by_draw, paper, text, shortfall(of, tries))


def shortfalls(chapters: Sequence[Chapter]) -> list[str]:
    """Return a line for every cell with fewer repeats than the rule asks, each fit once."""
    lines = (
        f"{chapter.section.title.split(':')[0]}, {label}, {column}: {_words(cell)}"
        for chapter in chapters
        if not chapter.small
        for table in chapter.section.tables
        for label, row in table.rows
        for column, cell in zip(table.columns[1:], row, strict=True)
        if cell.short or (cell.ours is None and (cell.text or NOT_RUN).startswith(EMPTY))
    )
    return list(dict.fromkeys(lines))


def _words(cell: Cell) -> str:
    had = repeats_words(cell.repeats) if cell.repeats else cell.text or NOT_RUN
    return "; ".join(filter(None, (had, cell.short)))


def above_list(chapters: Sequence[Chapter]) -> str:
    """Return the rule, and what to know of the cells that are listed below it."""
    return f"{rule(chapters)} {WALL if _n_breaking(chapters) else EXEMPT}"


def _n_breaking(chapters: Sequence[Chapter]) -> int:
    return sum(ALLOWED not in line for line in shortfalls(chapters))


def rule(chapters: Sequence[Chapter]) -> str:
    """Return the rule, and how many cells break it."""
    n = _n_breaking(chapters)
    breaking = f"cells that break it, for want of time: {n}" if n else "no cell breaks it"
    return (
        f"The rule is {FEWEST} repeats in every cell, unless a fit takes more than {LONG / 60:.0f} "
        f"minutes; {breaking}."
    )
