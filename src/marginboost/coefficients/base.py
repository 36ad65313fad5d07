"""What every solver returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Solvers stop here; half of what users are promised, 1e-8.
TOLERANCE = 5e-9


class Solution(NamedTuple):
    """Coefficients and how good they are.

    Attributes
    ----------
    w : float64 array of k
        The coefficients, >= 0, the smallest 0.
    optimality_error : float
        Largest KKT residual, relative to the part of the loss that w can change.
    iterations : int
        Sweeps or Newton steps taken.
    """

    w: NDArray[np.float64]
    optimality_error: float
    iterations: int
