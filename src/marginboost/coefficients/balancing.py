"""Matrix balancing: the coefficients for the exponential loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.coefficients.base import TOLERANCE, Solution

MAX_SWEEPS = 1000


def balance(
    sums: NDArray[np.float64],
    *,
    constant: float = 0.0,
    nu: float = 0.0,
    floor: float = 0.0,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Minimise the exponential loss of one round over its k coefficients.

    With B = sums[1] + sums[0].T the loss is `constant + sum of B[a, b] * exp(w_b - w_a)` over a != b,
    and the objective is `log(loss) + nu * sum(w)` over w >= 0. Its minimiser is the diagonal
    scaling that makes B's row sums equal its column sums. Osborne's iteration sets one coordinate
    after the other to its minimiser, in closed form.

    Parameters
    ----------
    sums : (2, k, k) array
        Weights summed by side of the weak classifier, class of the row, and class.
    constant : float
        The part of the loss that no coefficient changes: the pairs of a row with its own class.
    nu : float
        The l1 penalty.
    floor : float
        Smaller entries of B are replaced by this value, the unit of the sums. So a class that the weak
        classifier separates perfectly gets a large coefficient instead of an infinite one.
    tolerance : float
        Stop at this optimality error.

    Returns
    -------
    Solution
        The coefficients; the optimality error is the largest KKT residual divided by the share of
        the loss that is not constant.
    """
    w, error, _, sweeps = _native.balance(sums, constant, nu, floor, tolerance, MAX_SWEEPS)
    return Solution(w, error, sweeps)
