"""Which home a fit's rows have, by where X lies and what the user asks for."""

from __future__ import annotations

from typing import Any

from marginboost.estimators.home import Home, Host

__all__ = ["find_home"]


def find_home(X: Any, *, device: str, engine: str, n_jobs: int | None) -> Home:
    """Choose where to fit.

    Parameters
    ----------
    X : array, data frame or collection
        What `fit` was given.
    device : {"cpu", "cuda"}
        What the user asks for.
    engine : str
        One of `marginboost.engine.ENGINES`.
    n_jobs : int or None
        As in scikit-learn.
    """
    return Host(engine, n_jobs)
