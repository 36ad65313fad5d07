"""The error on labelled rows after some of the rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.threads import effective_threads

__all__ = ["staged_errors"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def staged_errors(
    model: Any, X: Any, y: Integers, n_stages: int = 60
) -> tuple[Integers, Floats] | None:
    """Compute the error of a model's first rounds, for some numbers of rounds.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array or sparse matrix
        Rows as numbers, as `Encoding.apply` takes them.
    y : int64 array of n
        Their class numbers.
    n_stages : int
        The most numbers of rounds, evenly spread; the last is all rounds.

    Returns
    -------
    rounds : int64 array
        Numbers of rounds.
    errors : float64 array
        Share of the rows that are predicted wrongly after so many.
        None where the coefficients of earlier rounds change later, as for MultiBoost.
    """
    ensemble = model.ensemble_
    if hasattr(model, "keep_path") or not ensemble.n_rounds:
        return None
    n_rounds = ensemble.n_rounds
    stages = np.unique(np.linspace(1, n_rounds, min(n_rounds, n_stages)).astype(np.int64))
    ordered = model.encoding_.apply(X)
    wanted, errors = set(stages.tolist()), []
    staged = ensemble.staged(ordered, n_threads=effective_threads(model.n_jobs))
    for number, scores in enumerate(staged, start=1):
        if number in wanted:
            errors.append(float((model._decide(scores) != y).mean()))
    return stages, np.array(errors)
