"""The origin of a record: version, commit, machine."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

import marginboost


def origin(jobs: int, device: str = "cpu", *, small: bool = False) -> dict[str, Any]:
    """Describe what a run was made with.

    Parameters
    ----------
    jobs : int
        How many trials ran at a time.
    device : {"cpu", "cuda"}
        Where the classifier fitted, as it said itself.
    small : bool
        Whether it is the small version of an experiment.
    """
    return {
        "commit": _commit(),
        "code": _code(),
        "conditions": "recorded",
        "version": marginboost.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "cpu": _cpu(),
        "cpus": joblib.cpu_count(),
        "jobs": jobs,
        "device": device if device == "cpu" else f"{device}: {_gpu()}",
        "small": small,
    }


# What decides a result: the code, and what builds it.
INPUTS = ("experiments", "src", "native", "CMakeLists.txt", "pyproject.toml")
ROOT = Path(__file__).parents[1]


@cache
def _commit() -> str:
    """Return the commit of this checkout, marked if a file differs from it or is not in it."""
    commit = _git("describe", "--always", "--abbrev=12", "--exclude=*")
    changed = _git("status", "--porcelain", "--untracked-files=all", "--", *INPUTS)
    if commit is None or changed is None:
        return "unknown"
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str | None:
    """Return what a command of git prints; None where there is no git or no checkout."""
    try:
        found = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


@cache
def _code() -> str:
    """Return a checksum of the Python code and of the compiled core: it needs no git."""
    sums = hashlib.sha256()
    package = Path(marginboost.__file__).parent
    for folder in (Path(__file__).parent, package):
        files = (path for kind in ("*.py", "*.so", "*.pyd") for path in folder.rglob(kind))
        for path in sorted(files):
            sums.update(path.relative_to(folder).as_posix().encode())
            sums.update(path.read_bytes())
    return sums.hexdigest()[:16]


@cache
def _gpu() -> str:
    try:
        import cupy  # noqa: PLC0415  an optional dependency

        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    except Exception:  # the run itself will report what is wrong
        return "unknown"


@cache
def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
