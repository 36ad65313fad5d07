"""An entry of the catalogue: what a set is, what it must hold, and where the public has it."""

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
        The paths of the fetched files to their rows.
    known_hashes : tuple of str
        Checksums of the files, as pooch takes them; empty where they are not known. The rows are
        checked in either case.
    """

    urls: tuple[str, ...]
    read: Reader
    known_hashes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """What is known of a set.

    Parameters
    ----------
    file : str
        The name of its file, without `.npz`, in the folder MARGINBOOST_DATA and in the cache.
    dtype : str
        What its features are rounded to.
    rows, features, classes : int
        How many there are.
    checksum : str
        Of its rows, as `experiments.data.rows.checksum` makes it.
    sources : tuple of Source
        Where it is published, the best first.
    bundled : callable or None
        How to get it from scikit-learn, which brings it along.
    note : str
        What stands in for what, and what is odd about it.
    advice : str
        What to do where it cannot be fetched.
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
