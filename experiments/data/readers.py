"""Readers of the files of public sources: each returns the rows of one source."""

from __future__ import annotations

import gzip
import math
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from experiments.data.rows import Rows, stacked

Reader = Callable[[Sequence[Path]], Rows]


@dataclass(frozen=True)
class Pieces:
    """Several files of the same form.

    Parameters
    ----------
    read : callable
        Reads the rows of a file.
    test : sequence of bool
        Which of the files are the official test part; empty if the files do not say.
    part : sequence of int
        The group of each file's rows; empty if there are none.
    """

    read: Callable[[Path], Rows]
    test: Sequence[bool] = ()
    part: Sequence[int] = ()

    def __call__(self, paths: Sequence[Path]) -> Rows:
        """Return the rows of all files."""
        pieces = []
        for number, path in enumerate(paths):
            rows = self.read(path)
            if self.test:
                rows = rows._replace(test=np.full(len(rows.y), self.test[number]))
            if self.part:
                rows = rows._replace(part=np.full(len(rows.y), self.part[number]))
            pieces.append(rows)
        return stacked(pieces)


@dataclass(frozen=True)
class Delimited:
    """Text with one row per line.

    Parameters
    ----------
    separator : str or None
        What separates fields; None for white space.
    features : tuple of int, and int or None
        The first field that is a feature, and the one after the last, as in a slice.
    label : int
        The field that is the label.
    test : int or None
        The field that is 1 in rows of the official test part.
    skip : int
        Lines before the first row.
    train_rows : int or None
        How many rows at the beginning are the official training part.
    labels : mapping of str to str
        Names of labels that have other names in the file.
    """

    separator: str | None
    features: tuple[int, int | None] = (0, -1)
    label: int = -1
    test: int | None = None
    skip: int = 0
    train_rows: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, path: Path) -> Rows:
        """Return the rows of a file."""
        lines = _opened(path).decode("utf-8").splitlines()[self.skip :]
        table = [_fields(line, self.separator) for line in lines if line.strip()]
        chosen = slice(*self.features)
        X = np.array([[float(value) for value in fields[chosen]] for fields in table])
        y = np.array([self.labels.get(fields[self.label], fields[self.label]) for fields in table])
        test = None
        if self.test is not None:
            test = np.array([fields[self.test] == "1" for fields in table])
        if self.train_rows is not None:
            test = np.arange(len(y)) >= self.train_rows
        return Rows(X, y, test)


@dataclass(frozen=True)
class Libsvm:
    """LIBSVM's text: a label, and features as number:value, counted from 1.

    Parameters
    ----------
    features : int
        How many features there are; the last ones may be 0 in every row of a file.
    labels : mapping of int to str
        Names of labels that are numbers in the file.
    """

    features: int
    labels: Mapping[int, str] = field(default_factory=dict)

    def __call__(self, path: Path) -> Rows:
        """Return the rows of a file."""
        X, y = load_svmlight_file(str(path), n_features=self.features, zero_based=False)
        if self.labels:
            y = np.array([self.labels[int(label)] for label in y])
        return Rows(X.toarray(), y)


def read_idx_pairs(paths: Sequence[Path]) -> Rows:
    """Return the images of IDX files: images and labels to train on, then those to test on."""
    pieces = []
    for images, labels, test in ((paths[0], paths[1], False), (paths[2], paths[3], True)):
        y = read_idx(labels)
        pieces.append(Rows(read_idx(images), y, np.full(len(y), test)))
    return stacked(pieces)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array in an IDX file of bytes, as MNIST is published."""
    content = _opened(path)
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"An IDX file of bytes must begin with 00 00 08; got {content[:3].hex()}.")
    dimensions = content[3]
    shape = np.frombuffer(content, ">u4", dimensions, offset=4).tolist()
    begin = 4 + 4 * dimensions
    if len(content) - begin != math.prod(shape):
        raise ValueError(
            f"An IDX file of shape {shape} must have {math.prod(shape)} values; "
            f"got {len(content) - begin}."
        )
    return np.frombuffer(content, np.uint8, offset=begin).reshape(shape)


def read_mat(path: Path) -> Rows:
    """Return the rows of a MATLAB file with the features `fea` and the labels `gnd`."""
    file = loadmat(path)
    return Rows(file["fea"], file["gnd"].ravel())


def read_views(path: Path) -> Rows:
    """Return the rows of a MATLAB file with one cell array of views, and one array of labels."""
    arrays = [value for key, value in loadmat(path).items() if not key.startswith("__")]
    cells = [array for array in arrays if array.dtype == object]
    labels = [array for array in arrays if array.dtype != object and array.size == max(array.shape)]
    if len(cells) != 1 or len(labels) != 1:
        raise ValueError(
            f"The file must have one cell array and one column of labels; "
            f"got {len(cells)} and {len(labels)}."
        )
    return Rows(np.hstack(list(cells[0].ravel())), labels[0].ravel())


def read_newsgroups(paths: Sequence[Path]) -> Rows:
    """Return word counts of the archive 20news-bydate.

    Words have two or more of the letters a to z, are not English stop words, and occur in three or
    more training articles. The header of an article, down to its first empty line, is left out: it
    would reveal the group.
    """
    articles = []
    with tarfile.open(paths[0]) as archive:
        for member in archive:
            place = member.name.split("/")  # such as 20news-bydate-test, sci.med, 59319
            file = archive.extractfile(member) if len(place) == 3 else None
            if file is None:
                continue
            body = file.read().replace(b"\r\n", b"\n").partition(b"\n\n")[2]
            is_test = place[0].endswith("-test")
            articles.append((is_test, place[1], int(place[2]), body.decode("latin-1")))
    articles.sort()
    test = np.array([article[0] for article in articles])
    groups = np.array([article[1] for article in articles])
    return Rows(_counts([article[3] for article in articles], test), groups, test)


def _counts(texts: list[str], test: NDArray[np.bool_]) -> Any:
    words = CountVectorizer(stop_words="english", token_pattern=r"\b[a-z]{2,}\b", min_df=3)
    words.fit(text for text, is_test in zip(texts, test, strict=True) if not is_test)
    return words.transform(texts)


def _opened(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def _fields(line: str, separator: str | None) -> list[str]:
    return [part.strip().strip('"') for part in line.split(separator)]
