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
    """A mean with its standard deviation; NaN where there is none."""

    mean: float
    sd: float = math.nan


@dataclass(frozen=True)
class Cell:
    """Ours beside the paper's.

    Attributes
    ----------
    ours : Number or None
        None where it was not run.
    repeats : int
        How many trials ours is the mean of.
    paper : Number or None
        None where the paper has none.
    text : str
        Instead of numbers, where the cell holds words; or after them.
    """

    ours: Number | None = None
    repeats: int = 0
    paper: Number | None = None
    text: str = ""

    @property
    def distance(self) -> float | None:
        """How far ours is from the paper's; None where one of them is not there."""
        if self.ours is None or self.paper is None:
            return None
        return abs(self.ours.mean - self.paper.mean)

    @property
    def differs(self) -> bool:
        """Whether ours is more than one of the paper's standard deviations away from the paper's."""
        # Where the paper has no standard deviation no difference exceeds it.
        return (
            self.distance is not None and self.paper is not None and self.distance > self.paper.sd
        )


def cell_of(values: Sequence[float], paper: Number | None = None, text: str = "") -> Cell:
    """Return the cell of some repeats: their mean, and standard deviation where there are two."""
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
        Label, and one cell a further column.
    digits : int
        After the decimal point.
    best : {"least", "most", None}
        Which of our numbers in a row is set in bold.
    name : str
        In a word, where a finding has to tell it from others.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    digits: int = 1
    best: Literal["least", "most"] | None = "least"
    name: str = ""


@dataclass(frozen=True)
class Plot:
    """A picture.

    Attributes
    ----------
    name : str
        Of its file, without the ending.
    caption : str
        What it shows; read aloud where the picture is not seen.
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
        What came of it.
    findings : sequence of str
        What a reader should know of the differences: each a paragraph of Markdown.
    """

    title: str
    protocol: str
    tables: Sequence[Table] = field(default_factory=tuple)
    plots: Sequence[Plot] = field(default_factory=tuple)
    verdicts: Sequence[Verdict] = field(default_factory=tuple)
    findings: Sequence[str] = field(default_factory=tuple)
