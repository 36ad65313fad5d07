"""Table III: letter, by classes, samples and rounds, against MultiBoost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from experiments.choices import chosen_parameters
from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.methods import METHODS, TODAY
from experiments.page.agreement import agreement
from experiments.page.beside import beside_paper
from experiments.page.section import (
    FAILS,
    HOLDS,
    IN_PART,
    UNTESTED,
    Cell,
    Judgement,
    Section,
    Table,
    Verdict,
)
from experiments.page.shortfall import record_cell
from experiments.pairs import FEWEST_DRAWS, pair
from experiments.paper import number
from experiments.speedup import COMPARED, OURS
from experiments.trial import Measures, Records, Settings, Trial


@dataclass(frozen=True)
class Table3(Experiment):
    """Three methods and two modern classifiers, 500 rounds."""

    name: ClassVar[str] = "table3"
    title: ClassVar[str] = "Table III: letter by classes and samples"
    few_repeats: ClassVar[int] = 1

    data: str = "letter"
    classes: tuple[int, ...] = (4, 8, 16, 26)
    samples: tuple[int, ...] = (20, 50, 100, 200)
    usual_samples: int = 50
    rounds: int = 500

    @classmethod
    def miniature(cls) -> Self:
        """Digits, few rounds."""
        return cls("digits", (2, 4), (8, 12), usual_samples=12, rounds=12)

    @property
    def _cells(self) -> list[tuple[int, int]]:
        """Numbers of classes and of samples that are run."""
        by_class = [(n, self.usual_samples) for n in self.classes]
        by_sample = [(self.classes[-1], n) for n in self.samples]
        return list(dict.fromkeys(by_class + by_sample))

    @classmethod
    def small(cls) -> Self:
        """Fewer rounds."""
        return cls(rounds=100)

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every method with every number of classes and of samples."""
        for repeat in range(repeats):
            for n_classes, samples in self._cells:
                for method in (*COMPARED, *TODAY):
                    yield Trial(
                        self.data, method, repeat, {"classes": n_classes, "samples": samples}
                    )

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters, the chosen regularisation among them."""
        return conditions(
            trial.method,
            rounds=self.rounds,
            rows=rows_drawn(trial.settings["samples"], first=trial.settings["classes"]),
            parameters=chosen_parameters(trial.data, trial.method),
        )

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit and test one classifier; record the time of the coefficients as it grows."""
        settings = trial.settings
        return measure(
            trial.method,
            draw(trial.data, trial.repeat, settings["samples"], first=settings["classes"]),
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            parameters=chosen_parameters(trial.data, trial.method),
            curve=True,
        )

    def section(self, records: Records) -> Section:
        """Show errors by classes and by samples, and times on a log-log scale."""
        labels = [METHODS[name].label for name in (*COMPARED, *TODAY)]
        tables = [
            Table(
                f"Test error in % by the number of classes, {self.usual_samples} samples of each.",
                ["classes", *labels],
                [
                    (str(n), self._row(records, "n_classes", n, n, self.usual_samples))
                    for n in self.classes
                ],
                name="classes",
            ),
            Table(
                f"Test error in % by the number of samples per class, {self.classes[-1]} classes.",
                ["samples", *labels],
                [
                    (str(n), self._row(records, "per_class", n, self.classes[-1], n))
                    for n in self.samples
                ],
                name="samples",
            ),
        ]
        return Section(
            self.title,
            f"Decision stumps, {self.rounds} rounds, eta = 0.5 and nu = 1e-9 for ours; MultiBoost "
            "with the logistic loss, nu by cross-validation, each round's L-BFGS-B stopped as in the "
            "paper and started from the coefficients of the round before. Smaller numbers of classes "
            "are the first ones by name (A to D, and so on). The samples of a class are those before "
            "the split into training and test rows, as in Table I; the section on differences from "
            "the paper has the other reading.",
            tables,
            plots=[beside_paper("table3", [_together(tables)])],
            verdicts=[self._similar(records)],
            findings=[*agreement(tables)],
        )

    def _row(
        self, records: Records, axis: str, value: int, n_classes: int, samples: int
    ) -> list[Cell]:
        asked: dict[str, Any] = {axis: value}
        return [
            record_cell(
                records.of(self.data, method, classes=n_classes, samples=samples),
                number("table3", "letter", method, **asked),
            )
            for method in (*COMPARED, *TODAY)
        ]

    def _similar(self, records: Records) -> Verdict:
        """Compare ours with MultiBoost cell by cell, on common draws."""
        claim = "MCBoost and MultiBoost are about equally accurate on letter (Table III)."
        told: list[str] = []
        found = []
        for n_classes, samples in self._cells:
            of = {
                method: records.of(self.data, method, classes=n_classes, samples=samples)
                for method in COMPARED
            }
            for method in OURS:
                if (each := pair(of[method], of["multiboost"])) is not None:
                    found.append(each)
                    label = METHODS[method].label
                    told.append(f"{n_classes} classes, {samples} samples, {label}: {each}")
        tested = [each for each in found if each.tested]
        if not tested:
            return Verdict(
                claim,
                UNTESTED,
                f"No cell has {FEWEST_DRAWS} common draws. {'; '.join(told)}".strip(),
            )
        better, worse = sum(p.better for p in tested), sum(p.worse for p in tested)
        judgement: Judgement = HOLDS if not better + worse else IN_PART
        if worse > len(tested) / 2 or better > len(tested) / 2:
            judgement = FAILS
        return Verdict(
            claim,
            judgement,
            f"Of {len(tested)} pairs of cell and loss, MCBoost has the lower error in {better} and the "
            f"higher in {worse} (Wilcoxon over draws, 5 %). Error of MCBoost less MultiBoost's, in "
            f"points: {'; '.join(told)}.",
        )


def _together(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of all."""
    rows = [(f"{label} {table.name}", row) for table in tables for label, row in table.rows]
    return Table("", tables[0].columns, rows)
