"""Table II: the shrinkage eta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.stats import wilcoxon

from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.methods import METHODS, TODAY
from experiments.page.agreement import agreement
from experiments.page.beside import beside_paper
from experiments.page.section import FAILS, HOLDS, IN_PART, Section, Table, Verdict
from experiments.page.shortfall import record_cell
from experiments.pairs import pair
from experiments.paper import number
from experiments.table1 import SETS
from experiments.trial import Measures, Records, Settings, Trial

ETAS = (1.0, 0.5, 0.2, 0.1)
LOSSES = {"exp": "Exponential", "log": "Logistic"}


@dataclass(frozen=True)
class Table2(Experiment):
    """Both losses, four values of eta, five sets of 50 rows per class, 500 rounds."""

    name: ClassVar[str] = "table2"
    title: ClassVar[str] = "Table II: the shrinkage eta"
    few_repeats: ClassVar[int] = 2

    sets: tuple[str, ...] = SETS
    etas: tuple[float, ...] = ETAS
    rounds: int = 500
    per_class: int = 50
    device: str = "cpu"

    @classmethod
    def miniature(cls) -> Self:
        """Two sets, two values, few rounds."""
        return cls(("iris", "digits"), (1.0, 0.5), rounds=15, per_class=12)

    @classmethod
    def small(cls) -> Self:
        """Without the texts, whose fits of modern classifiers take minutes."""
        return cls(tuple(data for data in SETS if data != "news20"))

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every set, loss and eta."""
        for repeat in range(repeats):
            for data in self.sets:
                for method in LOSSES:
                    for eta in self.etas:
                        yield Trial(data, method, repeat, {"eta": eta})
                for method in TODAY:
                    yield Trial(data, method, repeat)

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters."""
        return conditions(
            trial.method,
            rounds=self.rounds,
            rows=rows_drawn(self.per_class),
            parameters=self._parameters(trial),
        )

    def _parameters(self, trial: Trial) -> Settings:
        return {"learning_rate": trial.settings["eta"]} if trial.settings else {}

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit and test one classifier."""
        return measure(
            trial.method,
            draw(trial.data, trial.repeat, self.per_class),
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            device=self.device,
            parameters=self._parameters(trial),
        )

    def section(self, records: Records) -> Section:
        """Show one table per loss."""
        labels = [METHODS[other].label for other in TODAY]
        tables = []
        for method, loss in LOSSES.items():
            rows = []
            for data in self.sets:
                cells = [
                    record_cell(
                        records.of(data, method, eta=eta),
                        number("table2", data, method, eta=eta),
                    )
                    for eta in self.etas
                ]
                cells += [record_cell(records.of(data, other)) for other in TODAY]
                rows.append((data, cells))
            columns = ["data", *(f"eta = {eta:g}" for eta in self.etas), *labels]
            tables.append(Table(f"{loss} loss: test error in %.", columns, rows, name=method))
        return Section(
            self.title,
            f"Decision stumps, {self.rounds} rounds, nu = 1e-9; {self.per_class} rows per class "
            "drawn at random, three quarters of them for training, the same draws as in Table I. The "
            "last two columns are modern classifiers with their defaults.",
            tables,
            plots=[
                beside_paper(
                    "table2", tables, labels=["exponential loss", "logistic loss"], across=5
                )
            ],
            verdicts=[self._helps(records)],
            findings=[*agreement(tables)],
        )

    def _helps(self, records: Records) -> Verdict:
        """Compare no shrinkage with one half."""
        claim = "Shrinkage lowers the error."
        gains, draws = [], []
        for data in self.sets:
            for method in LOSSES:
                full, half = (records.of(data, method, eta=eta) for eta in (1.0, 0.5))
                if (each := pair(full, half)) is not None:
                    gains.append(each.gap)
                    draws.append(each.n_draws)
        if len(gains) < 2:
            return Verdict(claim, "not tested", "Too few sets were run.")
        p = float(wilcoxon(gains, alternative="greater").pvalue) if any(gains) else 1.0
        lower = sum(gain > 0 for gain in gains)
        evidence = (
            f"eta = 0.5 against 1: lower on {lower} of {len(gains)} pairs of set and loss, by "
            f"{np.mean(gains):.1f} points on average; Wilcoxon over these pairs p = {p:.3f} "
            f"(one-sided); {min(draws)} to {max(draws)} common draws each."
        )
        if p <= 0.05:
            return Verdict(claim, HOLDS, evidence)
        return Verdict(claim, IN_PART if np.mean(gains) > 0 else FAILS, evidence)
