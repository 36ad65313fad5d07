"""Tables that a reader can sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marginboost.report.html import Html, tag
from marginboost.report.summary import NOTHING

__all__ = ["number_cell", "share_cell", "table"]

# More rows than this are hidden until the reader asks for them.
_SHOWN_ROWS = 20


def table(heads: Sequence[str], rows: Sequence[Html], *, numbers: Sequence[int] = ()) -> Html:
    """Make a table whose rows can be sorted by any column, and are all shown without a script.

    Parameters
    ----------
    heads : sequence of str
        The names of the columns.
    rows : sequence of Html
        Elements `tr`.
    numbers : sequence of int
        The columns that hold numbers, aligned to the right.

    Returns
    -------
    Html
    """
    cells = [
        tag("th", word, scope="col", class_="number" if place in numbers else None)
        for place, word in enumerate(heads)
    ]
    limit = _SHOWN_ROWS if len(rows) > _SHOWN_ROWS + 4 else None  # a few more need no button
    body = tag("tbody", *rows)
    made = tag("table", tag("thead", tag("tr", *cells)), body, class_="sortable", data_limit=limit)
    return tag("div", made, class_="wide")


def number_cell(text: str, value: float) -> Html:
    """Make a cell of a number, which sorts by its value; NaN comes first."""
    order = -1.0 if np.isnan(value) else float(value)
    return tag("td", text, class_="number", data_value=f"{order:.9g}")


def share_cell(value: Any) -> Html:
    """Make a cell of a share: all with the same number of digits, so that they align."""
    return number_cell(NOTHING if np.isnan(value) else f"{100 * value:.1f}%", value)
