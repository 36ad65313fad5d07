"""How long ``make reproduce`` takes from a clean clone, its virtual environment included.

    python benchmarks/reproduce.py OUT.json [--folder FOLDER]

Clones the last commit of this checkout into the folder, which must not exist (a temporary one if not
given), runs the one command there, and writes seconds of the wall clock and of the processor, the load of
the machine, and the commit. Sets are read from MARGINBOOST_DATA. The environment of pip is used as it is.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]


def git(folder: Path, *arguments: str) -> str:
    """Return what a command of git prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def measure(folder: Path) -> dict:
    """Clone, run the command, and return what it took."""
    git(ROOT, "clone", "--quiet", str(ROOT), str(folder))
    loads = [os.getloadavg()[0]]
    began = perf_counter()
    done = subprocess.run(["make", "reproduce"], cwd=folder, check=False)
    wall = perf_counter() - began
    loads.append(os.getloadavg()[0])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "command": "make reproduce",
        "commit": git(folder, "rev-parse", "--short=12", "HEAD"),
        "changed": bool(git(folder, "status", "--porcelain")),
        "date": datetime.now(UTC).date().isoformat(),
        "exit_status": done.returncode,
        "wall_seconds": round(wall, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "load_before": round(loads[0], 2),
        "load_after": round(loads[1], 2),
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "pages": sorted(path.name for path in (folder / "out/reproduce-small").glob("results.*")),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        found = measure((asked.folder or Path(spare) / "clone").absolute())
    text = json.dumps(found, indent=1) + "\n"
    asked.out.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
