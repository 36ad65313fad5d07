"""The effect of a step on the weights.

All exponentials and logarithms are computed here and in the solvers, once, by the C library, for every
engine: NumPy's differ in their last bits between CPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

Floats = NDArray[np.float64]


def step_factors(w: Floats) -> tuple[Floats, Floats]:
    """Return the factors of e: it is multiplied by `up[side, r] * down[side, y]`, exp(h (w_r - w_y))."""
    return _native.step_factors(w)


def mass_after(logistic: bool, *reach: Any) -> tuple[float, float]:
    """Bound the sums of the weights after a step, from sums at one or two points.

    Parameters
    ----------
    logistic : bool
        Whether the loss is logistic or exponential.
    *reach : five arrays, or ten
        For each point: sums and curvatures (None if exponential) there, the factors up and down from
        there, and the largest possible error of the sums per class.

    Returns
    -------
    of_class, total : float
        Bounds on the largest sum of |g| per class, and on the sum of all weights.
    """
    return _native.mass_after(logistic, *reach)


def exp_of(x: Floats) -> Floats:
    """Compute exponentials."""
    e: Floats = _native.exp(np.ascontiguousarray(x)).reshape(x.shape)
    return e
