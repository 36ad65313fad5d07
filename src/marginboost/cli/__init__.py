"""The command line: ``marginboost train``, ``predict``, ``inspect``, ``report`` and others."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich", "polars")


def main() -> None:
    """Run the command line, or name the package that is missing."""
    try:
        from marginboost.cli.app import app  # noqa: PLC0415  the extra may be missing
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(
            f"marginboost: the command line needs {error.name}, which is not installed: "
            "pip install 'marginboost[cli]'"
        )
    app(prog_name="marginboost")
