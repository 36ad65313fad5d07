"""The origin of a record: version, commit, machine."""

from __future__ import annotations

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
        Where our classifiers fit.
    small : bool
        Whether it is the small version of an experiment.
    """
    return {
        "commit": _commit(),
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


@cache
def _commit() -> str:
    """Return the commit of this checkout, marked if files differ from it."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


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
