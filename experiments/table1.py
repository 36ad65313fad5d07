"""Table I: the regularisation nu, from none to much."""

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
from experiments.page.section import FAILS, HOLDS, Section, Table, Verdict
from experiments.page.shortfall import record_cell
from experiments.pairs import pair
from experiments.paper import number
from experiments.trial import Measures, Records, Settings, Trial

SETS = ("iris", "glass", "usps", "pendigits", "news20")
NUS = (0.0, 1e-9, 1e-4, 1e-2, 1e-1)
SMALL = 1e-4  # what the paper calls small
# What the penalty is added to: the sum of the losses, as in our classifier, their mean over rows,
# or over rows and classes. The exponential loss is the logarithm of a sum: any mean of it is the same.
BESIDE = ("sum", "row", "pair")


@dataclass(frozen=True)
class Table1(Experiment):
    """Both losses, five values of nu, five sets of 50 rows per class, 500 rounds."""

    name: ClassVar[str] = "table1"
    title: ClassVar[str] = "Table I: the regularisation nu"
    few_repeats: ClassVar[int] = 2

    sets: tuple[str, ...] = SETS
    nus: tuple[float, ...] = NUS
    rounds: int = 500
    per_class: int = 50
    device: str = "cpu"

    @classmethod
    def miniature(cls) -> Self:
        """Two sets, two values, few rounds."""
        return cls(("iris", "digits"), (0.0, 1e-4, 1e-1), rounds=15, per_class=12)

    @classmethod
    def small(cls) -> Self:
        """Without the texts, whose fits of modern classifiers take minutes."""
        return cls(tuple(data for data in SETS if data != "news20"))

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every set, loss and nu; the logistic loss with all meanings of nu."""
        for repeat in range(repeats):
            for data in self.sets:
                for nu in self.nus:
                    yield Trial(data, "exp", repeat, {"nu": nu, "beside": "sum"})
                    for beside in BESIDE:
                        yield Trial(data, "log", repeat, {"nu": nu, "beside": beside})
                for method in TODAY:
                    yield Trial(data, method, repeat)

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters; nu is among the settings."""
        found = conditions(trial.method, rounds=self.rounds, rows=rows_drawn(self.per_class))
        if trial.settings:
            del found["parameters"]["regularization"]  # it follows from nu and the rows
        return found

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit and test one classifier."""
        split = draw(trial.data, trial.repeat, self.per_class)
        parameters = {}
        if trial.settings:
            n_rows, n_classes = len(split.y), len(np.unique(split.y))
            scale = {"sum": 1, "row": n_rows, "pair": n_rows * n_classes}[trial.settings["beside"]]
            parameters["regularization"] = trial.settings["nu"] * scale
        return measure(
            trial.method,
            split,
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            device=self.device,
            parameters=parameters,
        )

    def section(self, records: Records) -> Section:
        """Show one table per meaning of nu, and whether small values make no difference."""
        nus = [f"nu = {nu:g}" for nu in self.nus]
        captions = {
            ("exp", "sum"): "Exponential loss: test error in %.",
            ("log", "sum"): (
                "Logistic loss, nu added to the sum of the losses (`regularization` of our classifier): "
                "test error in %."
            ),
            ("log", "row"): "Logistic loss, nu added to the mean over rows: test error in %.",
            (
                "log",
                "pair",
            ): "Logistic loss, nu added to the mean over rows and classes: test error in %.",
        }
        tables = []
        for (method, beside), caption in captions.items():
            rows = []
            for data in self.sets:
                cells = [
                    record_cell(
                        records.of(data, method, nu=nu, beside=beside),
                        number("table1", data, method, nu=nu),
                    )
                    for nu in self.nus
                ]
                cells += [record_cell(records.of(data, other)) for other in TODAY]
                rows.append((data, cells))
            labels = [METHODS[other].label for other in TODAY]
            tables.append(Table(caption, ["data", *nus, *labels], rows, name=method))
        return Section(
            self.title,
            f"Decision stumps, {self.rounds} rounds, eta = 0.5; {self.per_class} rows per class "
            "drawn at random, three quarters of them for training. The last two columns are modern "
            "classifiers with their defaults on the same draws.",
            tables,
            plots=[
                beside_paper(
                    "table1", tables[:2], labels=["exponential loss", "logistic loss"], across=5
                )
            ],
            verdicts=[self._insensitive(records)],
            findings=[*agreement(tables[:2]), self._which_nu(tables)],
        )

    def _insensitive(self, records: Records) -> Verdict:
        """Compare no penalty with the largest small one, pair by pair."""
        claim = f"The error does not depend on nu as long as it is at most {SMALL:g}."
        means, spreads, draws = [], [], []
        for data in self.sets:
            for method in ("exp", "log"):
                none, small = (records.of(data, method, nu=nu, beside="sum") for nu in (0.0, SMALL))
                if (each := pair(small, none)) is not None:
                    means.append(each.gap)
                    spreads.append(float(np.std(none.errors)))
                    draws.append(each.n_draws)
        if len(means) < 2:
            return Verdict(claim, "not tested", "Too few sets were run.")
        p = float(wilcoxon(means).pvalue) if any(means) else 1.0
        worst = int(np.argmax(np.abs(means)))
        inside = all(abs(m) <= max(s, 1e-9) for m, s in zip(means, spreads, strict=True))
        evidence = (
            f"From nu = 0 to {SMALL:g} the mean error changes by {np.mean(means):+.2f} points on "
            f"average over {len(means)} pairs of set and loss, by {means[worst]:+.2f} at most; "
            f"Wilcoxon over these pairs p = {p:.2f}; {min(draws)} to {max(draws)} common draws each."
        )
        return Verdict(claim, HOLDS if inside and p > 0.05 else FAILS, evidence)

    def _which_nu(self, tables: list[Table]) -> str:
        """Return which meaning of the logistic loss's nu is nearest to the paper."""
        told = []
        for table, beside in zip(tables[1:], BESIDE, strict=True):
            distances = [cell.distance for _, cells in table.rows for cell in cells]
            known = [distance for distance in distances if distance is not None]
            if known:
                told.append(f"{np.mean(known):.1f} points with nu added to the {_words(beside)}")
        if not told:
            return "The logistic loss's nu was not compared."
        return (
            "In the paper's formula the logistic loss's nu is added to the sum of the losses, but "
            "its dual needs weights that sum to one: these are different scales of nu. The mean "
            f"distance of our logistic errors from the paper's is {', '.join(told)}. For small "
            "values of nu there is no difference."
        )


def _words(beside: str) -> str:
    return {"sum": "sum", "row": "mean over rows", "pair": "mean over rows and classes"}[beside]
