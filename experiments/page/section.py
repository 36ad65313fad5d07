"""What a section of the results page holds, before it is Markdown or HTML.

Protocol, findings, captions, claims and evidence are Markdown (no HTML); titles, headings, labels and
the text of cells are plain words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

HOLDS: Final = "holds"
IN_PART: Final = "holds in part"
FAILS: Final = "does not hold"
UNTESTED: Final = "not tested"
Judgement = Literal["holds", "holds in part", "does not hold", "not tested"]


@dataclass(frozen=True)
class Number:
    """A mean and its standard deviation; NaN if there is none."""

    mean: float
    sd: float = math.nan


@dataclass(frozen=True)
class Cell:
    """Our number and the paper's.

    Attributes
    ----------
    ours : Number or None
        None if it was not run.
    repeats : int
        Number of trials that ours is the mean of.
    paper : Number or None
        None if the paper has none.
    text : str
        Words to show instead of numbers, or after them.
    """

    ours: Number | None = None
    repeats: int = 0
    paper: Number | None = None
    text: str = ""

    @property
    def distance(self) -> float | None:
        """The distance of ours from the paper's; None if one of them is missing."""
        if self.ours is None or self.paper is None:
            return None
        return abs(self.ours.mean - self.paper.mean)

    @property
    def differs(self) -> bool:
        """Whether ours is more than one of the paper's standard deviations away from the paper's."""
        # If the paper has no standard deviation, no difference exceeds it.
        return (
            self.distance is not None and self.paper is not None and self.distance > self.paper.sd
        )


def cell_of(values: Sequence[float], paper: Number | None = None, text: str = "") -> Cell:
    """Return the cell of some repeats: their mean, and the standard deviation of two or more."""
    if not len(values):
        return Cell(None, 0, paper, text)
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return Cell(Number(float(np.mean(values)), sd), len(values), paper, text)


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    caption : str
        What it shows, and in which unit.
    columns : sequence of str
        Headings; the first is that of the rows' labels.
    rows : sequence of (str, sequence of Cell)
        Label, and one cell per further column.
    digits : int
        Digits after the decimal point.
    best : {"least", "most", None}
        Which of our numbers in a row is bold.
    name : str
        A short name by which findings refer to it.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    digits: int = 1
    best: Literal["least", "most"] | None = "least"
    name: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes
    ----------
    name : str
        Name of its file, without the extension.
    caption : str
        What it shows; also the alternative text.
    draw : callable
        Draws it into a matplotlib figure.
    width, height : float
        In inches.
    """

    name: str
    caption: str
    draw: Callable[[Any], None]
    width: float = 8.0
    height: float = 5.0


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper, tested."""

    claim: str
    judgement: Judgement
    evidence: str


@dataclass(frozen=True)
class Section:
    """One experiment on the page.

    Attributes
    ----------
    title : str
        Heading.
    protocol : str
        What was run, as paragraphs of Markdown.
    tables, plots, verdicts
        The results.
    findings : sequence of str
        What a reader should know about the differences: each a paragraph of Markdown.
    """

    title: str
    protocol: str
    tables: Sequence[Table] = field(default_factory=tuple)
    plots: Sequence[Plot] = field(default_factory=tuple)
    verdicts: Sequence[Verdict] = field(default_factory=tuple)
    findings: Sequence[str] = field(default_factory=tuple)
