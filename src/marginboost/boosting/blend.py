"""The shares of several fits in one model, of least log loss on rows that none of them saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from marginboost import _native
from marginboost.boosting.calibration import Floats, best_step, doubt_of, log_losses, scale_of

__all__ = ["blend_shares", "scaled_shares"]

# Shares are multiples of one over this, so that the last bit of a sum can't show in the model.
PARTS = 16
# A fit with a smaller share is not worth the time that its trees take.
LEAST_SHARE = 2 / PARTS


def scaled_shares(
    logs: Sequence[Floats],
    weight: Floats,
    n_rows: float,
    *,
    most: int | None = None,
    rounded: Callable[[Floats], Floats] = np.asarray,
) -> tuple[Floats, Floats]:
    """Scale each fit for itself, then find the shares of least log loss.

    Parameters
    ----------
    logs : sequence of float64 arrays of rows x classes
        F[i, r] - F[i, y_i] of each fit.
    weight : float64 array
        Weight of each row.
    n_rows : float
        About how many rows there are.
    most : int, optional
        Only so many fits get a share, those of least loss.
    rounded : callable, optional
        Rounds the scales before shares are sought.

    Returns
    -------
    shares, scales : float64 array, one entry per fit
        The scale of a fit that gets no company is 1.
    """
    if len(logs) == 1:
        return np.ones(1), np.ones(1)
    scales = rounded(np.array([scale_of(best_step(one, weight, n_rows)) for one in logs]))
    scaled = [one * scale for one, scale in zip(logs, scales, strict=True)]
    best = np.arange(len(logs))
    if most is not None and len(logs) > most:
        losses = [float((weight * log_losses(one)).sum()) for one in scaled]
        best = np.argsort(losses, kind="stable")[:most]
    shares = np.zeros(len(logs))
    shares[best] = blend_shares([scaled[fit] for fit in best.tolist()], weight, n_rows)
    return shares, scales if np.count_nonzero(shares) > 1 else np.ones(len(logs))


def blend_shares(logs: Sequence[Floats], weight: Floats, n_rows: float) -> Floats:
    """Find the shares of least log loss; a small one becomes zero.

    Parameters
    ----------
    logs : sequence of float64 arrays of rows x classes
        F[i, r] - F[i, y_i] of each fit, scaled so that softmax(F) are its probabilities.
    weight : float64 array
        Weight of each row.
    n_rows : float
        About how many rows there are: the fewer, the more doubt, as in calibration.

    Returns
    -------
    float64 array
        Shares that add up to 1.
    """
    shares = np.zeros(len(logs))
    left = np.arange(len(logs))
    while len(left) > 1:
        found = _least([logs[int(i)] for i in left], weight / weight.sum(), n_rows)
        keep = found >= LEAST_SHARE
        if keep.all():
            shares[left] = _rounded(found)
            return shares
        left = left[keep]
    shares[left] = 1.0
    return shares


def _least(logs: Sequence[Floats], weight: Floats, n_rows: float) -> Floats:
    """Minimise the log loss of the sum, whose terms have any factors above zero."""
    stacked = np.stack(logs)
    doubts = np.array([doubt_of(one, weight, n_rows) for one in logs])

    def loss(factors: Floats) -> tuple[float, Floats]:
        scores = np.tensordot(factors, stacked, 1)
        top = scores.max(axis=1)
        e = _native.exp(np.ascontiguousarray(scores - top[:, None])).reshape(scores.shape)
        total = e.sum(axis=1)
        value = float((weight * (top + _native.log(total))).sum()) + float(doubts @ factors)
        slopes = ((stacked * e[None]).sum(axis=2) / total * weight).sum(axis=1) + doubts
        return value, slopes

    start = np.full(len(logs), 1.0 / len(logs))
    # To wake threads for so few numbers takes several times as long as to add them up.
    with _thread_pools().limit(limits=1, user_api="blas"):
        found = minimize(loss, start, jac=True, bounds=[(0.0, None)] * len(logs), method="L-BFGS-B")
    total = found.x.sum()
    if not total > 0.0:  # no fit is better than none: any will do
        only: Floats = np.eye(len(logs))[0]
        return only
    shares: Floats = found.x / total
    return shares


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def _rounded(shares: Floats) -> Floats:
    """Round to multiples of 1 / PARTS that add up to 1, the largest remainders up."""
    exact = shares * PARTS
    whole = np.floor(exact)
    short = int(PARTS - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1.0
    rounded: Floats = whole / PARTS
    return rounded
