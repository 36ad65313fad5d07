"""Tables and claims: printed for people, written as JSON for programs."""

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from marginboost import _native


@dataclass
class Claim:
    """A number and its bound."""

    text: str
    measured: float
    limit: float
    at_least: bool = False

    def __post_init__(self) -> None:
        self.measured = float(self.measured)

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        verdict = "PASS" if self.holds else "FAIL"
        return f"{verdict}  {self.text}: {_cell(self.measured)} ({bound} {_cell(self.limit)})"


@dataclass
class Report:
    """What one benchmark found."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def show(self) -> None:
        cells = [self.columns, *[tuple(_cell(value) for value in row) for row in self.rows]]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        print(f"\n{self.title}\n{'-' * len(self.title)}")
        for row in cells:
            first = row[0].ljust(widths[0])
            rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            print("  ".join([first, *rest]))
        for note in self.notes:
            print(f"Note: {note}")
        for claim in self.claims:
            print(claim)

    def write(self, path: Path, seconds: float, quick: bool, more: dict | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {
            "title": self.title,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "claims": [asdict(claim) | {"holds": claim.holds} for claim in self.claims],
            "notes": self.notes,
            "quick": quick,
            "seconds": round(seconds, 1),
            "machine": machine(),
        } | (more or {})
        path.write_text(json.dumps(found, indent=1) + "\n")


def machine() -> dict:
    """The machine, the date and the versions of the measurements."""
    packages = ("marginboost", "numpy", "scikit-learn", "scipy")
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--", "src", "native", "benchmarks")),
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "kernels": _native.kernels(),
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in packages},
    }


def _version(package: str) -> str:
    """Return the version of a package, also where it is imported without being installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return str(import_module(package).__version__)


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _git(*args: str) -> str | None:
    root = Path(__file__).parents[1]
    try:
        done = subprocess.run(
            ["git", *args], cwd=root, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _cell(value) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
