"""Figure 2 and the times of Table IV: seconds of the processor, on common draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, ClassVar, Self
from unittest.mock import patch

import numpy as np

from experiments.choices import TABLE4, chosen_parameters
from experiments.conditions import conditions, rows_drawn
from experiments.draws import Split, draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import checkpoints, measure
from experiments.methods import METHODS
from experiments.page.plots import plain_numbers
from experiments.page.section import Cell, Number, Plot, Section, Table, Verdict, cell_of
from experiments.paper import STAND_INS, number
from experiments.protocols import drawn, rows_of
from experiments.speedup import COMPARED, OURS, Speedup, idle_seconds, speedup, two_orders
from experiments.trial import PROCESSOR, Measures, Records, Settings, Trial
from marginboost.boosting import loop


@dataclass(frozen=True)
class Timing(Experiment):
    """Three methods, 500 rounds: letter by classes, and the sets of Table IV."""

    name: ClassVar[str] = "timing"
    title: ClassVar[str] = "Figure 2 and the times of Table IV: computing the coefficients"
    few_repeats: ClassVar[int] = 1
    own_threads: ClassVar[bool] = True  # one trial at a time

    letters: str = "letter"
    classes: tuple[int, ...] = (4, 8, 16)
    sets: tuple[str, ...] = TABLE4
    rounds: int = 500
    per_class: int = 50

    @classmethod
    def miniature(cls) -> Self:
        """Digits and flowers, few rounds."""
        return cls("digits", (2, 4), ("iris", "digits"), rounds=8, per_class=12)

    @classmethod
    def small(cls) -> Self:
        """Fewer rounds, and without the largest sets."""
        return cls(sets=("iris", "glass", "usps", "pendigits", "letter"), rounds=100)

    @property
    def _by_class(self) -> list[int | None]:
        """Numbers of classes in Figure 2; None for all of them, which Table IV has as well."""
        return [*self.classes, *([None] if self.letters in self.sets else [])]

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every method with every number of classes, and on every set."""
        for repeat in range(repeats):
            for n_classes in self.classes:
                for method in COMPARED:
                    yield Trial(self.letters, method, repeat, {"classes": n_classes})
            for data in self.sets:
                for method in COMPARED:
                    yield Trial(data, method, repeat, {"classes": None})

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters, the chosen regularisation among them."""
        n_classes = trial.settings["classes"]
        return conditions(
            trial.method,
            rounds=self.rounds,
            rows=(
                rows_of(trial.data, self.per_class)
                if n_classes is None
                else rows_drawn(self.per_class, first=n_classes)
            ),
            parameters=chosen_parameters(trial.data, trial.method),
        )

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit one classifier on one thread; record the time of the coefficients as it grows."""
        split = self._split(trial)
        # Seconds of the processor: those of the wall pass while other programs have it.
        with patch.object(loop, "perf_counter", process_time):
            found = measure(
                trial.method,
                split,
                rounds=self.rounds,
                seed=seed_of(trial.data, trial.repeat),
                parameters=chosen_parameters(trial.data, trial.method),
                curve=True,
            )
        return found | {"clock": PROCESSOR}

    def _split(self, trial: Trial) -> Split:
        n_classes = trial.settings["classes"]
        if n_classes is None:
            return drawn(trial.data, trial.repeat, self.per_class)
        return draw(trial.data, trial.repeat, self.per_class, first=n_classes)

    def section(self, records: Records) -> Section:
        """Show times on common draws, as ratios and on a log-log scale."""
        labels = [METHODS[method].label for method in COMPARED]
        tables = [
            Table(
                "Seconds for the coefficients of letter in all rounds (step 4 of the algorithm), by the "
                "number of classes; MultiBoost's as a multiple of ours.",
                ["classes", *labels, "times MCBoost-exp", "times MCBoost-log"],
                [
                    ("all" if n is None else str(n), self._row(records, self.letters, n))
                    for n in self._by_class
                ],
                digits=3,
                best=None,
            ),
            Table(
                "Seconds for the coefficients on the sets of Table IV, and how many times as long "
                "MultiBoost took.",
                ["data", *labels, "times MCBoost-exp", "times MCBoost-log"],
                [(data, self._row(records, data, None)) for data in self.sets],
                digits=3,
                best=None,
            ),
        ]
        return Section(
            self.title,
            f"Decision stumps, {self.rounds} rounds, {self.per_class} rows per class, one fit at a "
            "time on one thread. A ratio is of mean times on the draws on which both methods were "
            "timed. Seconds are those of the processor, which do not pass while other programs have it; "
            "on a machine with other work, as ours, they may be longer, for caches are shared: the load "
            "at every fit is in its record. "
            "MultiBoost multiplies the outputs of many stumps through sparse factors, of which the "
            "paper says nothing: it is faster for that. It stops a round as in the paper: at a "
            "projected gradient of 1e-5, at a change of the objective of 1e-9, or after 100 iterations "
            "of L-BFGS-B, from the coefficients of the round before. The paper's Figure 2 gives no "
            "numbers.",
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
            verdicts=self._verdicts(records),
            findings=self._ended_early(records),
        )

    def _ended_early(self, records: Records) -> list[str]:
        """Return which fits made fewer rounds than the others: their seconds are of those alone."""
        told = []
        for record in records:
            made, trial = record.measures["rounds"], record.trial
            if made < self.rounds:
                n_classes = trial.settings["classes"]
                which = trial.data if n_classes is None else f"{trial.data}, {n_classes} classes"
                told.append(
                    f"{METHODS[trial.method].label} on {which}, draw {trial.repeat}: {made:,}"
                )
        if not told:
            return []
        return [
            f"Fits that ended before round {self.rounds:,}, with their rounds: {'; '.join(told)}. Their "
            "seconds, and ratios of them, are of these rounds alone."
        ]

    def _of(self, records: Records, data: str, method: str, n_classes: int | None) -> Records:
        return records.of(data, method, classes=n_classes)

    def _ratio(
        self, records: Records, data: str, method: str, n_classes: int | None
    ) -> Speedup | None:
        ours, theirs = (self._of(records, data, name, n_classes) for name in (method, "multiboost"))
        return speedup(ours, theirs)

    def _row(self, records: Records, data: str, n_classes: int | None) -> list[Cell]:
        cells = []
        for method in COMPARED:
            seconds = idle_seconds(self._of(records, data, method, n_classes))
            paper = None
            if n_classes is None and data not in STAND_INS:
                paper = number("table4", data, method, measure="seconds")
            cells.append(cell_of(seconds, paper, "" if seconds else "not timed"))
        for method in OURS:
            paper = None
            if n_classes is None and data not in STAND_INS:
                paper = number("table4", data, method, measure="speedup")
            found = self._ratio(records, data, method, n_classes)
            if found is None:
                cells.append(Cell(None, 0, paper, "not timed"))
            else:
                cells.append(Cell(Number(found.ratio), found.n_draws, paper))
        return cells

    def _verdicts(self, records: Records) -> list[Verdict]:
        by_class = two_orders(
            "Computing the coefficients is at least two orders of magnitude faster than in MultiBoost "
            "(Figure 2).",
            [self._ratio(records, self.letters, m, n) for m in OURS for n in self._by_class],
            "pairs of loss and number of classes",
        )
        by_set = two_orders(
            "The coefficients are computed orders of magnitude faster than in MultiBoost (Table IV).",
            [self._ratio(records, data, m, None) for data in self.sets for m in OURS],
            "pairs of set and loss",
        )
        aside = " The paper's own table has 5 to 74 times; its text says two orders of magnitude."
        return [by_class, replace(by_set, evidence=by_set.evidence + aside)]

    def _draw(self, figure: Any, records: Records) -> None:
        by_class, by_round, errors = figure.subplots(1, 3)
        most = self._by_class[-1]
        at = checkpoints(self.rounds)
        for method in COMPARED:
            look = {"label": METHODS[method].label, "color": METHODS[method].colour}
            kept = [
                (of[0].measures["n_classes"], float(np.mean(list(idle_seconds(of).values()))))
                for n in self._by_class
                if idle_seconds(of := self._of(records, self.letters, method, n))
            ]
            if kept:
                by_class.loglog(*zip(*kept, strict=True), marker="o", **look)
            idle = [r for r in self._of(records, self.letters, method, most) if r.idle]
            curves = [record.measures["seconds_curve"] for record in idle]
            if not curves:
                continue
            length = min(map(len, curves))
            by_round.loglog(at[:length], np.mean([c[:length] for c in curves], axis=0), **look)
            wrong = [np.array(r.measures["curve"]) / r.measures["n_test"] for r in idle]
            errors.semilogx(at, 100 * np.mean(wrong, axis=0), **look)
        by_class.set(xlabel="classes", ylabel="seconds for the coefficients")
        by_round.set(xlabel="rounds (all classes)", ylabel="seconds for the coefficients")
        errors.set(xlabel="rounds (all classes)", ylabel="test error in %")
        if by_class.lines:
            plain_numbers(by_class.xaxis)
            by_class.legend()
