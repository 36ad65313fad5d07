"""The library: finds a set in a folder, with scikit-learn, in the cache, or fetches it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import sklearn

from experiments.data.dataset import DataSet
from experiments.data.entry import Entry
from experiments.data.errors import MissingData, WrongData, reason
from experiments.data.fetching import fetched
from experiments.data.npz import read_npz, write_npz
from experiments.data.rows import Rows, checksum, settled, stacked, taken

FOLDER = "MARGINBOOST_DATA"
# vowel as an author of the paper distributes it, with the test points twice.
DOUBLED = {"vowel-1452": "vowel"}
DOUBLED_NOTE = (
    "The 990 rows of vowel, and the 462 of its test part once more, as in the copy that an author "
    "of the paper distributes: a random split puts the same point on both sides."
)


class Library:
    """The sets of a catalogue, wherever they are.

    Parameters
    ----------
    folder : Path or None
        The folder that the user names.
    cache : Path
        Where fetched sets are stored.
    catalogue : mapping of str to Entry
        The data sets.
    """

    def __init__(self, folder: Path | None, cache: Path, catalogue: Mapping[str, Entry]) -> None:
        self.folder = folder
        self.cache = cache
        self.catalogue = catalogue

    def load(self, name: str) -> DataSet:
        """Return a set; fetch it if it is nowhere else.

        Parameters
        ----------
        name : str
            A name of the catalogue.

        Returns
        -------
        DataSet
            The set, in the same order and with the same values wherever it came from.

        Raises
        ------
        MissingData
            If it is not available; the message says why, and what to do.
        WrongData
            If the folder has a file for it with different content.
        """
        if name in DOUBLED:
            rows = self._rows(DOUBLED[name])
            if rows.test is None:
                raise WrongData(f"{DOUBLED[name]} must have an official split; it has none.")
            rows = stacked([rows, taken(rows, np.flatnonzero(rows.test))])
            return DataSet(name, *rows, note=DOUBLED_NOTE)
        return DataSet(name, *self._rows(name), note=self.entry(name).note)

    def find(self, name: str) -> str | None:
        """Return where a set is; None if it would have to be fetched."""
        entry = self.entry(name)
        if self._in_folder(entry) is not None:
            return FOLDER
        if entry.bundled is not None:
            return "scikit-learn"
        return "cache" if self._in_cache(entry).is_file() else None

    def entry(self, name: str) -> Entry:
        """Return the entry of a set in the catalogue."""
        try:
            return self.catalogue[DOUBLED.get(name, name)]
        except KeyError:
            names = ", ".join(sorted({*self.catalogue, *DOUBLED}))
            raise ValueError(f"A set must be one of {names}; got {name!r}.") from None

    def _rows(self, name: str) -> Rows:
        entry = self.entry(name)
        path = self._in_folder(entry)
        if path is not None:
            return _checked(read_npz(path), entry, str(path))
        if entry.bundled is not None:
            return _checked(entry.bundled(), entry, f"scikit-learn {sklearn.__version__}")
        kept = self._kept(entry)
        return self._fetched(name, entry) if kept is None else kept

    def _in_folder(self, entry: Entry) -> Path | None:
        if self.folder is None:
            return None
        if not self.folder.is_dir():
            raise MissingData(f"{FOLDER} must name an existing folder; got {self.folder}.")
        path = self.folder / f"{entry.file}.npz"
        return path if path.is_file() else None

    def _in_cache(self, entry: Entry) -> Path:
        return self.cache / f"{entry.file}.npz"

    def _kept(self, entry: Entry) -> Rows | None:
        path = self._in_cache(entry)
        if not path.is_file():
            return None
        try:
            return _checked(read_npz(path), entry, str(path))
        except WrongData:
            return None  # corrupted: the fetched file replaces it

    def _fetched(self, name: str, entry: Entry) -> Rows:
        failures = []
        for source in entry.sources:
            try:
                rows = _checked(fetched(source, self.cache), entry, source.urls[0])
            except (OSError, ValueError) as error:
                failures.append(f"{source.urls[0]}: {reason(error)}")
            else:
                write_npz(self._in_cache(entry), rows)
                return rows
        raise MissingData(_missing(name, entry, failures))


def _checked(rows: Rows, entry: Entry, where: str) -> Rows:
    try:
        rows = settled(rows, entry.dtype)
    except ValueError as error:
        raise WrongData(f"{where} must hold the rows of {entry.file}; {error}") from error
    found = checksum(rows)
    if found != entry.checksum:
        raise WrongData(
            f"{where} must hold the {entry.rows} rows of {entry.file}, with checksum "
            f"{entry.checksum}; got {rows.X.shape[0]} rows with {found}. Remove the file, or "
            "replace it by the right one."
        )
    return rows


def _missing(name: str, entry: Entry, failures: list[str]) -> str:
    lines = [
        f"The data set {name} is not here, and "
        + ("could not be fetched:" if failures else "there is no public source to fetch it from.")
    ]
    lines += [f"  {failure}" for failure in failures]
    lines.append(
        f"Set {FOLDER} to a folder with {entry.file}.npz: arrays X and y, and split (0 train, 1 "
        "test) if there is an official one; or, for a sparse set, data, indices, indptr and "
        "shape."
    )
    if failures:
        lines.append("Or try again where these addresses can be reached.")
    if entry.advice:
        lines.append(entry.advice)
    return "\n".join(lines)
