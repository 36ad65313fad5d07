"""The numbers of Table VIII, by method, number of features and draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.figure4 import Curve
from experiments.measuring import checkpoints
from experiments.methods import METHODS, TODAY
from experiments.svms import SVMS
from experiments.trial import SLACK, Record, Records, Trial

__all__ = [
    "BOOSTING",
    "FEW_ROUNDS",
    "OURS",
    "OWN",
    "SceneNumbers",
    "always_above",
    "label",
    "mean",
    "rounds_of",
    "times_above",
]

OWN = "own"
TIME, FIT_TIME = "predict_processor_seconds", "fit_processor_seconds"
BOOSTING = ("sip", "ecc", "mh", "multiboost", "log", "exp")
OURS = ("log", "exp")
# These take long, and the paper has no more rounds of the first: the smaller number of rounds.
FEW_ROUNDS = ("sip", "multiboost")


@dataclass(frozen=True)
class SceneNumbers:
    """Accuracies, curves and times of the records.

    Attributes
    ----------
    records : Records
        Of Table VIII.
    data : str
        Name of the images.
    rounds : tuple of two int
        The smaller and the larger number of rounds, and of features.
    """

    records: Records
    data: str
    rounds: tuple[int, int]

    def accuracies(self, method: str, features: int, kind: str = OWN) -> dict[int, float]:
        """Return the accuracies in % with this many features, by draw."""
        found = self.of(method, features, kind)
        if method in BOOSTING:
            return {
                record.trial.repeat: float(value)
                for record in found
                if (value := self.curve(record).get(features)) is not None
            }
        return {n: 100 - error for n, error in found.by_draw.items()}

    def of(self, method: str, features: int, kind: str = OWN) -> Records:
        """Return the records of a method with this many features, or of boosting with more."""
        few, many = self.rounds
        if method in SVMS:
            components = few if features == few else None
            return self.records.of(
                self.data, method, features=kind, n_components=components, C=None
            )
        if method in TODAY and features != many:
            return Records([])
        return self.records.of(self.data, method, features=kind)

    def curve(self, record: Record) -> dict[int, float]:
        """Return the accuracy in % after increasing numbers of rounds."""
        at = checkpoints(rounds_of(record.trial, self.rounds), (self.rounds[0],))
        n_test = record.measures["n_test"]
        curve = record.measures["curve"]
        return {n: 100 - 100 * w / n_test for n, w in zip(at, curve, strict=False)}

    def ended(self, method: str, features: int, kind: str) -> str:
        """Return after how many rounds boosting ended, where that was before this number."""
        made = [
            record.measures["rounds"]
            for record in self.records.of(self.data, method, features=kind)
            if method in BOOSTING
        ]
        early = [n for n in made if n < features]
        if not early:
            return ""
        of = "" if len(early) == len(made) else f" in {len(early)} of {len(made)} draws"
        span = f"{min(early):,} to {max(early):,}" if min(early) < max(early) else f"{min(early):,}"
        return f"(ended after {span} rounds{of})"

    def mean_curve(self, method: str) -> Curve | None:
        """Return the mean of the curves of all draws; None where there is none."""
        curves = [self.curve(r) for r in self.records.of(self.data, method, features=OWN)]
        curves = [curve for curve in curves if curve]
        if not curves:
            return None
        return Curve(list(curves[0]), np.mean([list(curve.values()) for curve in curves], axis=0))

    @property
    def timed(self) -> Records:
        """Records of the processor with which the most methods were timed."""
        of: dict[str, list[Record]] = {}
        for record in self.records.of(self.data, features=OWN, C=None):
            if TIME in record.measures:
                of.setdefault(_processor(record), []).append(record)
        wanted = {"svm-linear", "svm-hik", *OURS}
        return Records(
            max(
                of.values(),
                key=lambda found: len({r.trial.method for r in found} & wanted),
                default=[],
            )
        )

    @property
    def machine(self) -> str | None:
        """The processor of `timed`, and its load, in words; None if nothing was timed."""
        if not len(self.timed):
            return None
        words = _processor(self.timed[0])
        loads = [r.measures["load"] for r in self.timed if r.measures.get("load") is not None]
        if loads and max(loads) > 1 + SLACK:
            span = dict.fromkeys(f"{load:.0f}" for load in (min(loads), max(loads)))
            words += f", which had other work: its load was {' to '.join(span)}"
        return words

    def milliseconds(self, method: str, n_components: int | None = None) -> dict[int, float]:
        """Return the time to classify an image, by draw, on the machine of the other methods."""
        return {
            r.trial.repeat: 1000 * r.measures[TIME] / r.measures["n_test"]
            for r in self.timed.of(self.data, method, n_components=n_components)
        }

    def fit_seconds(self, method: str, n_components: int | None = None) -> dict[int, float]:
        """Return the time of a fit, by draw, on the same machine."""
        return {
            r.trial.repeat: r.measures[FIT_TIME]
            for r in self.timed.of(self.data, method, n_components=n_components)
        }


def _processor(record: Record) -> str:
    return str(record.origin.get("cpu"))


def rounds_of(trial: Trial, rounds: tuple[int, int]) -> int:
    """Return how many rounds a trial has."""
    short = trial.method in FEW_ROUNDS or trial.settings["features"] != OWN
    return rounds[0] if short else rounds[1]


def label(method: str) -> str:
    """Return the name of a method in tables."""
    return SVMS[method].label if method in SVMS else METHODS[method].label


def always_above(ours: Mapping[int, float], theirs: Mapping[int, float]) -> bool:
    """Return whether ours is above theirs in every draw that both have."""
    common = ours.keys() & theirs.keys()
    return bool(common) and all(ours[n] > theirs[n] for n in common)


def times_above(ours: Mapping[str, Mapping[int, float]], theirs: Mapping[int, float]) -> str:
    """Return in how many of how many common draws our methods are above."""
    gaps = [own[n] - theirs[n] for own in ours.values() for n in own.keys() & theirs.keys()]
    return f"{sum(gap > 0 for gap in gaps)} of {len(gaps)}"


def mean(accuracies: Mapping[int, float]) -> float:
    """Return the mean over draws."""
    return float(np.mean(list(accuracies.values())))
