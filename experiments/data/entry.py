"""An entry of the catalogue: what a data set is, what it must hold, and its public sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments.data.readers import Reader
from experiments.data.rows import Rows


@dataclass(frozen=True)
class Source:
    """Files that hold a set together.

    Parameters
    ----------
    urls : tuple of str
        Where the files are.
    read : callable
        Reads the rows from the paths of the fetched files.
    known_hashes : tuple of str
        Checksums of the files, as pooch takes them; empty if unknown. The rows are checked in any case.
    """

    urls: tuple[str, ...]
    read: Reader
    known_hashes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """What is known about a data set.

    Parameters
    ----------
    file : str
        The name of its file, without `.npz`, in the folder MARGINBOOST_DATA and in the cache.
    dtype : str
        The type to which its features are rounded.
    rows, features, classes : int
        Their numbers.
    checksum : str
        Checksum of its rows, by `experiments.data.rows.checksum`.
    sources : tuple of Source
        Where it is published, the best first.
    bundled : callable or None
        How to get it from scikit-learn, if that includes it.
    note : str
        Which data it replaces, and what is odd about it.
    advice : str
        What to do if it cannot be fetched.
    """

    file: str
    dtype: str
    rows: int
    features: int
    classes: int
    checksum: str
    sources: tuple[Source, ...] = ()
    bundled: Callable[[], Rows] | None = None
    note: str = ""
    advice: str = ""
