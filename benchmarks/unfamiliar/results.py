"""Results: one JSON file per library, with a line per set, so that a run can be resumed."""

import json
from pathlib import Path

FOLDER = Path(__file__).with_name("results")


def path_of(out: Path, library: str) -> Path:
    return out / f"{library}.json"


def read(path: Path) -> dict:
    """Return a file's contents; an empty record if there is none."""
    if not path.is_file():
        return {"sets": {}}
    return json.loads(path.read_text())


def read_all(out: Path) -> dict[str, dict]:
    """Return the contents of all files by library."""
    return {path.stem: read(path) for path in sorted(out.glob("*.json"))}


def add(out: Path, library: str, head: dict, name: str, record: dict) -> None:
    """Write the record of a set into its library's file, and keep the others."""
    path = path_of(out, library)
    sets = read(path)["sets"] | {name: record}
    lines = [f"  {json.dumps(key)}: {_compact(sets[key])}" for key in sorted(sets)]
    body = ",\n".join(lines)
    text = f'{{"head": {_compact({"library": library} | head)},\n "sets": {{\n{body}\n}}}}\n'
    out.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")  # never half a file, even if interrupted
    part.write_text(text)
    part.replace(path)


def is_settled(out: Path, library: str, settings: dict, name: str, build: str | None) -> bool:
    """Return whether a set was measured, with these settings and by this build of marginboost."""
    file = read(path_of(out, library))
    record = file["sets"].get(name)
    if record is None or file["head"]["settings"] != settings:
        return False
    if build is not None and record["build"] != build:
        return False
    return all(fold["status"] in ("ok", "limit") for fold in record["folds"])


def _compact(value):
    return json.dumps(value, separators=(",", ":"))
