"""What the paper does not say: the depth of Table V's trees, and how many rows it drew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np

from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.methods import METHODS
from experiments.page.section import Cell, Section, Table
from experiments.page.shortfall import record_cell
from experiments.paper import number
from experiments.trial import Measures, Records, Settings, Trial

SOME_METHODS = ("samme", "ecc", "mh", "exp", "log")
# Rows per class; 0 for all. The larger sets take too long with all.
COUNTS = {
    "dna": (0,),
    "svmguide2": (0,),
    "wine": (0,),
    "vehicle": (0,),
    "glass": (0,),
    "satimage": (50, 0),
    "svmguide4": (0,),
    "segment": (50, 0),
    "usps": (50, 100, 150),
    "pendigits": (50, 100, 150, 200),
    "vowel": (0,),
    "vowel-1452": (0,),
    "letter": (50, 100),
}


@dataclass(frozen=True)
class Depth(Experiment):
    """Several tree depths and numbers of rows, on the sets of Table V."""

    name: ClassVar[str] = "depth"
    title: ClassVar[str] = "Which trees, and how many rows, give Table V"
    paper_repeats: ClassVar[int] = 10
    few_repeats: ClassVar[int] = 1

    counts: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: COUNTS)
    depths: tuple[int, ...] = (1, 2)
    rounds: int = 1000

    @classmethod
    def miniature(cls) -> Self:
        """Two sets, two depths."""
        return cls({"wine": (0,), "digits": (10, 20)}, rounds=10)

    @classmethod
    def small(cls) -> Self:
        """Fewer rounds, and without the larger draws."""
        return cls({data: counts[:1] for data, counts in COUNTS.items()}, rounds=200)

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every set, method, depth and number of rows."""
        for repeat in range(repeats):
            for data, counts in self.counts.items():
                for count in counts:
                    for method in SOME_METHODS:
                        for depth in self.depths:
                            yield Trial(data, method, repeat, {"depth": depth, "per_class": count})

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters."""
        return conditions(
            trial.method,
            rounds=self.rounds,
            rows=rows_drawn(trial.settings["per_class"] or None),
            parameters={"max_depth": trial.settings["depth"]},
        )

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit and test one classifier."""
        return measure(
            trial.method,
            draw(trial.data, trial.repeat, trial.settings["per_class"] or None),
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            parameters={"max_depth": trial.settings["depth"]},
        )

    def section(self, records: Records) -> Section:
        """Show each choice beside the paper's numbers, with its distance from them."""
        rows: list[tuple[str, list[Cell]]] = []
        choices: list[_Choice] = []
        for data, counts in self.counts.items():
            for count in counts:
                for depth in self.depths:
                    cells = [
                        record_cell(
                            records.of(data, method, depth=depth, per_class=count),
                            number("table5", data, method),
                        )
                        for method in SOME_METHODS
                    ]
                    choices.append(_Choice(data, count, depth, cells))
                    rows.append((f"{data}, {choices[-1]}", cells))
        columns = ["data", *(METHODS[method].label for method in SOME_METHODS)]
        return Section(
            self.title,
            "The paper does not say how many rows it drew for Table V, nor how deep its trees were. "
            f"This section has {self.rounds} rounds with each choice, on three quarters of the "
            "rows drawn.",
            [Table("Test error in %.", columns, rows, best=None)],
            findings=[
                *_nearest(choices, "All methods but SAMME", slice(1, None)),
                *_nearest(choices, "SAMME alone", slice(1)),
            ],
        )


class _Choice(NamedTuple):
    """A number of rows per class, a depth of trees, and the resulting errors."""

    data: str
    per_class: int
    depth: int
    cells: Sequence[Cell]

    def __str__(self) -> str:
        return f"{self.per_class or 'all'} rows per class, depth {self.depth}"

    def distance(self, part: slice) -> float:
        """Return the mean distance from the paper, in the paper's standard deviations."""
        gaps = [
            cell.distance / cell.paper.sd
            for cell in self.cells[part]
            if cell.distance is not None and cell.paper is not None
        ]
        return float(np.mean(gaps)) if gaps else math.inf


def _nearest(choices: Sequence[_Choice], who: str, part: slice) -> list[str]:
    """Return which choice is nearest to the paper, set by set."""
    told = []
    for data in dict.fromkeys(choice.data for choice in choices):
        best = min(
            (choice for choice in choices if choice.data == data),
            key=lambda choice: choice.distance(part),
        )
        if best.distance(part) < math.inf:
            told.append(f"{data}: {best} ({best.distance(part):.1f})")
    if not told:
        return []
    return [
        f"{who}: the choice nearest to the paper, with its mean distance in the paper's standard "
        f"deviations. {'; '.join(told)}."
    ]
