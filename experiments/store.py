"""Records on disk.

While an experiment runs, each record is one line of a `.jsonl` file, so that an interrupted run can
be resumed. A finished experiment is a `.json` file, in which values that many records share are
stored once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.draws import seed_of
from experiments.trial import Record, Records, Trial

FORMAT = 1


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
    origins: list[dict[str, Any]] = []
    lines = []
    for record in records:
        origin = dict(record.origin)
        if origin not in origins:
            origins.append(origin)
        line = asdict(record.trial) | {
            # Follows from data and repeat; stored for those who read the file without this code.
            "seed": seed_of(record.trial.data, record.trial.repeat),
            "measures": record.measures,
            "origin": origins.index(origin),
        }
        lines.append(json.dumps(line, separators=(",", ":")))
    head = json.dumps({"format": FORMAT, "experiment": name, "origins": origins}, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    body = ",\n".join(lines)
    path.write_text(f'{head[:-2]},\n "records": [\n{body}\n]}}\n', encoding="utf-8")


def read_results(path: Path) -> Records:
    """Read what `write_results` has written."""
    held = json.loads(path.read_text(encoding="utf-8"))
    if held.get("format") != FORMAT:
        raise ValueError(
            f"{path.name} must be of format {FORMAT}; got {held.get('format')!r}: "
            "run the experiment again."
        )
    origins = held["origins"]
    return Records(
        [_record(line | {"origin": origins[line["origin"]]}) for line in held["records"]]
    )


def _record(held: dict[str, Any]) -> Record:
    told = held.get("trial", held)
    trial = Trial(told["data"], told["method"], told["repeat"], told["settings"])
    return Record(trial, held["measures"], held["origin"])
