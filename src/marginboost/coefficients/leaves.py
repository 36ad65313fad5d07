"""The coefficients of a tree's leaves, in closed form.

If only one class moves, the exponential loss of a leaf is ``P exp(-w) + N exp(w)`` in the coefficient of
that class, where P sums the weights of its own rows, and N the weights of the other rows for this class.
The minimum is at ``w = log(P / N) / 2``. For the other losses this is the minimum of an upper bound
(u(x - 1) bounds the loss from above), so the step is safe; they allow a step twice as long.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

Floats = NDArray[np.float64]

# Upper bound of all coefficients, so that a float can hold the range of the weights in one leaf.
MOST_STEP = 10.0
# A weight that was rounded to zero may be up to half a unit. The sum of such weights, after a step, must
# stay small compared with 2**30 units: otherwise each step would need a coarser unit.
_MOST_GROWTH = 2.0**28


def most_step(n_rows: int, eta: float) -> float:
    """Return the bound for coefficients that will be multiplied by `eta`."""
    return min(MOST_STEP, 0.5 * math.log(max(_MOST_GROWTH / n_rows, math.e)) / eta)


def leaf_vectors(
    own: Floats, against: Floats, pseudo_count: float, factor: float, most: float = MOST_STEP
) -> Floats:
    """Return ``factor * log((own + pseudo_count) / (against + pseudo_count))``, bounded.

    Parameters
    ----------
    own, against : arrays of the same shape
        Sums of weights, not negative.
    pseudo_count : float
        Above 0; the larger it is, the shorter the steps of leaves with little weight.
    factor : float
        1/2 for the exponential loss.
    most : float
        The bound on the absolute value.
    """
    return _native.leaf_vectors(own, against, pseudo_count, factor, most)
