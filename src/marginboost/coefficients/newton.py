"""Newton's method: the logistic loss's coefficients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.coefficients.balancing import balance
from marginboost.coefficients.base import TOLERANCE, Solution

Floats = NDArray[np.float64]
MAX_STEPS = 100


def newton(
    sums: Floats,
    sums_at: Callable[[Floats], tuple[Floats, Floats]],
    *,
    nu: float,
    floor: float,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Minimise the logistic loss of one round, plus nu * sum(w), over w >= 0.

    The start is the balanced solution of the exponential problem with the same weights, a majoriser
    of the logistic loss: it never increases the loss, and is finite on separable data. From there,
    projected Newton steps; each needs one pass over the rows, for k x k sums of weights and of
    curvatures.

    Parameters
    ----------
    sums : (2, k, k) array
        Weights summed by side, class of the row, and class, at w = 0.
    sums_at : callable
        Returns the sums of weights and of curvatures at a trial w.
    nu : float
        The l1 penalty.
    floor : float
        The unit of the sums; see `balance`.
    tolerance : float
        Stop at this optimality error.

    Returns
    -------
    Solution
        The coefficients; the optimality error is the largest KKT residual divided by the sum of all
        weights.
    """
    # nu / sum(weights): the majoriser is linear in the weights where `balance` takes a logarithm.
    w = balance(sums, nu=nu / float(sums.sum()), floor=floor, tolerance=1e-3).w
    best = Solution(w, np.inf, 0)
    for step in range(1, MAX_STEPS + 1):
        first, second = sums_at(w)
        moved, error, _, _ = _native.newton_step(first, second, w, nu)
        if error < best.optimality_error:
            best = Solution(w, error, step)
        if error <= tolerance:
            break
        w = moved
    return best
