"""Choose the regularisation of MultiBoost and GradBoost by cross-validation, as in the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from experiments.draws import Split, seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.methods import METHODS
from experiments.page.section import Cell, Section, Table, cell_of
from experiments.protocols import PROTOCOLS, drawn
from experiments.store import read_results
from experiments.trial import Measures, Records, Trial

RESULTS = Path(__file__).parent / "results" / "choices.json"
# The paper's grids. For one of the two starting points only every other value, and only Table IV.
GRIDS = {
    "multiboost": tuple(f * 10.0**e for e in range(-8, -2) for f in (1, 5)),
    "multiboost-zero": (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
    "gradboost": (5e-7, *(f * 10.0**e for e in range(-6, -1) for f in (1, 5)), 1e-1),
}
TABLE4 = ("iris", "glass", "usps", "pendigits", "news20", "letter", "reuters52", "leaves100")
# Fits of MultiBoost take minutes on these sets: only the largest values, from which other sets choose.
LARGE = {"satimage": 4, "news20": 4, "isolet": 3, "reuters52": 3, "leaves100": 3}
OTHERWISE = {"multiboost": 1e-3, "multiboost-zero": 1e-6, "gradboost": 1e-5}


@cache
def _results() -> Records:
    return read_results(RESULTS) if RESULTS.is_file() else Records([])


def chosen(data: str, method: str) -> float:
    """Return the value with the lowest error for a set; the usual one if none was tried."""
    return best(_results(), data, method)


def chosen_parameters(data: str, method: str) -> dict[str, float]:
    """Return the chosen value as parameters of the classifier; none for methods without a choice."""
    return {"regularization": chosen(data, method)} if method in GRIDS else {}


def best(records: Records, data: str, method: str) -> float:
    """Return the value with the lowest mean error; the largest one of several."""
    found = [
        (float(np.mean(tried.errors)), -value)
        for value in GRIDS[method]
        if (tried := records.of(data, method, regularization=value))
    ]
    return -min(found)[1] if found else OTHERWISE[method]


@dataclass(frozen=True)
class Choices(Experiment):
    """Every value of the grids, on random parts of the training rows of the first draws."""

    name: ClassVar[str] = "choices"
    title: ClassVar[str] = "The regularisation of MultiBoost and GradBoost"
    paper_repeats: ClassVar[int] = 5
    few_repeats: ClassVar[int] = 1

    sets: tuple[str, ...] = tuple(PROTOCOLS)
    rounds: int = 300
    every: int = 1  # try only every n-th value of a grid
    device: str = "cpu"

    @classmethod
    def miniature(cls) -> Self:
        """One set, three values."""
        return cls(("iris",), rounds=10, every=5)

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every set, method and value."""
        for repeat in range(repeats):
            for data in self.sets:
                for method in GRIDS:
                    for value in self._values(data, method):
                        yield Trial(data, method, repeat, {"regularization": value})

    def _values(self, data: str, method: str) -> tuple[float, ...]:
        grid = GRIDS[method]
        if method == "multiboost-zero" and data not in TABLE4:
            return ()
        if method == "multiboost" and data in LARGE:
            grid = grid[-LARGE[data] :]
        return grid[:: self.every]

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit on three quarters of the training rows and test on the rest."""
        outer = drawn(trial.data, trial.repeat)
        n_train = round(0.75 * len(outer.y))
        inner = Split(outer.X[:n_train], outer.y[:n_train], outer.X[n_train:], outer.y[n_train:])
        return measure(
            trial.method,
            inner,
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            device=self.device,
            parameters=trial.settings,
        )

    def section(self, records: Records) -> Section:
        """Show the chosen values."""
        rows = []
        for data in self.sets:
            cells = []
            for method in GRIDS:
                value = best(records, data, method)
                tried = records.of(data, method, regularization=value)
                cells += [Cell(text=f"{value:g}"), cell_of(tried.errors)]
            rows.append((data, cells))
        columns = ["data"]
        for method in GRIDS:
            columns += [METHODS[method].label, "validation error"]
        return Section(
            self.title,
            "The paper cross-validates these two once per data set and gives no details. Here each "
            "value "
            f"of the paper's grids is tried with {self.rounds} rounds of stumps on a random "
            "quarter of the training rows (MultiBoost on the largest sets: only the few largest "
            "values). The value with the lowest mean error is used in Tables III to V.",
            [
                Table(
                    "Chosen values, and the error on the validation rows in %.",
                    columns,
                    rows,
                    best=None,
                )
            ],
        )
