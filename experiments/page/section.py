"""What a section of the results page holds, before it is Markdown or HTML.

Protocol, findings, captions, claims and evidence are Markdown (no HTML); titles, headings, labels and
the text of cells are plain words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from scipy.stats import norm, ttest_ind_from_stats

HOLDS: Final = "holds"
IN_PART: Final = "holds in part"
FAILS: Final = "does not hold"
UNTESTED: Final = "not tested"
Judgement = Literal["holds", "holds in part", "does not hold", "not tested"]


# The two numbers of a cell differ where chance would part them so far less often than this.
LEVEL = 0.01


@dataclass(frozen=True)
class Number:
    """A mean, its standard deviation (NaN if there is none), and of how many repeats."""

    mean: float
    sd: float = math.nan
    repeats: int = 0


class Gap(NamedTuple):
    """The difference of two means, tested.

    Attributes
    ----------
    p : float
        Of Welch's test, two-sided; of the normal one if both are single runs whose spread is known.
    effect : float
        The difference in standard deviations of single repeats (Cohen's d): positive if ours is larger.
    """

    p: float
    effect: float

    @property
    def differs(self) -> bool:
        """Whether chance alone is no explanation."""
        return self.p < LEVEL


def gap(ours: Number, theirs: Number) -> Gap | None:
    """Compare two means; None if a spread or a number of repeats is not known."""
    if math.isnan(ours.sd) or math.isnan(theirs.sd) or not ours.repeats or not theirs.repeats:
        return None
    pooled = math.sqrt((ours.sd**2 + theirs.sd**2) / 2)
    if pooled == 0.0:
        return None
    effect = (ours.mean - theirs.mean) / pooled
    if ours.repeats == theirs.repeats == 1:
        return Gap(float(2 * norm.sf(abs(effect) / math.sqrt(2))), effect)
    if min(ours.repeats, theirs.repeats) < 2:
        return None
    test = ttest_ind_from_stats(*_three(ours), *_three(theirs), equal_var=False)
    return Gap(float(test.pvalue), effect)


def _three(number: Number) -> tuple[float, float, int]:
    return number.mean, number.sd, number.repeats


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
    draws : mapping of int to float
        The value of each draw, by its number; empty if it is not known.
    short : str
        Why it has fewer repeats than the rule asks: see `experiments.page.shortfall`. Empty if it has
        as many.
    """

    ours: Number | None = None
    repeats: int = 0
    paper: Number | None = None
    text: str = ""
    draws: Mapping[int, float] = field(default_factory=dict, compare=False)
    short: str = ""

    @property
    def distance(self) -> float | None:
        """The distance of ours from the paper's; None if one of them is missing."""
        if self.ours is None or self.paper is None:
            return None
        return abs(self.ours.mean - self.paper.mean)

    @property
    def gap(self) -> Gap | None:
        """Ours against the paper's, tested; None if that is not possible."""
        if self.ours is None or self.paper is None:
            return None
        return gap(replace(self.ours, repeats=self.repeats), self.paper)

    @property
    def differs(self) -> bool:
        """Whether ours differs from the paper's by more than chance."""
        return self.gap is not None and self.gap.differs


def cell_of(
    values: Sequence[float] | Mapping[int, float],
    paper: Number | None = None,
    text: str = "",
    short: str = "",
) -> Cell:
    """Return the cell of some repeats: their mean, and the standard deviation of two or more.

    Parameters
    ----------
    values : sequence of float or mapping of int to float
        The values; by the numbers of their draws if other cells are to be compared on the same ones.
    paper : Number, optional
        The paper's.
    text : str, optional
        Words to show beside.
    short : str, optional
        Why there are fewer than the rule asks.
    """
    draws = dict(values) if isinstance(values, Mapping) else {}
    values = list(draws.values()) if draws else list(values)
    if not values:
        return Cell(None, 0, paper, text, short=short)
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    ours = Number(float(np.mean(values)), sd, len(values))
    return Cell(ours, len(values), paper, text, draws, short)


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
        Digits after the decimal point; fewer where there are three in all.
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
