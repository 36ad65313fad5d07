"""A small experiment on real data: what the tests of the runner and of the page run."""

from dataclasses import dataclass

from experiments.conditions import conditions, rows_drawn
from experiments.draws import draw, seed_of
from experiments.experiment import Experiment
from experiments.measuring import checkpoints, measure
from experiments.page.section import HOLDS, Number, Plot, Section, Table, Verdict, cell_of
from experiments.trial import Trial


@dataclass(frozen=True)
class Flowers(Experiment):
    name = "flowers"
    title = "Flowers & wines"
    paper_repeats = 5
    few_repeats = 2

    data: tuple[str, ...] = ("iris", "wine")
    methods: tuple[str, ...] = ("exp", "samme")
    rounds: int = 10

    @classmethod
    def miniature(cls):
        return cls(rounds=3)

    @classmethod
    def small(cls):
        return cls(rounds=5)

    def trials(self, repeats):
        for data in self.data:
            for method in self.methods:
                for repeat in range(repeats):
                    yield Trial(data, method, repeat, {"rounds": self.rounds})

    def conditions(self, trial):
        return conditions(trial.method, rounds=self.rounds, rows=rows_drawn(20))

    def run(self, trial, n_jobs):
        split = draw(trial.data, trial.repeat, per_class=20)
        return measure(
            trial.method,
            split,
            rounds=self.rounds,
            seed=seed_of(trial.data, trial.repeat),
            n_jobs=n_jobs,
            curve=True,
        )

    def section(self, records):
        def cell(data, method):
            return cell_of(records.of(data, method).errors, Number(6.0, 1.0))

        def plot(figure):
            ax = figure.subplots()
            for record in records:
                ax.plot(checkpoints(self.rounds), record.measures["curve"])

        rows = [(data, [cell(data, method) for method in self.methods]) for data in self.data]
        return Section(
            title=self.title,
            protocol="Some *flowers*.",
            tables=[Table("Test error, in percent", ["data", *self.methods], rows)],
            plots=[Plot("flowers", "Error by round", plot, 4, 3)],
            verdicts=[Verdict("Flowers are told apart", HOLDS, f"{len(records)} trials")],
            findings=["A finding of `p < 0.05`."],
        )
