"""What the paper does not say: the features of its scenes, chosen on training images alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from experiments.conditions import conditions
from experiments.draws import seed_of
from experiments.experiment import Experiment
from experiments.measuring import measure
from experiments.page.section import Section, Table, cell_of
from experiments.scene_features import CROPS, SCENES, scene_split, within_training
from experiments.scene_numbers import OWN
from experiments.table8 import OTHERS, PAPER_ROUNDS, PAPER_WORDS
from experiments.trial import Measures, Records, Settings, Trial

SHARE = 0.75  # of the training images, for the fit


@dataclass(frozen=True)
class Scenes(Experiment):
    """MCBoost-exp with every kind of features, fitted and tested on training images of Table VIII."""

    name: ClassVar[str] = "scenes"
    title: ClassVar[str] = "Which features of scenes are best on training images"
    paper_repeats: ClassVar[int] = 5
    few_repeats: ClassVar[int] = 1
    own_threads: ClassVar[bool] = True

    data: str = SCENES
    rounds: int = PAPER_ROUNDS[0]
    n_train: int = 100
    n_words: int = PAPER_WORDS
    features: tuple[str, ...] = (OWN, *OTHERS)
    device: str = "cpu"

    @classmethod
    def miniature(cls) -> Self:
        """Return a version on parts of two photographs."""
        return cls(CROPS, 10, n_train=12, n_words=10, features=(OWN, "counts"))

    @classmethod
    def small(cls) -> Self:
        """Return a version with fewer words, rounds and kinds."""
        return cls(rounds=100, n_words=20, features=(OWN, "counts"))

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every kind of features."""
        for repeat in range(repeats):
            for features in self.features:
                yield Trial(self.data, "exp", repeat, {"features": features})

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the images and the parameters."""
        rows = (
            f"{self.n_train} training images per category, {self.n_words} words, "
            f"{100 * SHARE:g} % of those for the fit"
        )
        return conditions(trial.method, rounds=self.rounds, rows=rows)

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit on most of the training images and test on the rest; no test image is looked at."""
        outer = scene_split(
            trial.data,
            trial.repeat,
            trial.settings["features"],
            n_train=self.n_train,
            n_words=self.n_words,
            n_jobs=n_jobs,
        )
        seed = seed_of(trial.data, trial.repeat)
        return measure(
            trial.method,
            within_training(outer, SHARE, seed),
            rounds=self.rounds,
            seed=seed,
            n_jobs=n_jobs,
            device=self.device,
        )

    def section(self, records: Records) -> Section:
        """Show the accuracies on held-out training images."""
        names = {OWN: "shares of the words in a block, patches 4 pixels apart"} | OTHERS
        cells = {
            features: cell_of(
                {
                    n: 100 - error
                    for n, error in records.of(self.data, "exp", features=features).by_draw.items()
                }
            )
            for features in self.features
        }
        known = {name: cell.ours.mean for name, cell in cells.items() if cell.ours is not None}
        findings = []
        if len(known) == len(self.features):
            best = max(known, key=lambda name: known[name])
            same = "the features of Table VIII" if best == OWN else "not the features of Table VIII"
            lead = known[best] - sorted(known.values())[-2]
            findings.append(
                f"Best on training images: {names[best]}, {lead:.1f} points above the next. These are "
                f"{same}. What was tried at all is still what came to mind while test images were "
                "looked at."
            )
        return Section(
            self.title,
            f"MCBoost-exp, {self.rounds:,} rounds of stumps, on the training images of Table VIII only: "
            f"fitted on {100 * SHARE:g} % of them, tested on the others. The codebook of a draw is "
            "learnt from all of its training images, without their categories.",
            [
                Table(
                    "Held-out training images classified correctly, in %, with other features.",
                    ["features", "MCBoost-exp"],
                    [(names[features], [cell]) for features, cell in cells.items()],
                    best=None,
                )
            ],
            findings=findings,
        )
