"""Rows, their folds, and the files that results are written to."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.unfamiliar.catalogue import read
from benchmarks.unfamiliar.problems import problem

FOLDS, SEED = 3, 0
RESULTS = Path(__file__).with_name("results")


class Fold(NamedTuple):
    """Rows to learn from, and rows to decide on; classes are numbered from 0, the lowest first."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def load(name: str, most: int, order: list | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Return at most so many rows of a set; `order` names its classes, the lowest first."""
    X, y = read(name)
    if order is not None:
        here = y.notna().to_numpy()
        X, y = X[here], y[here].map({label: place for place, label in enumerate(order)})
    found = problem(X, y)
    X, y = found.X, found.y
    if len(y) > most:
        kept, _ = train_test_split(
            np.arange(len(y)), train_size=most, stratify=y, random_state=SEED
        )
        X, y = X.iloc[np.sort(kept)].reset_index(drop=True), y[np.sort(kept)]
        y = np.unique(y, return_inverse=True)[1]
    return X, y


def folds(X: pd.DataFrame, y: np.ndarray) -> Iterator[Fold]:
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    for train, test in split.split(X, y):
        yield Fold(X.iloc[train], y[train], X.iloc[test], y[test])


def commit() -> str:
    command = ["git", "rev-parse", "HEAD"]
    found = subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def write(name: str, head: dict, sets: dict) -> None:
    """Write results, one line per set."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(sets[key])}" for key in sets)
    text = f'{{"head": {json.dumps({"commit": commit()} | head)},\n "sets": {{\n{lines}\n}}}}\n'
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(text)


def geometric_mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))
