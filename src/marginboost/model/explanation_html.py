"""An explanation as HTML, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginboost.html import Html, join, name, tag

if TYPE_CHECKING:
    from marginboost.model.explanation import Explanation

__all__ = ["explanation_html"]

_ROWS = 3
_FEATURES = 8
_UP, _DOWN = "#0072b2", "#d55e00"
_CELL = "text-align: left; padding: .1em .8em .1em 0"
_NUMBER = "text-align: right; padding: .1em 0; font-variant-numeric: tabular-nums"


def explanation_html(explanation: Explanation) -> Html:
    """Show the first rows: what moves the score of the class with the highest score.

    Parameters
    ----------
    explanation : Explanation
        Of any number of rows.

    Returns
    -------
    Html
        Styles are part of its elements, and text has the colour of the page around it.
    """
    n, n_features, n_asked = explanation.contributions.shape
    counts = [(n, "row", "rows"), (n_features, "feature", "features")]
    counts.append((n_asked, "class per row", "classes per row"))
    sizes = ", ".join(f"{many:,} {one if many == 1 else more}" for many, one, more in counts)
    parts: list[Html] = [tag("p", tag("b", "Explanation"), f" of {sizes}")]
    if n_asked:
        parts += [_row(explanation, row) for row in range(min(n, _ROWS))]
        if n > _ROWS:
            parts.append(tag("p", f"The first {_ROWS} of {n:,} rows are shown."))
    return tag("div", *parts)


def _row(explanation: Explanation, row: int) -> Html:
    place = explanation.place_of(row)
    label = explanation.labels[explanation.classes[row, place]]
    base, score = float(explanation.base[row, place]), float(explanation.scores[row, place])
    top = explanation.top_features(row, n=_FEATURES)
    lines = [(join([name(feature), f" = {value[:40]}"]), amount) for feature, value, amount in top]
    n_rest = int((explanation.contributions[row, :, place] != 0).sum()) - len(top)
    if n_rest:
        rest = score - base - sum(amount for _, _, amount in top)
        lines.append((Html("1 other feature" if n_rest == 1 else f"{n_rest:,} others"), rest))
    largest = max((abs(amount) for _, amount in lines), default=0.0) or 1.0
    cells = [
        tag(
            "tr",
            tag("th", words, scope="row", style=f"{_CELL}; font-weight: normal"),
            tag("td", _bar(amount / largest), style=_CELL),
            tag("td", f"{amount:+.3g}".replace("-", "\N{MINUS SIGN}"), style=_NUMBER),
        )
        for words, amount in lines
    ]
    words = f"Row {row}: the score of class "
    ends = f" is {score:.3g}; its mean is {base:.3g}, and the features add"
    return join([
        tag("p", words, tag("b", name(label)), ends.replace("-", "\N{MINUS SIGN}"),
            style="margin: .6em 0 .2em"),
        tag("table", tag("tbody", *cells), style="margin: 0; border-collapse: collapse"),
    ])  # fmt: skip


def _bar(share: float) -> Html:
    """Draw a bar to the right of the middle, or to its left."""
    left, width = (50.0, 50 * share) if share >= 0 else (50 * (1 + share), -50 * share)
    colour = _UP if share >= 0 else _DOWN
    rect = tag("rect", x=f"{left:.2f}", y=1, width=f"{width:.2f}", height=8, fill=colour)
    zero = tag("line", x1=50, x2=50, y1=0, y2=10, stroke="currentColor", stroke_width=0.5)
    return tag("svg", rect, zero, viewBox="0 0 100 10", preserveAspectRatio="none",
               width=160, height=12, aria_hidden="true")  # fmt: skip
