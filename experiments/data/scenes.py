"""Scenes: photographs of 15 kinds of places, in a zip file, read on demand."""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from experiments.data.errors import MissingData, WrongData, reason
from experiments.data.fetching import downloads
from experiments.data.library import FOLDER
from experiments.data.whole_files import replacing

FILE = "scene15_images.zip"
COUNT = 4485
COMMIT = "57e584d52311332bda0ef4c6bb8175a2abd6c2df"
URL = f"https://github.com/howard19950724/Scene-recognition-with-bag-of-words/archive/{COMMIT}.zip"
# A file that was checked pixel by pixel; others are accepted if their pixels are the same.
KNOWN_FILE = "9f7e931a90aaf1369f271d27c76af80a0326bad5debcfce3508752450a630fa5"
PIXELS = "b4fe654c3e86168f371f331800cbd536af557c420ee45aff9354d79fa2a010a3"
MEMBER = re.compile(r"(?:.*/)?((?:train|test)/([A-Za-z]+)/image_\d+\.jpg)")


@dataclass(frozen=True)
class Scenes:
    """Photographs of places.

    Parameters
    ----------
    names : ndarray of str
        Their names in the zip file, in order: such as `test/Bedroom/image_0003.jpg`.
    y : ndarray of str
        Their categories.
    test : ndarray of bool
        Which are not among the 100 per category that the course copy sets aside for training. The
        usual protocol draws others.
    archive : Path
        The zip file.
    note : str
        What is odd about them.
    """

    names: NDArray[Any]
    y: NDArray[Any]
    test: NDArray[np.bool_]
    archive: Path
    note: str = (
        "18 groups of photographs are the same pixel by pixel, some of them in both parts of the "
        "split that the copy has."
    )

    def __len__(self) -> int:
        """Return the number of photographs."""
        return len(self.names)

    def image(self, row: int) -> NDArray[np.uint8]:
        """Return one photograph: levels of gray, from 0 for black."""
        return next(self.images([row]))

    def images(self, rows: Iterable[int] | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield photographs one by one; they differ in size.

        Parameters
        ----------
        rows : iterable of int, or None
            Which; None for all.

        Yields
        ------
        ndarray of uint8
            Height x width levels of gray.
        """
        with ZipFile(self.archive) as archive:
            for row in range(len(self)) if rows is None else rows:
                yield _decoded(archive.read(str(self.names[row])))


@dataclass(frozen=True)
class SceneShelf:
    """The places where the scenes may be: a folder, the cache, or a public source.

    Parameters
    ----------
    folder : Path or None
        The folder that the user names.
    cache : Path
        Where a fetched file is stored.
    url : str
        A zip file with the photographs, in any folders.
    known_file : str
        The SHA-256 of a file that needs no further check.
    pixels : str
        The checksum of all photographs.
    """

    folder: Path | None
    cache: Path
    url: str = URL
    known_file: str = KNOWN_FILE
    pixels: str = PIXELS

    def load(self) -> Scenes:
        """Return the scenes; fetch them if they are nowhere else.

        Raises
        ------
        MissingData
            If they are not available; the message says why, and what to do.
        WrongData
            If the folder has a file for them with different content.
        """
        path = self._path()
        if path is not None:
            try:
                self._check(path)
            except WrongData:
                if path.parent == self.folder:
                    raise
            else:
                return _scenes(path)
        return _scenes(self._fetched())

    def find(self) -> str | None:
        """Return where the scenes are; None if they would have to be fetched."""
        path = self._path()
        if path is None:
            return None
        return FOLDER if path.parent == self.folder else "cache"

    def _path(self) -> Path | None:
        places = [self.cache] if self.folder is None else [self.folder, self.cache]
        return next((place / FILE for place in places if (place / FILE).is_file()), None)

    def _check(self, path: Path) -> None:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == self.known_file:
                return
        try:
            with ZipFile(path) as archive:
                # The checksum is stored with files whose pixels were checked: the zip file's own
                # checksums then show whether they are still the same.
                if archive.comment == self.pixels.encode() and archive.testzip() is None:
                    return
        except (BadZipFile, OSError, zlib.error) as error:
            raise WrongData(f"{path} must be a zip file; it is not: {error}") from error
        if (found := pixel_checksum(path)) != self.pixels:
            raise WrongData(
                f"{path} must hold the photographs with checksum {self.pixels}; got {found}. "
                "Remove the file, or replace it by the right one."
            )

    def _fetched(self) -> Path:
        path = self.cache / FILE
        try:
            with downloads((self.url,), (), self.cache) as files, replacing(path) as part:
                _repack(files[0], part, self.pixels)
                found = pixel_checksum(part)
                if found != self.pixels:
                    raise WrongData(
                        f"its photographs must have checksum {self.pixels}; got {found}"
                    )
        except (BadZipFile, OSError, ValueError, zlib.error) as error:
            raise MissingData(
                f"The scenes are not here, and could not be fetched from {self.url}: "
                f"{reason(error)}\nSet {FOLDER} to a folder with {FILE}: "
                "members train/Category/image_0001.jpg and test/Category/image_0001.jpg, "
                f"{COUNT} of them. Or try again where the address can be reached."
            ) from error
        return path


def pixel_checksum(path: Path) -> str:
    """Return a checksum of the names, sizes and pixels of all photographs in a zip file."""
    found = hashlib.sha256()
    try:
        scenes = _scenes(path)
        for name, image in zip(scenes.names, scenes.images(), strict=True):
            found.update(f"{name} {image.shape}".encode())
            found.update(image.tobytes())
    except (BadZipFile, OSError, zlib.error) as error:
        raise WrongData(f"{path} must hold photographs; one cannot be read: {error}") from error
    return found.hexdigest()


def _scenes(path: Path) -> Scenes:
    with ZipFile(path) as archive:
        matches = [MEMBER.fullmatch(name) for name in sorted(archive.namelist())]
    found = [match for match in matches if match is not None]
    names = [match.group(1) for match in found]
    return Scenes(
        np.array(names, dtype=str),
        np.array([match.group(2) for match in found], dtype=str),
        np.array([name.startswith("test/") for name in names], dtype=bool),
        path,
    )


def _repack(source: Path, target: Path, comment: str) -> None:
    """Write the photographs of a zip file to another one, without the folders around them."""
    with ZipFile(source) as given, ZipFile(target, "w", ZIP_STORED) as kept:
        for name in sorted(given.namelist()):
            match = MEMBER.fullmatch(name)
            if match is not None:
                kept.writestr(match.group(1), given.read(name))
        kept.comment = comment.encode()


def _decoded(content: bytes) -> NDArray[np.uint8]:
    from PIL import Image  # noqa: PLC0415 - comes with scikit-image, an optional dependency

    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("L"))
