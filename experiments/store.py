"""Records on disk.

While an experiment runs, each record is one line of a `.jsonl` file, so that an interrupted run can
be resumed. A finished experiment is a `.json` file, in which values that many records share are
stored once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.draws import seed_of
from experiments.trial import Record, Records, Trial

FORMAT = 2


class Store:
    """The records of one experiment in a folder; more can be added."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.jsonl"

    def read(self) -> Records:
        """Return the records; a line that was being written when a run ended is left out."""
        if not self._path.is_file():
            return Records([])
        found: dict[str, Record] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                record = _record(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue
            found[record.trial.key] = record
        return Records(list(found.values()))

    def add(self, record: Record) -> None:
        """Append a record."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        whole = not self._path.is_file() or self._path.read_bytes()[-1:] in (b"", b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(("" if whole else "\n") + json.dumps(asdict(record)) + "\n")


def write_results(path: Path, name: str, records: Iterable[Record]) -> None:
    """Write the records of an experiment as one JSON file."""
    origins, conditions = _Shared(), _Shared()
    lines = []
    for record in records:
        line = asdict(record.trial) | {
            # Follows from data and repeat; stored for those who read the file without this code.
            "seed": seed_of(record.trial.data, record.trial.repeat),
            "conditions": conditions.place(record.trial.conditions),
            "measures": record.measures,
            "origin": origins.place(record.origin),
        }
        lines.append(json.dumps(line, separators=(",", ":")))
    held = {
        "format": FORMAT,
        "experiment": name,
        "origins": origins.values,
        "conditions": conditions.values,
    }
    head = json.dumps(held, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    body = ",\n".join(lines)
    path.write_text(f'{head[:-2]},\n "records": [\n{body}\n]}}\n', encoding="utf-8")


class _Shared:
    """Values that many records share, each once."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def place(self, value: Mapping[str, Any]) -> int:
        """Return the place of a value, which is added if it is new."""
        key = json.dumps(value, sort_keys=True)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(dict(value))
        return self._places[key]


def read_results(path: Path) -> Records:
    """Read what `write_results` has written."""
    held = json.loads(path.read_text(encoding="utf-8"))
    if held.get("format") != FORMAT:
        raise ValueError(
            f"{path.name} must be of format {FORMAT}; got {held.get('format')!r}: "
            "run the experiment again."
        )
    origins, conditions = held["origins"], held["conditions"]
    return Records(
        [
            _record(
                line
                | {
                    "origin": origins[line["origin"]],
                    "conditions": conditions[line["conditions"]],
                }
            )
            for line in held["records"]
        ]
    )


def _record(held: dict[str, Any]) -> Record:
    told = held.get("trial", held)
    trial = Trial(
        told["data"], told["method"], told["repeat"], told["settings"], told["conditions"]
    )
    return Record(trial, held["measures"], held["origin"])
