"""The coefficients of a tree's leaves, in closed form.

With one class moved at a time, the exponential loss of a leaf is ``P exp(-w) + N exp(w)`` in that
class's coefficient: P the weights of its own rows, N the other rows' weights for it. It is least at
``w = log(P / N) / 2``. For the other losses this is the majoriser's minimum (METHOD: u(x - 1) bounds
the loss from above), so that the step is safe; they allow twice as long a one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from marginboost import _native

Floats = NDArray[np.float64]

# No coefficient is larger: weights of one leaf then differ by what a float holds.
MOST_STEP = 10.0
# A weight that was rounded to nothing may be half a unit. All of them, grown by a step, must stay
# small beside sums of 2**30 units: else these would have to be kept in coarser units every time.
_MOST_GROWTH = 2.0**28


def most_step(n_rows: int, eta: float) -> float:
    """Return the bound on coefficients that will be multiplied by `eta`."""
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
        Above 0; the larger, the shorter the steps of leaves that hold little.
    factor : float
        1/2 for the exponential loss.
    most : float
        The bound, on either side.
    """
    return _native.leaf_vectors(own, against, pseudo_count, factor, most)
