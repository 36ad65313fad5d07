"""A figure for a table: our numbers beside the paper's, a panel per row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from experiments.page.section import Cell, Number, Plot, Table
from marginboost.plot.canvas import COLOURS

__all__ = ["beside_paper"]

ACROSS = 4  # panels in a row
# How far apart the numbers of two tables stand above one heading.
APART = 0.22


def beside_paper(
    name: str, tables: Sequence[Table], *, labels: Sequence[str] = (), across: int = ACROSS
) -> Plot:
    """Return a figure of tables that have the same rows and headings.

    Parameters
    ----------
    name : str
        Of the file.
    tables : sequence of Table
        Each gets a colour.
    labels : sequence of str
        What tells the tables apart; nothing if there is one.
    across : int
        Panels in a row.
    """
    rows = [label for label, _ in tables[0].rows]
    across = min(across, len(rows)) or 1
    down = max(1, -(-len(rows) // across))

    def draw(figure: Any) -> None:
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for place, panel in enumerate(panels[: len(rows)]):
            for table, colour, shift in zip(tables, COLOURS, _shifts(len(tables)), strict=False):
                _draw_row(panel, table.rows[place][1], colour, shift)
            panel.set_title(rows[place])
            below = place + across < len(rows)  # a panel whose headings serve this one too
            headings = tables[0].columns[1:]
            words = [""] * len(headings) if below else headings
            panel.set_xticks(range(len(headings)), words, rotation=90, fontsize="small")
            panel.set_ylim(bottom=0)
        for panel in panels[len(rows) :]:
            panel.set_axis_off()
        figure.supylabel("test error in %")
        _legend(figure, labels)

    words = f" Colours: {', '.join(labels)}." if labels else ""
    return Plot(
        name,
        "Test error in %: filled, ours; open, the paper's. Bars are two standard errors of the mean to "
        f"each side, and hidden where they are smaller than the mark.{words}",
        draw,
        11.0,
        2.4 * down + 1.5,
    )


def _shifts(n: int) -> list[float]:
    return [APART * (place - (n - 1) / 2) for place in range(n)]


def _draw_row(panel: Any, cells: Sequence[Cell], colour: str, shift: float) -> None:
    for place, cell in enumerate(cells):
        near = 0.06  # ours to the left of the paper's
        for number, repeats, face, at in (
            (cell.ours, cell.repeats, colour, place + shift - near),
            (cell.paper, cell.paper.repeats if cell.paper else 0, "white", place + shift + near),
        ):
            if number is not None and not math.isnan(number.mean):
                panel.errorbar(
                    at,
                    number.mean,
                    yerr=_two_errors(number, repeats),
                    fmt="o",
                    color=colour,
                    markerfacecolor=face,
                    markersize=4.5,
                    linewidth=1,
                )


def _two_errors(number: Number, repeats: int) -> float:
    """Return two standard errors of a mean; 0 where they are not known."""
    if math.isnan(number.sd) or repeats < 1:
        return 0.0
    return 2 * number.sd / math.sqrt(repeats)


def _legend(figure: Any, labels: Sequence[str]) -> None:
    """Explain the colours, if there are several."""
    if len(labels) < 2:
        return
    from matplotlib.lines import Line2D  # noqa: PLC0415  slow to come

    keys = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=label)
        for label, colour in zip(labels, COLOURS, strict=False)
    ]
    figure.legend(handles=keys, loc="outside upper right", ncols=len(keys))
