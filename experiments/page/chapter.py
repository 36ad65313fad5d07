"""An experiment on the page: its section, and the records behind it."""

from __future__ import annotations

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
    def repeats(self) -> int:
        """How many random draws there were."""
        return len({record.trial.repeat for record in self.records})

    @property
    def data(self) -> list[str]:
        """The data sets, in the order of the records."""
        return list(dict.fromkeys(record.trial.data for record in self.records))

    def origins(self, name: str) -> list[Any]:
        """Return the distinct values of one field of the records' origins."""
        found = {record.origin.get(name, "unknown") for record in self.records}
        return sorted(found, key=str)
