"""What the paper does not say: how the words of its texts were weighted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.page.section import Section, Table, cell_of
from experiments.paper import facts, number
from experiments.text_projection import USUAL, WEIGHTINGS
from experiments.trial import Measures, Records, Settings, Trial


@dataclass(frozen=True)
class Texts(Experiment):
    """Each weighting, with the settings of Table IV."""

    name: ClassVar[str] = "texts"
    title: ClassVar[str] = "Which word weights give the paper's errors on texts"
    paper_repeats: ClassVar[int] = 50
    few_repeats: ClassVar[int] = 3

    data: str = "news20"
    rounds: int = 500
    per_class: int = 50
    device: str = "cpu"

    @classmethod
    def miniature(cls) -> Self:
        """Digits: their pixels count from 0 to 16."""
        return cls("digits", rounds=10, per_class=12)

    @classmethod
    def small(cls) -> Self:
        """Fewer rounds."""
        return cls(rounds=100)

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every weighting."""
        for repeat in range(repeats):
            for weighting in WEIGHTINGS:
                yield Trial(self.data, "exp", repeat, {"weighting": weighting})

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters."""
        return conditions(trial.method, rounds=self.rounds, rows=rows_drawn(self.per_class))

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit and test one classifier."""
        weighting = trial.settings["weighting"]
        return measure(
            trial.method,
            draw(trial.data, trial.repeat, self.per_class, weighting=weighting),
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            device=self.device,
        )

    def section(self, records: Records) -> Section:
        """Show errors and numbers of components."""
        rows = []
        for weighting in WEIGHTINGS:
            of = records.of(self.data, "exp", weighting=weighting)
            cells = [
                cell_of(of.errors, number("table4", self.data, "exp", measure="error")),
                cell_of(of.measures("n_features")),
            ]
            rows.append((weighting, cells))
        components = facts("table4")["sets"].get(self.data, {}).get("n_features")
        beside = f" The paper has {components} components." if components else ""
        return Section(
            self.title,
            f"MCBoost-exp on {self.data}, {self.per_class} texts per class, {self.rounds} rounds, "
            f"by how words are weighted before the projection.{beside} All other experiments use "
            f'"{USUAL}": counts of words, divided by the length of the text\'s vector.',
            [
                Table(
                    "Test error in %, and the number of principal components that explain 90 % of "
                    "the variance.",
                    ["word weights", "MCBoost-exp", "components"],
                    rows,
                    best=None,
                )
            ],
        )
