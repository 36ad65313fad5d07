"""Made-up rows on which fits decide, and the names of the candidates."""

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

NAMES = {"margin", "rules", "large", "small", "linear"}


def problem(n=240, *, noise=0.3, n_classes=3, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=noise, random_state=seed
    )
    return X.astype(np.float32), y


def rule_problem(n=1_000, *, n_columns=9, n_rules=8, noise=0.0, seed=0):
    """Return text in few values, and whether a row satisfies one of some rules on three columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, n_columns))
    y = np.zeros(n, dtype=int)
    for _ in range(n_rules):
        columns, values = rng.choice(n_columns, 3, replace=False), rng.integers(3, size=3)
        y[(X[:, columns] == values).all(axis=1)] = 1
    y = np.where(rng.random(n) < noise, rng.integers(2, size=n), y)
    return pd.DataFrame(X).add_prefix("c").astype(str).replace(
        dict(zip("012", "xyz", strict=True))
    ), y


def rare_problem(n, *, seed=0):
    """Return rows of which one in thirty is of class 1, and the probability of that."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    share = 1.0 / (1.0 + np.exp(4.2 - X[:, 0] - X[:, 1] * X[:, 2]))
    return X, (rng.random(n) < share).astype(int), share
