"""What the tests of sums over parts share."""

import numpy as np
from scipy import sparse
from support import noisy_problem, training_set

from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
    ReferenceTreeEngine,
)
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import LOSSES


def equal(answers):
    """Return what all engines say."""
    for answer in answers[1:]:
        np.testing.assert_equal(answer, answers[0])
    return answers[0]


ENGINES = [ReferenceStumpEngine, NativeStumpEngine, lambda: NativeStumpEngine(3, 50)]
VECTOR_ENGINES = [ReferenceTreeEngine, NativeTreeEngine, lambda: NativeTreeEngine(3)]


def problem(k, kind, *, n_rows=160, seed=0):
    """Make rows of any kind, among them a feature of two bins and one of a single bin."""
    rng = np.random.default_rng(seed)
    n_rows = 300 if kind == "wide" else n_rows
    X, y = noisy_problem(n_rows, 6, k, n_values=None if kind == "wide" else 15, seed=seed)
    X[:, 2] = 1.0
    X[:, 4] = X[:, 4] > np.median(X[:, 4])
    if kind in ("rare", "sparse"):
        X[rng.random(X.shape) < 0.93] = 0.0
    weight = {
        "weights": rng.uniform(0.1, 3, n_rows), "multiplicities": rng.integers(1, 6, n_rows),
    }.get(kind)  # fmt: skip
    return training_set(sparse.csr_array(X) if kind == "sparse" else X, y, weight=weight)


def searched(data, engines, code=None):
    """Load the rows and form a direction that is not the same for all of them."""
    rng = np.random.default_rng(1)
    k = data.n_classes
    for engine in engines:
        engine.load(data, Weighting(LOSSES["exponential"], code))
    tables = np.exp(rng.normal(size=(2, 2, k, k if code is None else code.shape[1])))
    for table, exponent in zip(tables, (10, 10), strict=True):
        if code is None:
            arguments = ("advance", table[:, 0], 1 / table[:, 0])
        else:
            arguments = ("advance_table", table)
        equal([getattr(engine, arguments[0])(*arguments[1:], exponent) for engine in engines])
        for engine in engines:
            engine.place_stump(1, 3, True)
