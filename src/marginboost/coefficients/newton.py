"""Newton's method: the coefficients for the logistic loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.coefficients.base import TOLERANCE, Solution

Floats = NDArray[np.float64]
MAX_STEPS = 100


def newton(
    sums_at: Callable[[Floats], tuple[Floats, Floats]],
    k: int,
    *,
    nu: float,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Minimise the logistic loss of one round, plus nu * sum(w), over w >= 0.

    Each step needs one pass over the rows, for k x k sums of weights and of curvatures at w. The rows
    of each cell of these tables are then modelled by equal rows with the same two sums, and the model,
    a logistic loss of 2 k^2 terms, is minimised by projected Newton. Its slope and curvature at w are
    those of the loss, so the steps converge like Newton's, and from farther away.

    Parameters
    ----------
    sums_at : callable
        Returns two (2, k, k) arrays, the sums of weights and of curvatures at a trial w, by side,
        class of the row, and class. The first call is with zeros.
    k : int
        Number of classes.
    nu : float
        The l1 penalty.
    tolerance : float
        Stop at this optimality error.

    Returns
    -------
    Solution
        The coefficients; the optimality error is the largest KKT residual divided by the sum of all
        weights.
    """
    w = np.zeros(k)
    best = Solution(w, np.inf, 0)
    for step in range(1, MAX_STEPS + 1):
        first, second = sums_at(w)
        moved, error, _, _ = _native.newton_step(first, second, w, nu, tolerance)
        if error < best.optimality_error:
            best = Solution(w, error, step)
        if error <= tolerance:
            break
        w = moved
    return best
