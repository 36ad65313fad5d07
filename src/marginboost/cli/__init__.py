"""The command line: ``marginboost train``, ``predict``, ``inspect``, ``report`` and others."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich", "polars")


def main() -> None:
    """Run the command line, or name the package that is missing."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported; commands have their own words
        sys.exit(130)


def _run() -> None:
    try:
        from marginboost.cli.app import app  # noqa: PLC0415  the extra may be missing
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"marginboost: {name_missing(error.name)}")
    app(prog_name="marginboost")


def name_missing(package: str) -> str:
    """Say which package of the extra is missing, and how to install it."""
    return (
        f"the command line needs {package}, which is not installed: pip install 'marginboost[cli]'"
    )
