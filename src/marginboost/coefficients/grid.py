"""Coefficients on a grid, so that scores do not depend on the order of summation.

Sums of multiples of 2**-40 are exact in float64 while they stay below 2**13 = 8,192. So a score is the
same whether it is summed round by round, feature by feature, or leaf by leaf in another program; and the
contributions of the features add up to it, to the bit. The step of the grid, 1e-12, is far below the
accuracy to which the sums over rows determine a coefficient.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["GRID_BITS", "on_grid"]

GRID_BITS = 40

_STEPS, _STEP = 2.0**GRID_BITS, 2.0**-GRID_BITS

Floats = NDArray[np.float64]


def on_grid(w: Floats) -> Floats:
    """Round to multiples of 2**-40."""
    rounded: Floats = np.rint(w * _STEPS) * _STEP  # products with powers of two are exact
    return rounded + 0.0  # no negative zero
