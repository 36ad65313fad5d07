"""Table III and Figure 2: letter, by classes, samples and rounds, against MultiBoost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from experiments.choices import chosen_parameters
from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import checkpoints, measure
from experiments.methods import METHODS, TODAY
from experiments.page.agreement import agreement
from experiments.page.plots import plain_numbers
from experiments.page.section import Cell, Plot, Section, Table, Verdict, cell_of
from experiments.paper import number
from experiments.speedup import COMPARED, OURS, speedup, two_orders
from experiments.trial import Measures, Records, Settings, Trial


@dataclass(frozen=True)
class Table3(Experiment):
    """Three methods and two modern classifiers, 500 rounds."""

    name: ClassVar[str] = "table3"
    title: ClassVar[str] = "Table III and Figure 2: letter by classes, samples and rounds"
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
            Table(
                "Seconds spent on the coefficients in all rounds (step 4 of the algorithm), "
                f"{self.usual_samples} samples per class; MultiBoost's as a multiple of ours.",
                ["classes", *labels[:3], "times MCBoost-exp", "times MCBoost-log"],
                [(str(n), self._times(records, n)) for n in self.classes],
                digits=3,
            ),
        ]
        return Section(
            self.title,
            f"Decision stumps, {self.rounds} rounds, eta = 0.5 and nu = 1e-9 for ours; MultiBoost "
            "with the logistic loss, nu by cross-validation, L-BFGS-B stopped at 100 iterations or "
            "a projected gradient of 1e-5, warm-started. Smaller numbers of classes are the first "
            "ones by name (A to D, and so on). The paper's figure gives no numbers, so the third "
            "table has only ours.",
            tables,
            plots=[
                Plot(
                    "figure2",
                    "Figure 2: seconds for the coefficients, on a log-log scale, by the number of "
                    "classes and of rounds; and the test error by rounds.",
                    lambda figure: self._draw(figure, records),
                    11.0,
                    3.6,
                )
            ],
            verdicts=[self._faster(records)],
            findings=[*agreement(tables)],
        )

    def _row(
        self, records: Records, axis: str, value: int, n_classes: int, samples: int
    ) -> list[Cell]:
        asked: dict[str, Any] = {axis: value}
        return [
            cell_of(
                records.of(self.data, method, classes=n_classes, samples=samples).errors,
                number("table3", "letter", method, **asked),
            )
            for method in (*COMPARED, *TODAY)
        ]

    def _of(self, records: Records, method: str, n_classes: int) -> Records:
        return records.of(self.data, method, classes=n_classes, samples=self.usual_samples)

    def _ratio(self, records: Records, method: str, n_classes: int) -> float | None:
        ours, theirs = (self._of(records, name, n_classes) for name in (method, "multiboost"))
        return speedup(ours, theirs)

    def _times(self, records: Records, n_classes: int) -> list[Cell]:
        cells = [
            cell_of(self._of(records, method, n_classes).measures("coefficient_seconds"))
            for method in COMPARED
        ]
        for method in OURS:
            ratio = self._ratio(records, method, n_classes)
            cells.append(Cell(text="" if ratio is None else f"{ratio:.0f}"))
        return cells

    def _faster(self, records: Records) -> Verdict:
        return two_orders(
            "Computing the coefficients is at least two orders of magnitude faster than in MultiBoost.",
            [self._ratio(records, method, n) for method in OURS for n in self.classes],
            "pairs of loss and number of classes",
        )

    def _draw(self, figure: Any, records: Records) -> None:
        by_class, by_round, errors = figure.subplots(1, 3)
        for method in COMPARED:
            look = {"label": METHODS[method].label, "color": METHODS[method].colour}
            found = [(n, self._of(records, method, n)) for n in self.classes]
            kept = [(n, np.mean(of.measures("coefficient_seconds"))) for n, of in found if len(of)]
            if not kept:
                continue
            by_class.loglog(*zip(*kept, strict=True), marker="o", **look)
            of = self._of(records, method, kept[-1][0])
            curves = of.measures("seconds_curve")
            length = min(map(len, curves))
            at = checkpoints(self.rounds)
            by_round.loglog(at[:length], np.mean([c[:length] for c in curves], axis=0), **look)
            wrong = np.mean(
                [np.array(r.measures["curve"]) / r.measures["n_test"] for r in of], axis=0
            )
            errors.semilogx(at, 100 * wrong, **look)
        by_class.set(xlabel="classes", ylabel="seconds for the coefficients")
        by_round.set(
            xlabel=f"rounds ({self.classes[-1]} classes)", ylabel="seconds for the coefficients"
        )
        errors.set(xlabel=f"rounds ({self.classes[-1]} classes)", ylabel="test error in %")
        plain_numbers(by_class.xaxis)
        by_class.legend()
