"""Sets on which rules of the defaults may be judged.

They are study sets; training parts of the fourteen sets (all rows of segment, which has none; no rule
changes its model); frames of R in which persons, households or schools have several rows; and made-up
rows. A set "NAME=CLASS" has two classes: that one, which is rare, and all others. "NAME*" has all rows of
a set, where others have 15,000 at most. In "NAME~K" each learned row has an integer weight of 1 to K,
drawn at random, which means nothing; in "NAME~bag" the number of times that it is in a sample with
replacement. Of "NAME:ROWS" so many rows are drawn. In "made:ROWS:COLUMNS:INFORMATIVE:WRONG" scikit-learn
makes four classes of which so many columns tell, the others being noise, and so many percent of the
labels are wrong. In "rules:ROWS:COLUMNS:VALUES:RULES:WRONG" so many rules of three columns tell.
"""

from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from benchmarks import data
from benchmarks.unfamiliar import catalogue, problems
from benchmarks.unfamiliar.fresh import Frame

TEXTS = ("news20_bydate_noheader_counts", "reuters_r52_counts", "clinc150_bow")
# None of these is a fresh set.
PANELS = {
    "tuna": Frame("Ecdat/Tuna", "Tuna.choice", (), ("Tuna.hid",)),
    "ketchup": Frame("Ecdat/Ketchup", "Ketchup.choice", (), ("Ketchup.hid",)),
    "train": Frame("Ecdat/Train", "choice", (), ("id",)),
    "males": Frame("Ecdat/Males", "occupation", (), ("nr",)),
    "teaching": Frame("lme4/InstEval", "y", (), ("s", "d", "dept")),
    "chemistry": Frame("mlmRev/Chem97", "score", ("student",), ("school", "lea")),
    "scotland": Frame("mlmRev/ScotsSec", "attain", (), ("primary", "second")),
    "abortion": Frame("mlmRev/Socatt", "numpos", (), ("respond", "district")),
    "immunization": Frame("mlmRev/guImmun", "immun", ("kid",), ("mom", "comm")),
    "prenatal": Frame("mlmRev/guPrenat", "prenat", ("kid",), ("mom", "cluster")),
    "contraception": Frame("mlmRev/Contraception", "use", ("woman",), ("district",)),
    "muscatine": Frame("geepack/muscatine", "obese", ("numobese",), ("id",)),
    "soup": Frame("ordinal/soup", "SURENESS", (), ("RESP",)),
}


def load(name: str) -> problems.Problem:
    """Return the rows of a set; of the fourteen, those of the training part, where there is one."""
    name, _, rare = name.partition("~")[0].partition("=")
    if name.endswith("*"):
        with mock.patch.object(problems, "MOST_ROWS", np.inf):
            return problems.problem(*catalogue.read(name.removesuffix("*")))
    kind, *numbers = name.split(":")
    if kind in MAKERS:
        return MAKERS[kind](*map(int, numbers))
    name, _, n_rows = name.partition(":")
    if name in (*catalogue.FOURTEEN, *TEXTS):
        X, y = training_part(name, int(n_rows or 0))
        if issparse(X):
            return sparse_problem(X, y)
        return problems.problem(pd.DataFrame(X.astype(np.float32)), pd.Series(y))
    X, y = PANELS[name].read() if name in PANELS else catalogue.read(name)
    return problems.problem(X, (y.astype(str) == rare).astype(int) if rare else y)


def made(n_rows: int, n_columns: int, n_informative: int, percent_wrong: int) -> problems.Problem:
    """Make rows of which few columns tell the class."""
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=n_informative,
        n_redundant=0,
        n_classes=4,
        flip_y=percent_wrong / 100,
        class_sep=1.0 if percent_wrong else 2.0,
        random_state=0,
    )
    return problems.problem(pd.DataFrame(X.astype(np.float32)), pd.Series(y))


def made_by_rules(
    n_rows: int, n_columns: int, n_values: int, n_rules: int, percent_wrong: int
) -> problems.Problem:
    """Make rows whose class is that of the last rule they satisfy, each on three columns."""
    rng = np.random.default_rng(0)
    X = rng.integers(n_values, size=(n_rows, n_columns))
    y = np.zeros(n_rows, dtype=np.int64)
    for rule in range(n_rules):
        columns, values = rng.choice(n_columns, 3, replace=False), rng.integers(n_values, size=3)
        y[(X[:, columns] == values).all(axis=1)] = 1 + rule % 3
    wrong = rng.random(n_rows) < percent_wrong / 100
    y[wrong] = rng.integers(4, size=wrong.sum())
    return problems.problem(pd.DataFrame(X).astype(str), pd.Series(y))


MAKERS = {"made": made, "rules": made_by_rules}


def training_part(name: str, n_rows: int) -> tuple[Any, np.ndarray]:
    """Return the training part of a set, or so many rows drawn from it."""
    if name == "clinc150_bow":
        with np.load(data.path_of(f"study/{name}")) as file:
            learned = file["split"] == 0
            return csr_matrix(file["X"][learned], dtype=np.float32), file["y"][learned]
    X, y, test = data.read(name)
    kept = np.arange(len(y)) if test is None else np.flatnonzero(~test)
    if 0 < n_rows < len(kept):
        labels, counts = np.unique(y[kept], return_counts=True)
        kept = kept[np.isin(y[kept], labels[counts > 1])]  # a single row cannot be drawn evenly
        kept, _ = train_test_split(kept, train_size=n_rows, stratify=y[kept], random_state=0)
    return X[kept] if issparse(X) else X[kept].reshape(len(kept), -1), y[kept]


def sparse_problem(X: csr_matrix, y: np.ndarray) -> problems.Problem:
    """Return the rows of classes that are not rare, with the folds that dense rows would have."""
    places = pd.DataFrame({"row": np.arange(len(y))})
    dense = problems.problem(places, pd.Series(y))
    kept = dense.X["x0"].to_numpy().astype(np.int64)
    return problems.Problem(X[kept].astype(np.float32), dense.y, dense.fold)


def weights(name: str, n_rows: int) -> np.ndarray | None:
    """Return the weights that the name of a set asks for."""
    _, _, most = name.partition("~")
    if not most:
        return None
    if most == "bag":
        drawn = np.random.default_rng(0).integers(n_rows, size=n_rows)
        return np.bincount(drawn, minlength=n_rows)
    return np.random.default_rng(0).integers(1, int(most), n_rows, endpoint=True)
