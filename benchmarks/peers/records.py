"""Records: one JSON file per library, written after each measurement, so that a run can be resumed."""

import json
from collections.abc import Iterator
from pathlib import Path

ALWAYS = ("request", "found", "machine")


class Records:
    """The records in a folder, by library and by the name of the measurement."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_library = {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}

    def __getitem__(self, place: tuple[str, str]) -> dict:
        library, name = place
        return self._by_library[library][name]

    def write(self, library: str, name: str, record: dict) -> None:
        """Keep a record."""
        kept = self._by_library.setdefault(library, {})
        kept[name] = record
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{library}.json"
        part = path.with_suffix(".part")  # never half a file, even if interrupted
        part.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
        part.replace(path)

    def is_settled(self, library: str, name: str, limit: float, build: str | None) -> bool:
        """Return whether this build was measured, or stopped at no less than this limit."""
        record = self._by_library.get(library, {}).get(name)
        if record is None:
            return False
        found = record["found"]
        if build is not None and record["machine"].get("build") != build:
            return False
        return found["status"] == "ok" or (found["status"] == "limit" and found["limit"] >= limit)

    def of(self, folder: str) -> Iterator[dict]:
        """Return the records whose names begin with a folder: "sets", or "growth" and an axis."""
        for kept in self._by_library.values():
            yield from (kept[name] for name in sorted(kept) if name.startswith(f"{folder}/"))


def _read(path: Path) -> dict[str, dict]:
    kept: dict[str, dict] = json.loads(path.read_text())
    for name, record in kept.items():
        if lacking := [key for key in ALWAYS if key not in record]:
            raise ValueError(
                f"A record holds {', '.join(ALWAYS)}; {name} in {path} lacks {', '.join(lacking)}."
            )
    return kept
