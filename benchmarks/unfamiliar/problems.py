"""Problems: the rows of a set as every library gets them, and their folds."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.unfamiliar import catalogue

LEAST_ROWS_PER_CLASS = 8
MOST_ROWS = 15_000
MANY_ROWS = 3_000
FEW_FOLDS, FOLDS = 3, 5
SEED = 0


@dataclass(frozen=True)
class Problem:
    """Columns are numbers or of type "category"; classes are numbered from 0."""

    X: pd.DataFrame
    y: np.ndarray
    fold: np.ndarray  # for each row, the fold in which it is tested

    @property
    def folds(self) -> int:
        return int(self.fold.max()) + 1

    @property
    def categorical(self) -> list[str]:
        return [c for c in self.X if isinstance(self.X[c].dtype, pd.CategoricalDtype)]

    def digest(self) -> str:
        """Return an identifier of the data and the folds."""
        total = sha256(self.y.astype(np.int64).tobytes() + self.fold.astype(np.int64).tobytes())
        for column in self.X:
            values = self.X[column]
            if isinstance(values.dtype, pd.CategoricalDtype):
                total.update("\0".join(values.astype(object).fillna("").astype(str)).encode())
            else:
                total.update(values.to_numpy(np.float64).tobytes())
        return total.hexdigest()[:16]

    def shape(self) -> dict:
        return {
            "rows": len(self.y),
            "columns": self.X.shape[1],
            "categorical": len(self.categorical),
            "classes": int(self.y.max()) + 1,
        }


@lru_cache(maxsize=1)
def load(name: str) -> Problem:
    return problem(*catalogue.read(name))


def problem(X: pd.DataFrame, y: pd.Series) -> Problem:
    """Return the rows that count, at most so many, with their folds."""
    here = y.notna().to_numpy()
    X, y = _typed(X[here].reset_index(drop=True)), y[here].reset_index(drop=True)
    X, y = _without_rare(X, y)
    if len(y) > MOST_ROWS:
        kept, _ = train_test_split(
            np.arange(len(y)), train_size=MOST_ROWS, stratify=y, random_state=SEED
        )
        kept = np.sort(kept)
        X, y = _without_rare(X.iloc[kept].reset_index(drop=True), y.iloc[kept])
    numbers = np.unique(y.to_numpy(), return_inverse=True)[1]
    if numbers.max() < 1:
        raise ValueError("A set must have two classes; found one.")
    return Problem(X, numbers, _folds(numbers))


def _typed(X):
    """Return the columns under plain names; text becomes a category, and anything else a number."""
    columns = {}
    for j, name in enumerate(X):
        values = X[name]
        if not pd.api.types.is_numeric_dtype(values):
            columns[f"x{j}"] = values.astype(object).map(str, na_action="ignore").astype("category")
        elif values.dtype == np.float32:
            columns[f"x{j}"] = values
        else:
            columns[f"x{j}"] = values.astype(np.float64)
    return pd.DataFrame(columns)


def _without_rare(X, y):
    counts = y.value_counts()
    common = y.isin(counts.index[counts >= LEAST_ROWS_PER_CLASS]).to_numpy()
    return X[common].reset_index(drop=True), y[common].reset_index(drop=True)


def _folds(y):
    count = FEW_FOLDS if len(y) >= MANY_ROWS else FOLDS
    fold = np.empty(len(y), dtype=np.int64)
    split = StratifiedKFold(count, shuffle=True, random_state=SEED)
    for j, (_, test) in enumerate(split.split(np.zeros(len(y)), y)):
        fold[test] = j
    return fold
