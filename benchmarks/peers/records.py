"""Records: one JSON file per measurement, so that a run can be resumed."""

import json
from collections.abc import Iterator
from pathlib import Path

ALWAYS = ("request", "found", "machine")


def write(path: Path, request: dict, found: dict, machine: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"request": request, "found": found, "machine": machine}
    part = path.with_suffix(".part")  # never half a file, even if interrupted
    part.write_text(json.dumps(record, indent=1) + "\n")
    part.replace(path)


def read(path: Path) -> dict:
    record = json.loads(path.read_text())
    if lacking := [key for key in ALWAYS if key not in record]:
        raise ValueError(f"A record holds {', '.join(ALWAYS)}; {path} lacks {', '.join(lacking)}.")
    return record


def is_settled(path: Path, limit: float, build: str | None) -> bool:
    """Return whether this build was measured, or stopped at no less than this limit."""
    if not path.is_file():
        return False
    record = read(path)
    found = record["found"]
    if build is not None and record["machine"].get("build") != build:
        return False
    return found["status"] == "ok" or (found["status"] == "limit" and found["limit"] >= limit)


def of_sets(out: Path) -> Iterator[dict]:
    for path in sorted(out.glob("sets/*/*.json")):
        yield read(path)


def of_axis(out: Path, axis: str) -> Iterator[dict]:
    for path in sorted(out.glob(f"growth/{axis}/*.json")):
        yield read(path)
