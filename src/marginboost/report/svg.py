"""Charts as SVG; colours are CSS classes, so that a style sheet can make them light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marginboost.report.html import Html, escape, tag

__all__ = ["Chart", "bar", "number"]

WIDTH, HEIGHT = 440, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 12, 40


def number(value: float) -> str:
    """Format a number of an axis or a table, with four digits."""
    text = f"{value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _ticks(low: float, high: float, n: int = 5) -> list[float]:
    """Return about n round numbers between two numbers."""
    width = (high - low) / max(1, n)
    size = 10.0 ** np.floor(np.log10(width))
    step = float(next(m * size for m in (1, 2, 5, 10) if m * size >= width * 0.999))
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [j * step for j in range(first, last + 1)]


class Chart:
    """A chart, drawn part by part.

    Parameters
    ----------
    x, y : (float, float)
        Ranges of the axes.
    words : (str, str)
        The labels of the axes.
    label : str
        What the chart shows, for screen readers.
    places : sequence of str, optional
        Names of the positions 0, 1, ... of the x axis, to show in place of numbers.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        words: tuple[str, str],
        label: str,
        places: Sequence[str] | None = None,
    ) -> None:
        self._x, self._y = _wide(x), _wide(y)
        self._label = label
        self._parts: list[Html] = []
        self._frame(words, places)

    def _at(self, x: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
        """Return the position of values, in pixels, rounded to a tenth."""
        (x0, x1), (y0, y1) = self._x, self._y
        across = (np.asarray(x, dtype=np.float64) - x0) / (x1 - x0)
        up = (np.asarray(y, dtype=np.float64) - y0) / (y1 - y0)
        return (
            np.round(_LEFT + np.clip(across, 0, 1) * (WIDTH - _LEFT - _RIGHT), 1),
            np.round(HEIGHT - _BOTTOM - np.clip(up, 0, 1) * (HEIGHT - _TOP - _BOTTOM), 1),
        )

    def _frame(self, words: tuple[str, str], places: Sequence[str] | None) -> None:
        bottom = HEIGHT - _BOTTOM
        for tick in _ticks(*self._y):
            _, place = self._at(self._x[0], tick)
            self._add("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=place, y2=place, class_="grid")
            self._add("text", number(tick), x=_LEFT - 6, y=place + 4, class_="end")
        named = [(float(j), word) for j, word in enumerate(places or ())]
        for tick, word in named or [(tick, number(tick)) for tick in _ticks(*self._x)]:
            place, _ = self._at(tick, self._y[0])
            self._add("line", x1=place, x2=place, y1=bottom, y2=bottom + 4, class_="axis")
            self._add("text", word, x=place, y=bottom + 17, class_="middle")
        self._add("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=bottom, y2=bottom, class_="axis")
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        self._add("text", words[0], x=middle, y=HEIGHT - 5, class_="middle")
        up = (_TOP + bottom) / 2
        self._add(
            "text", words[1], x=0, y=0, class_="middle", transform=f"translate(12 {up}) rotate(-90)"
        )

    def _add(self, kind: str, *children: Any, **attributes: Any) -> None:
        self._parts.append(tag(kind, *children, **attributes))

    def line(self, x: ArrayLike, y: ArrayLike, style: str) -> None:
        """Draw a line through points."""
        across, up = self._at(x, y)
        points = " ".join(f"{a:g},{b:g}" for a, b in zip(across, up, strict=True))
        self._add("polyline", points=points, class_=f"curve {style}")

    def steps(self, edges: Sequence[float], values: ArrayLike, style: str) -> None:
        """Draw a step function: one value between each pair of edges."""
        heights = np.repeat(np.asarray(values), 2)
        self.line(np.repeat(np.asarray(edges), 2)[1:-1], heights, style)

    def dots(self, x: ArrayLike, y: ArrayLike, style: str, radius: float = 3.5) -> None:
        """Draw points."""
        for across, up in zip(*map(np.atleast_1d, self._at(x, y)), strict=True):
            self._add("circle", cx=f"{across:g}", cy=f"{up:g}", r=radius, class_=f"dot {style}")

    def band(self, x0: float, x1: float) -> None:
        """Shade the area between two positions of the x axis."""
        left, right = (float(self._at(x, self._y[0])[0]) for x in (x0, x1))
        self._add("rect", x=left, y=_TOP, width=round(max(0.0, right - left), 1),
                  height=HEIGHT - _TOP - _BOTTOM, class_="band")  # fmt: skip

    def bars(self, edges: Sequence[float], heights: ArrayLike, style: str) -> None:
        """Draw bars upwards from zero, between edges."""
        for left, right, height in zip(edges, edges[1:], np.asarray(heights), strict=False):
            (a, b), (top, bottom) = self._at([left, right], [height, self._y[0]])
            self._add("rect", x=a, y=top, width=max(0.5, round(b - a - 1, 1)),
                      height=round(bottom - top, 1), class_=style)  # fmt: skip

    def note(self, x: float, text: str) -> None:
        """Mark a position of the x axis with a line and words."""
        place, _ = self._at(x, self._y[0])
        self._add("line", x1=place, x2=place, y1=_TOP, y2=HEIGHT - _BOTTOM, class_="mark")
        near_end = place > 0.7 * WIDTH
        self._add("text", text, x=place + (-5 if near_end else 5), y=_TOP + 11,
                  class_="end" if near_end else None)  # fmt: skip

    def word(self, x: float, y: float, text: str) -> None:
        """Write a word centred above a point."""
        across, up = self._at(x, y)
        half = 3.5 * len(text)  # a wide letter has seven pixels
        middle = min(float(across), WIDTH - half)
        self._add("text", text, x=middle, y=up - 4, class_="middle")

    def html(self) -> Html:
        """Return the chart."""
        return tag("svg", *self._parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img",
                   aria_label=self._label, class_="chart")  # fmt: skip


def _wide(ends: tuple[float, float]) -> tuple[float, float]:
    """Widen a range whose ends are equal."""
    low, high = float(ends[0]), float(ends[1])
    if high - low > 1e-12 * max(abs(low), abs(high), 1e-290):
        return low, high
    room = 0.5 * abs(low) or 0.5
    return low - room, high + room


def bar(share: float, style: str = "s0", start: float = 0.0) -> Html:
    """Draw a bar in a cell of a table; its start and length are shares of the cell."""
    left, width = min(start, start + share), abs(share)
    rect = tag(
        "rect", x=f"{100 * left:.2f}", y=1, width=f"{100 * width:.2f}", height=8, class_=style
    )
    zero = tag("line", x1=f"{100 * start:.2f}", x2=f"{100 * start:.2f}", y1=0, y2=10, class_="zero")
    return tag("svg", rect, zero if start else escape(""), viewBox="0 0 100 10",
               preserveAspectRatio="none", aria_hidden="true", class_="bar")  # fmt: skip
