"""How many threads a fit may use."""

from __future__ import annotations

import os

import joblib

from marginboost import _native


def effective_threads(n_jobs: int | None) -> int:
    """Turn `n_jobs` into a number of threads.

    A positive `n_jobs` is taken as it is. None and -1 stand for every CPU this process may use: what
    its affinity and its container's quota allow, no more than `OMP_NUM_THREADS` says (which joblib
    sets in its workers, so that nested parallel work does not pile up), and 1 inside a joblib thread
    that is itself one of several. Other negative numbers count back from there, as in joblib.

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
    backend, _ = joblib.parallel.get_active_backend()
    most = 1 if backend.nesting_level else joblib.cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit() and int(limit) > 0:
        most = int(limit) if backend.nesting_level else min(most, int(limit))
    back = 0 if n_jobs is None else n_jobs + 1
    return int(min(max(1, most + back), _native.MAX_THREADS))
