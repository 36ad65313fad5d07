"""A trial to run, and its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What determines a trial besides its data, method and repeat; and its measures. Both go to JSON.
Settings = Mapping[str, Any]
# How far the load of a machine may exceed that of its own trials.
SLACK = 0.5
# The measure `clock` of trials whose seconds for coefficients are those of the processor.
PROCESSOR = "processor"
Measures = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """Everything that determines an outcome, except the machine and the version.

    Attributes
    ----------
    data, method : str
        Names of `experiments.data` and of `experiments.methods`.
    repeat : int
        Which random draw of the data, from 0. All methods see the same draws.
    settings : mapping
        What distinguishes it from the other trials of its experiment, as JSON can hold it.
    conditions : mapping
        Everything else that decides its outcome: see `experiments.conditions`. A trial under other
        conditions is another trial.
    """

    data: str
    method: str
    repeat: int
    settings: Settings = field(default_factory=dict)
    conditions: Settings = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal texts for equal trials."""
        held = [self.data, self.method, self.repeat, self.settings, self.conditions]
        return json.dumps(held, sort_keys=True)

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.data}, {self.method}, repeat {self.repeat}" + (settings and f", {settings}")


@dataclass(frozen=True)
class Record:
    """A trial that was run.

    Attributes
    ----------
    trial : Trial
        What was run.
    measures : dict
        The results. `wrong` and `n_test` are there if something was classified.
    origin : mapping
        Its origin: see `experiments.origin`.
    """

    trial: Trial
    measures: Measures
    origin: Mapping[str, Any]

    @property
    def small(self) -> bool:
        """Whether it comes from the small version of its experiment."""
        return bool(self.origin.get("small", False))

    @property
    def idle(self) -> bool:
        """Whether its times may be published: other work of the machine did not enter them.

        Seconds of the processor do not pass while other programs have it; seconds of the wall clock
        count where the machine had nothing else to do.
        """
        if self.measures.get("clock") == PROCESSOR:
            return True
        load = self.measures.get("load")
        return load is not None and load <= self.origin.get("jobs", 1) + SLACK

    @property
    def error(self) -> float:
        """Share of the test rows that were misclassified, in percent."""
        return 100.0 * float(self.measures["wrong"]) / float(self.measures["n_test"])


class Records(Sequence[Record]):
    """The records of an experiment, in the order of their trials."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = list(records)

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def of(self, data: str | None = None, method: str | None = None, **settings: object) -> Records:
        """Return those of a data set, a method and settings, by repeat; None stands for all."""
        found = [
            record
            for record in self
            if data in (None, record.trial.data)
            and method in (None, record.trial.method)
            and all(record.trial.settings.get(name) == value for name, value in settings.items())
        ]
        return Records(sorted(found, key=lambda record: record.trial.repeat))

    def measures(self, name: str) -> list[Any]:
        """Return one measure of each."""
        return [record.measures[name] for record in self]

    @property
    def by_draw(self) -> dict[int, float]:
        """The test error of each, in percent, by the number of its draw."""
        return {record.trial.repeat: record.error for record in self}

    @property
    def errors(self) -> list[float]:
        """The test error of each, in percent."""
        return [record.error for record in self]
