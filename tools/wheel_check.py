"""Check the wheel as a new user sees it: small, quick to install, and the first example works.

Builds the wheel, installs it into an empty environment, and runs the README's first example there.
It fails if the wheel is too large, or if installation and example take more than a minute.

Usage: ``python tools/wheel_check.py``, or ``make wheel-check``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parents[1]
MOST_BYTES = 10_000_000
MOST_SECONDS = 60.0


def timed(*command: str | Path, cwd: Path | None = None) -> float:
    """Run a command and return its time in seconds."""
    start = perf_counter()
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)
    return perf_counter() - start


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    timed(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
    return next(folder.glob("marginboost-*.whl"))


def first_example() -> str:
    """Return the first Python block of the README."""
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit("The README must have a block of Python; it has none.")
    return found[1]


def main() -> None:
    """Check the wheel and print the measurements."""
    with TemporaryDirectory(prefix="marginboost-") as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        size = wheel.stat().st_size
        print(f"{wheel.name}: {size / 1e6:.2f} MB", flush=True)

        start = perf_counter()
        venv.create(folder / "fresh", with_pip=True)
        python = (
            folder / "fresh" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        )
        made = perf_counter() - start
        # pip's cache would make a second run faster than the first.
        pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        installed = timed(*pip, "--no-cache-dir", wheel)
        (folder / "example.py").write_text(first_example(), "utf-8")
        ran = timed(python, "example.py", cwd=folder)
    total = made + installed + ran
    print(
        f"environment {made:.1f} s, install {installed:.1f} s, example {ran:.1f} s: {total:.1f} s"
    )
    if size >= MOST_BYTES:
        sys.exit(
            f"The wheel must be smaller than {MOST_BYTES / 1e6:.0f} MB; it is {size / 1e6:.1f} MB."
        )
    if total >= MOST_SECONDS:
        sys.exit(
            f"Install and example must take under {MOST_SECONDS:.0f} s; they took {total:.0f} s."
        )


if __name__ == "__main__":
    main()
