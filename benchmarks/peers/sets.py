"""The data sets: their training and test rows, the same for every library.

A large set keeps its official split if it has one. A small one is split 2:1 at random three times,
stratified, because one small test part says little. Every library gets float32, or CSR of
float32, and classes numbered from 0.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share
import data


@dataclass(frozen=True)
class Source:
    """Where a set is and how it is split.

    Several splits are random. A single split is the official one, unless `random_test_rows` is
    given; `train_rows`, if given, is the size of a random part of the training rows.
    """

    file: str
    splits: int = 1
    train_rows: int | None = None
    random_test_rows: int | None = None


SETS = {  # small ones first
    "vehicle": Source("vehicle", splits=3),
    "vowel": Source("vowel", splits=3),
    "segment": Source("segment", splits=3),
    "dna": Source("dna", splits=3),
    "pendigits": Source("pendigits"),
    "satimage": Source("satimage"),
    "usps": Source("usps"),
    "letter": Source("letter"),
    "leaves100": Source("leaves100", splits=2),
    "reuters": Source("reuters_r52_counts"),
    "covtype": Source("covtype", train_rows=100_000, random_test_rows=100_000),
    "mnist": Source("mnist", train_rows=10_000),
    "isolet": Source("isolet"),
    "news20": Source("news20_bydate_noheader_counts"),
}
QUICK = ("vehicle", "vowel", "segment", "dna", "pendigits")
BUNDLED = ("iris",)  # from scikit-learn: to test the program without any file


class Problem(NamedTuple):
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    classes: int


def splits_of(name: str) -> int:
    return SETS[name].splits if name in SETS else 2


def missing(names: list[str]) -> list[str]:
    """Return the names of sets whose files are missing."""
    files = {name: SETS[name].file for name in names if name not in BUNDLED}
    return [name for name, file in files.items() if not data.path_of(file).is_file()]


def load(name: str, split: int) -> Problem:
    """Return the training and the test part of a split."""
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        train, test = _stratified(y, split)
    else:
        source = SETS[name]
        X, y, official = data.read(source.file)
        train, test = _parts(source, y, official, split)
    if not issparse(X):
        X = X.reshape(len(X), -1)  # images become rows
    classes, y = np.unique(y, return_inverse=True)
    X_train, X_test = X[train].astype(np.float32), X[test].astype(np.float32)
    return Problem(X_train, y[train], X_test, y[test], len(classes))


def made_up(rows: int, features: int, classes: int) -> Problem:
    """Return overlapping clouds, one per class, without test rows."""
    X, y = data.blobs(rows, features, classes)
    return Problem(X, y, X[:0], y[:0], classes)


def _parts(source, y, official, split):
    if source.splits > 1:
        return _stratified(y, split)
    rng = np.random.default_rng(0)
    if source.random_test_rows:
        chosen = rng.permutation(len(y))[: source.train_rows + source.random_test_rows]
        return chosen[: source.train_rows], chosen[source.train_rows :]
    train, test = np.flatnonzero(~official), np.flatnonzero(official)
    if source.train_rows:
        train = np.sort(rng.permutation(train)[: source.train_rows])
    return train, test


def _stratified(y, seed):
    return train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
