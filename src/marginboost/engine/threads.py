"""The number of threads of a fit."""

from __future__ import annotations

import os
import threading

import joblib

from marginboost import _native


def effective_threads(n_jobs: int | None) -> int:
    """Turn `n_jobs` into a number of threads.

    A positive `n_jobs` is taken as it is. None and -1 stand for every CPU this process may use: what
    its affinity and its container's quota allow, and at most `OMP_NUM_THREADS`. Inside a
    worker process of joblib that number, which joblib sets there so that nested work does not pile
    up, or 1 where it sets none; inside a joblib thread that is one of several, 1. Other negative
    numbers count back from there, as in joblib.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn.

    Returns
    -------
    int
        At least 1.
    """
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, _native.MAX_THREADS)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    allowed = int(limit) if limit.isdigit() and int(limit) > 0 else None
    backend, _ = joblib.parallel.get_active_backend()
    if not backend.nesting_level:
        most = min(joblib.cpu_count(), allowed or _native.MAX_THREADS)
    elif threading.current_thread() is threading.main_thread():
        most = allowed or 1
    else:
        most = 1
    back = 0 if n_jobs is None else n_jobs + 1
    return int(min(max(1, most + back), _native.MAX_THREADS))
