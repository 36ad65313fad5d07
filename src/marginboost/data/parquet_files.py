"""Parquet files by name: a file, a pattern, or a folder."""

from __future__ import annotations

from glob import glob, has_magic
from pathlib import Path

__all__ = ["PARQUET", "files_of", "parts_of"]

PARQUET = (".parquet", ".pq")


def parts_of(folder: str | Path) -> list[Path]:
    """Return the Parquet files in a folder and its folders, in the order of their names."""
    found = sorted(
        path
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in PARQUET
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and path.is_file()
    )
    if not found:
        raise FileNotFoundError(
            2, "This folder must hold Parquet files; it holds none", str(folder)
        )
    return found


def files_of(name: str | Path) -> list[Path]:
    """Return the files that a name stands for: one, those of a folder, or those of a pattern."""
    path = Path(name)
    if path.is_dir():
        return parts_of(path)
    if not path.exists() and has_magic(str(name)):
        found = sorted(Path(one) for one in glob(str(name), recursive=True))
        if not found:
            raise FileNotFoundError(
                2, "This pattern must match some file; it matches none", str(name)
            )
        return found
    path.open("rb").close()  # raises the operating system's error if it cannot be read
    return [path]
