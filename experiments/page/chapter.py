"""An experiment on the page: its section, and the records behind it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.page.section import Section
from experiments.trial import Records


@dataclass(frozen=True)
class Chapter:
    """A section and its origin.

    Attributes
    ----------
    name : str
        Name of the experiment.
    section : Section
        What it shows.
    records : Records
        The records behind it.
    paper_repeats : int
        How often the paper repeats it.
    source : Path or None
        File with the records; None if there is none yet.
    missing : sequence of str
        Why some trials could not be run.
    small : bool
        Whether it is the small version of the experiment.
    """

    name: str
    section: Section
    records: Records
    paper_repeats: int
    source: Path | None = None
    missing: Sequence[str] = field(default_factory=tuple)
    small: bool = False

    @property
    def repeats(self) -> tuple[int, int]:
        """The fewest and the most random draws of a set, method and settings."""
        counts = Counter(
            json.dumps([r.trial.data, r.trial.method, r.trial.settings], sort_keys=True)
            for r in self.records
        )
        return min(counts.values(), default=0), max(counts.values(), default=0)

    @property
    def data(self) -> list[str]:
        """The data sets, in the order of the records."""
        return list(dict.fromkeys(record.trial.data for record in self.records))

    def origins(self, name: str) -> list[Any]:
        """Return the distinct values of one field of the records' origins."""
        found = {record.origin.get(name, "unknown") for record in self.records}
        return sorted(found, key=str)
