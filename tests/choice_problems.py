"""Made-up rows on which fits decide, and the names of the candidates."""

import numpy as np
from sklearn.datasets import make_classification

NAMES = {"margin", "large", "small", "linear"}


def problem(n=240, *, noise=0.3, n_classes=3, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=noise, random_state=seed
    )
    return X.astype(np.float32), y


def rare_problem(n, *, seed=0):
    """Return rows of which one in thirty is of class 1, and the probability of that."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    share = 1.0 / (1.0 + np.exp(4.2 - X[:, 0] - X[:, 1] * X[:, 2]))
    return X, (rng.random(n) < share).astype(int), share
