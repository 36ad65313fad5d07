"""Notes at the terminal, and how numbers and names are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def note(message: str) -> None:
    """Print a note on the error stream, apart from the result."""
    typer.echo(message, err=True)


def counted(number: int, noun: str) -> str:
    """Format a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share as a percentage."""
    return f"{100 * share:.1f} %"


def one_of(label: Any) -> str:
    """Format a label, with quotes around text."""
    return repr(label.item() if hasattr(label, "item") else label)


def size_of(path: Path) -> str:
    """Format the size of a file."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
