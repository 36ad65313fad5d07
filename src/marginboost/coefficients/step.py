"""What a step of given coefficients does to the weights.

Here and in the solvers all exponentials and logarithms are taken, once, by the C library, for every
engine: NumPy's differ in their last bits between CPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

Floats = NDArray[np.float64]


def step_factors(w: Floats) -> tuple[Floats, Floats]:
    """Return what e is multiplied by: `up[side, r] * down[side, y]`, exp(h (w_r - w_y))."""
    return _native.step_factors(w)


def mass_after(logistic: bool, *reach: Any) -> tuple[float, float]:
    """Bound the weights' sums after a step, from sums at one or two points.

    Parameters
    ----------
    logistic : bool
        Which of the two losses.
    *reach : five arrays, or ten
        For each point: sums and curvatures (None if exponential) there, the factors up and down from
        there, and by how much the sums of a class may be off.

    Returns
    -------
    of_class, total : float
        Bounds on the largest sum of |g| of a class, and on the sum of all weights.
    """
    return _native.mass_after(logistic, *reach)


def exp_of(x: Floats) -> Floats:
    """Take exponentials."""
    e: Floats = _native.exp(np.ascontiguousarray(x)).reshape(x.shape)
    return e
