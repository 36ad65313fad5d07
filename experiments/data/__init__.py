"""The data of the experiments: `load` gives a set by name, wherever it is."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.data.catalogue import CATALOGUE
from experiments.data.dataset import DataSet
from experiments.data.errors import MissingData, WrongData
from experiments.data.library import DOUBLED, FOLDER, Library

__all__ = ["NAMES", "DataSet", "MissingData", "WrongData", "is_here", "library", "load"]

NAMES = (*CATALOGUE, *DOUBLED)


def load(name: str) -> DataSet:
    """Return a set by name.

    It comes from the folder that the environment variable MARGINBOOST_DATA names, else from
    scikit-learn where that brings it along, else from the user's cache, else from its public
    source, and is then kept in the cache. Values and order are the same in all cases, and checked.

    Parameters
    ----------
    name : str
        One of `experiments.data.NAMES`.

    Returns
    -------
    DataSet
        The set.
    """
    return library().load(name)


def is_here(name: str) -> bool:
    """Say whether a set can be had without fetching it."""
    return library().find(name) is not None


def library() -> Library:
    """Return the sets, as the environment has them now."""
    folder = os.environ.get(FOLDER)
    return Library(Path(folder) if folder else None, cache_folder(), CATALOGUE)


def cache_folder() -> Path:
    """Return where fetched sets are kept."""
    import pooch  # noqa: PLC0415 - needed here only

    return Path(pooch.os_cache("marginboost")) / "data"
