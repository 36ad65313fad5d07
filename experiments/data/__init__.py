"""The data of the experiments: `load` returns a set by name, wherever it is."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from scipy.sparse import issparse

from experiments.data.catalogue import CATALOGUE
from experiments.data.dataset import DataSet
from experiments.data.errors import MissingData, WrongData
from experiments.data.fetching import cache_folder
from experiments.data.library import DOUBLED, FOLDER, Library
from experiments.data.scenes import Scenes, SceneShelf

__all__ = [
    "NAMES",
    "DataSet",
    "MissingData",
    "Scenes",
    "WrongData",
    "is_here",
    "library",
    "load",
    "load_scenes",
    "scene_shelf",
]

NAMES = (*CATALOGUE, *DOUBLED)


def load(name: str) -> DataSet:
    """Return a set by name.

    It comes from the folder that the environment variable MARGINBOOST_DATA names, else from
    scikit-learn if that includes it, else from the user's cache, else from its public source, and
    is then stored in the cache. Values and order are the same in all cases, which is checked. The
    last few sets stay in memory and are read-only.

    Parameters
    ----------
    name : str
        One of `experiments.data.NAMES`.

    Returns
    -------
    DataSet
        The set.

    Raises
    ------
    MissingData
        If it is not available; the message says why, and what to do.
    WrongData
        If the folder has a file for it with different content.
    """
    return _kept(name, _folder(), cache_folder())


def is_here(name: str) -> bool:
    """Return whether a set is available without fetching it."""
    return library().find(name) is not None


def load_scenes() -> Scenes:
    """Return the scenes of 15 categories, from the same places as `load` looks in.

    Returns
    -------
    Scenes
        Names, labels and official split; images are read on demand.
    """
    return scene_shelf().load()


def library() -> Library:
    """Return the sets, with the current environment."""
    return Library(_folder(), cache_folder(), CATALOGUE)


def scene_shelf() -> SceneShelf:
    """Return where the scenes may be, with the current environment."""
    return SceneShelf(_folder(), cache_folder())


@lru_cache(maxsize=4)
def _kept(name: str, folder: Path | None, cache: Path) -> DataSet:
    found = Library(folder, cache, CATALOGUE).load(name)
    values = found.X.data if issparse(found.X) else found.X
    for array in (values, found.y, found.test, found.part):
        if array is not None:
            array.setflags(write=False)  # many will get the same one
    return found


def _folder() -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder) if folder else None
