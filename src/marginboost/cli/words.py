"""What is said at the terminal, and how numbers and names are put into words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def note(message: str) -> None:
    """Say something beside the result, on the error stream."""
    typer.echo(message, err=True)


def counted(number: int, noun: str) -> str:
    """Say how many there are of a thing."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Say a share in hundredths."""
    return f"{100 * share:.1f} %"


def one_of(label: Any) -> str:
    """Show a label, text in quotes."""
    return repr(label.item() if hasattr(label, "item") else label)


def size_of(path: Path) -> str:
    """Say how large a file is."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
